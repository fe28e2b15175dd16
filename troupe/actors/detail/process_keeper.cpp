#include <troupe/actors/detail/keeper.hpp>
#include <troupe/actors/detail/link.hpp>
#include <troupe/actors/detail/watch.hpp>
#include <troupe/actors/detail/worker_main.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/base/log.hpp>
#include <troupe/base/version.hpp>
#include <troupe/runtime/process/detail/output_text.hpp>
#include <troupe/runtime/storage/experiment_path.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

namespace troupe::detail {

namespace {

// From the exit of a process to the end of its link, which brings its last messages, and back.
constexpr Duration drain_deadline = std::chrono::seconds(2);
constexpr uint64_t output_log_limit_bytes = 1024 * limits::mib;

class ProcessKeeper : public caf::event_based_actor {
public:
  ProcessKeeper(caf::actor_config& config, ProcessSpawner& spawner, const KeeperOptions& options,
                StartOrder order, caf::actor controller)
      : caf::event_based_actor(config),
        spawner_(spawner),
        options_(options),
        order_(std::move(order)),
        controller_(std::move(controller)),
        period_(look_after_period(options, order_)),
        watch_({order_.step_timeout, order_.setup_timeout, options.stop_grace}) {}

  caf::behavior make_behavior() override {
    set_default_handler(caf::drop);
    set_down_handler([this](caf::down_msg& down) {
      if (down.source == controller_) {
        stop({{}, true});
      } else {
        link_down();
      }
    });
    monitor(controller_);
    if (!start())
      return {};
    delayed_send(this, period_, look_after_atom_v);
    return {
        [this](WorkerHello& hello) { said_hello(hello); },
        [this](Pong& pong) { answered(pong); },
        [this](RunTrial& order) { run(order); },
        [this](Answer& answer) { forward(answer); },
        [this](StopTrial& stop) { forward(stop); },
        [this](StopWorker& order) { stop(order); },
        [this](ProcessEnded& ended) { process_ended(ended.status); },
        [this](look_after_atom) { look_after(); },
    };
  }

  /// The process holds callbacks that hold this actor.
  void on_exit() override { process_ = Process(); }

private:
  using Order = std::variant<RunTrial, Answer, StopTrial>;

  WorkerId worker() const { return order_.start.worker; }

  bool start() {
    ProcessSpec spec;
    spec.arguments = {worker_argument};
    spec.environment = {{worker_variable, "1"}};
    if (!options_.app_identifiers.empty()) {
      spec.environment.emplace_back(app_identifiers_variable, options_.app_identifiers);
    }
    spec.socket = true;
    ProcessEvents events;
    events.on_exit = [self = caf::actor_cast<caf::actor>(ctrl())](const ExitStatus& status) {
      caf::anon_send(self, ProcessEnded{status});
    };
    Result<Process> process = spawner_.spawn(std::move(spec), std::move(events));
    if (!process) {
      gone(FailureKind::start,
           "no worker process could be started: " + process.error().to_string());
      return false;
    }
    process_ = std::move(*process);
    serve_link(system(), process_.take_socket(), caf::actor_cast<caf::actor>(ctrl()));
    start_deadline_ = watch_.now() + options_.worker_start_timeout;
    return true;
  }

  void said_hello(WorkerHello& hello) {
    if (control_ || ending_)
      return;
    if (hello.protocol != protocol_hash()) {
      kill(FailureKind::start, "the worker speaks another protocol than this process (Troupe " +
                                   hello.version + ", here " + std::string(version_string) +
                                   "): the program was replaced while it ran. Start it again");
      return;
    }
    start_deadline_.reset();
    control_ = std::move(hello.control);
    monitor(control_);
    WorkerSetup setup{worker(), order_.experiment_name, order_.start.resources.cpus,
                      order_.start.resources.memory_bytes};
    send(control_, WorkerWelcome{std::move(setup), controller_});
    send(controller_, WorkerStarted{worker(), hello.pid, options_.host});
    for (Order& order : std::exchange(waiting_, {})) {
      std::visit([this](auto& each) { forward(each); }, order);
    }
  }

  template <class Body>
  void forward(Body& order) {
    if (ending_)
      return;
    if (!control_) {
      waiting_.push_back(std::move(order));
      return;
    }
    if constexpr (std::is_same_v<Body, RunTrial>)
      prepare(order);
    if constexpr (std::is_same_v<Body, StopTrial>)
      watch_.trial_stopped(order.key);
    send(control_, std::move(order));
  }

  void run(RunTrial& order) {
    if (const Status within = check_limits(order.config); !within) {
      send(controller_, TrialFailed{.worker = worker(),
                                    .key = order.key,
                                    .message = "the configuration cannot be sent to a worker: " +
                                               within.error().to_string(),
                                    .permanent = true});
      return;
    }
    forward(order);
  }

  void prepare(const RunTrial& order) {
    // From here on the output is the trial's.
    if (const Status set = open_log(order); !set) {
      log::warning("the output of a trial is not written to its folder",
                   {{"trial", order.key}, {"error", set.error()}});
      // Not into the log of the trial before, either.
      static_cast<void>(process_.set_log_file({}, output_log_limit_bytes));
    }
  }

  Status open_log(const RunTrial& order) {
    if (!order_.log_to_file)
      return process_.set_log_file({}, output_log_limit_bytes);
    // The worker and the result files make the folder, too, but perhaps later.
    TROUPE_RETURN_IF_ERROR(make_trial_folder(order.trial_dir));
    const auto path = std::filesystem::path(order.trial_dir) / "output.log";
    return process_.set_log_file(path, output_log_limit_bytes);
  }

  void answered(const Pong& pong) {
    last_answer_ = std::max(last_answer_, pong.number);
    if (ending_)
      return;
    Watch::Verdict verdict = watch_.look(pong.progress);
    if (verdict.warning)
      warn_of_long_call(worker(), pong.progress, *verdict.warning);
    if (verdict.cancel)
      send(control_, std::move(*verdict.cancel));
    if (!verdict.expired)
      return;
    if (pong.progress.activity == UserActivity::unwind)  // its trial does not fail by it
      log::warning("a worker is killed", {{"worker", worker()}, {"why", *verdict.expired}});
    kill(verdict.kind, std::move(*verdict.expired));
  }

  void look_after() {
    watch_.tick(period_);
    delayed_send(this, period_, look_after_atom_v);
    if (exited_) {
      if (watch_.now() >= *drained_by_)
        finish();
      return;
    }
    if (kill_at_ && watch_.now() >= *kill_at_) {
      if (expected_)
        log::warning(
            "a worker did not end when it was told to, and is killed: does cleanup take "
            "longer than RuntimeOptions.stop_grace?",
            {{"worker", worker()}, {"after", to_text(options_.stop_grace)}});
      process_.kill();
      kill_at_.reset();
    }
    if (ending_)
      return;
    if (start_deadline_ && watch_.now() >= *start_deadline_) {
      kill(FailureKind::start,
           "the worker process did not say hello within " + to_text(options_.worker_start_timeout) +
               ": does main call troupe::run or troupe::run_worker_if_asked, first thing?");
      return;
    }
    if (!control_)
      return;
    if (period_ * static_cast<int64_t>(last_ping_ - last_answer_) >= options_.unresponsive_after) {
      // A stopped process may be user code's doing, or that of anybody else on this machine.
      kill(FailureKind::infrastructure,
           process_.stopped()
               ? ""
               : "the worker did not answer for " + to_text(options_.unresponsive_after));
      return;
    }
    send(control_, Ping{++last_ping_});
  }

  void stop(const StopWorker& order) {
    if (exited_)
      return;
    if (order.at_once || !control_) {
      expected_ = true;
      ending_ = true;
      process_.kill();
    } else if (!ending_) {
      expected_ = true;
      ending_ = true;
      send(control_, StopWorker{worker(), false});
      kill_at_ = watch_.now() + options_.stop_grace;
    }
  }

  /// Kills the worker; `why` takes the place of how it died when it is not empty.
  void kill(FailureKind kind, std::string why) {
    ending_ = true;
    kind_ = kind;
    why_ = std::move(why);
    process_.kill();
  }

  void link_down() {
    link_down_ = true;
    if (exited_) {
      finish();
    } else if (!ending_) {
      // Usually it is dying. If not, user code closed what is not its own.
      ending_ = true;
      kill_at_ = watch_.now() + drain_deadline;
      kind_ = FailureKind::user;
      lost_link_ = true;
    }
  }

  void process_ended(const ExitStatus& status) {
    exited_ = status;
    drained_by_ = watch_.now() + drain_deadline;
    // What a worker that was told to end still had to say is of no interest any more.
    if (link_down_ || expected_ || !control_)
      finish();
  }

  void finish() {
    const std::string tail = process_.output_tail();
    const std::string how = describe_exit(*exited_, tail);
    if (expected_) {
      if (exited_->exit_code == exit_cleanup_failed)
        log::warning("cleanup of a trainable failed; no result is harmed by it",
                     {{"worker", worker()}, {"last_output", tail}});
      gone(FailureKind::user,
           exited_->success() || exited_->requested || exited_->exit_code == exit_cleanup_failed
               ? "ended as told"
               : how);
    } else if (kind_ && !why_.empty()) {
      gone(*kind_, with_tail(why_, tail));
    } else if (exited_->stopped_by != 0 && exited_->requested) {
      gone(
          FailureKind::infrastructure,
          with_tail(describe_exit(*exited_) + " within " + to_text(options_.unresponsive_after) +
                        ", so it was killed (by its own code or from outside: nothing tells which)",
                    tail));
    } else if (!control_) {
      // Killed from outside it may do better the next time; a program that ends by itself will not.
      const bool outside = exited_->killed_from_outside() || exited_->unknown;
      gone(outside ? FailureKind::infrastructure : FailureKind::start,
           "the worker process ended before it said hello (it starts this program again: main() "
           "must call troupe::run, or run_worker_if_asked, before it looks at its arguments): " +
               how);
    } else if (lost_link_ && exited_->requested) {
      gone(FailureKind::user,
           with_tail("the worker lost its link to Troupe: did user code close file descriptors "
                     "that it did not open?",
                     tail));
    } else {
      const bool outside = exited_->killed_from_outside() || exited_->unknown;
      gone(outside ? FailureKind::infrastructure : FailureKind::user, how);
    }
  }

  static std::string with_tail(std::string text, std::string_view tail) {
    const std::string lines = indent_last_lines(tail, limits::max_error_message_bytes / 2);
    return lines.empty() ? text : text + "; last output:\n" + lines;
  }

  void gone(FailureKind kind, std::string message) {
    if (reported_)
      return;
    reported_ = true;
    send(controller_, WorkerExited{worker(), kind, std::move(message)});
    quit();
  }

  ProcessSpawner& spawner_;
  const KeeperOptions options_;
  const StartOrder order_;
  const caf::actor controller_;
  const Duration period_;
  Watch watch_;
  Process process_;
  caf::actor control_;          ///< none: it did not say hello yet
  std::vector<Order> waiting_;  ///< for the hello
  uint64_t last_ping_ = 0;
  uint64_t last_answer_ = 0;
  std::optional<Duration> start_deadline_;
  std::optional<Duration> kill_at_;
  std::optional<Duration> drained_by_;
  std::optional<ExitStatus> exited_;
  std::optional<FailureKind> kind_;
  std::string why_;
  bool expected_ = false;  ///< it was told to end
  bool ending_ = false;    ///< nothing more is asked of it
  bool link_down_ = false;
  bool lost_link_ = false;
  bool reported_ = false;
};

}  // namespace

caf::actor spawn_process_keeper(caf::actor_system& system, ProcessSpawner& spawner,
                                const KeeperOptions& options, StartOrder order,
                                caf::actor controller) {
  return system.spawn<ProcessKeeper>(std::ref(spawner), options, std::move(order),
                                     std::move(controller));
}

Duration look_after_period(const KeeperOptions& options, const StartOrder& order) {
  Duration period = std::chrono::seconds(1);
  period = std::min(period, options.unresponsive_after / 4);
  period = std::min(period, options.stop_grace / 2);
  for (const Duration timeout : {order.step_timeout, order.setup_timeout})
    if (timeout > Duration::zero())
      period = std::min(period, timeout / 4);
  return std::max<Duration>(period, std::chrono::milliseconds(10));
}

}  // namespace troupe::detail
