#include <troupe/actors/detail/controller_actor.hpp>
#include <troupe/actors/detail/controller_metrics.hpp>
#include <troupe/actors/detail/exception_text.hpp>
#include <troupe/actors/detail/messages.hpp>
#include <troupe/actors/detail/user_thread.hpp>
#include <troupe/base/log.hpp>
#include <troupe/runtime/storage/checkpoint_store.hpp>
#include <troupe/runtime/store/store_writer.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

namespace troupe::detail {

namespace {

constexpr Duration agent_deadline = std::chrono::seconds(60);
constexpr Duration store_stop_deadline = std::chrono::seconds(30);

class ControllerActor : public caf::event_based_actor, private ControllerCore::Sink {
public:
  ControllerActor(caf::actor_config& config, ControllerParts parts)
      : caf::event_based_actor(config),
        parts_(std::move(parts)),
        core_(parts_.loop, *this, parts_.journal.watermarks().accepted) {}

  caf::behavior make_behavior() override {
    set_default_handler(caf::drop);
    set_down_handler([this](caf::down_msg& down) { keeper_down(down.source); });
    make_writer();
    core_.start(real_clock().now(), real_clock().wall_ms());
    settle();
    return {
        [this](Reported& event) { handle(std::move(event)); },
        [this](TrialStarted& event) { handle(std::move(event)); },
        [this](TrialEnded& event) { handle(std::move(event)); },
        [this](CheckpointSaved& event) { handle(std::move(event)); },
        [this](store_news_atom) { store_news(); },
        [this](TrialFailed& event) { handle(std::move(event)); },
        [this](ResetRefused& event) { handle(std::move(event)); },
        [this](WorkerStarted& event) { handle(std::move(event)); },
        [this](WorkerExited& event) {
          routes_.erase(event.worker);
          handle(std::move(event));
        },
        [this](StopRequested& event) { handle(std::move(event)); },
        [this](tick_due_atom, uint64_t number) { tick_due(number); },
        [this](StoreFailed& failed) {
          core_.store_failed(std::move(failed.error));
          settle();
        },
        [this](Computed& event) { handle(std::move(event)); },
        [this](thread_abandoned_atom) { core_.thread_abandoned(); },
        [this](give_up_atom) {
          core_.fail(Error(ErrorCode::cancelled, "the controller was destroyed before its end"),
                     true);
          settle();
        },
    };
  }

  /// Also after a defect: whoever waits must not wait for ever.
  void on_exit() override {
    computer_.reset();
    if (!done_) {
      writer_.reset();  // it uses the journal, which may be gone once the end is announced
      announce(Error(ErrorCode::internal, "the controller actor ended before its experiment"));
    }
  }

private:
  /// The worker's keeper, or the commands that wait for it.
  struct Destination {
    caf::actor keeper;
    std::shared_ptr<UserThread> thread;
    std::vector<Command> waiting;
  };

  void make_writer() {
    auto self = caf::actor_cast<caf::actor>(ctrl());
    // One message however many announcements come before it is looked at.
    auto news = [this, self](Sequence) {
      if (!news_pending_.exchange(true))
        caf::anon_send(self, store_news_atom_v);
    };
    StoreWriterOptions options;
    options.durability = parts_.options.durability;
    writer_ = std::make_unique<StoreWriter>(
        parts_.journal, options, StoreWriterCallbacks{news, news, [self](const Error& error) {
                                                        caf::anon_send(self, StoreFailed{error});
                                                      }});
  }

  template <class Body>
  void handle(Body body) {
    core_.handle({real_clock().now(), real_clock().wall_ms(), std::move(body)});
    settle();
  }

  void store_news() {
    news_pending_.store(false);
    if (!writer_)
      return;
    core_.on_accepted(writer_->accepted());
    core_.on_durable(writer_->durable());
    tell_progress();
    settle();
  }

  void tell_progress() {
    if (!parts_.on_progress)
      return;
    try {
      parts_.on_progress(parts_.journal.watermarks());
    } catch (...) {
      log::error("telling about progress failed", {{"what", current_exception_text()}});
    }
  }

  void tick_due(uint64_t number) {
    if (number != armed_number_)
      return;
    armed_for_.reset();
    const auto deadline = core_.next_deadline();
    const TimePoint now = real_clock().now();
    if (deadline && *deadline <= now)
      core_.handle({now, real_clock().wall_ms(), Tick{}});
    settle();
  }

  /// After anything happened.
  void settle() {
    if (done_)
      return;
    metrics_.update(core_.counters());
    {
      const std::lock_guard lock(parts_.outcome->mutex);
      parts_.outcome->counters = core_.counters();
    }
    if (core_.finished()) {
      finish();
      return;
    }
    const auto deadline = core_.next_deadline();
    if (!deadline || (armed_for_ && *armed_for_ <= *deadline))
      return;
    armed_for_ = deadline;
    // Not longer than CAF's clock can count.
    const Duration wait = std::clamp<Duration>(*deadline - real_clock().now(), Duration::zero(),
                                               std::chrono::hours(1));
    delayed_send(this, wait, tick_due_atom_v, ++armed_number_);
  }

  void finish() {
    done_ = true;
    computer_.reset();
    Status result = ok();
    if (Status stopped = writer_->stop(store_stop_deadline); !stopped) {
      result = std::move(stopped).error();
    }
    if (core_.error())
      result = *core_.error();
    writer_.reset();
    parts_.agent = nullptr;
    tell_progress();
    parts_.on_progress = nullptr;
    announce(std::move(result));
    quit();
  }

  void announce(Status result) {
    {
      const std::lock_guard lock(parts_.outcome->mutex);
      parts_.outcome->result = std::move(result);
    }
    parts_.outcome->changed.notify_all();
  }

  // -- ControllerCore::Sink
  bool has_room() const override { return writer_->has_room(); }

  Result<Sequence> submit(std::vector<WriteSet> writes) override {
    return writer_->submit(std::move(writes));
  }

  void execute(Command command) override {
    if (auto* start = std::get_if<StartWorker>(&command)) {
      start_worker(std::move(*start));
    } else if (auto* remove = std::get_if<DeleteCheckpoint>(&command)) {
      remove_beside(std::move(*remove));
    } else if (auto* compute = std::get_if<Compute>(&command)) {
      compute_beside(std::move(*compute));
    } else {
      send_to_worker(std::move(command));
    }
  }

  void compute_beside(Compute order) {
    if (!computer_)
      computer_.emplace("troupe-search");
    computer_->post(
        [computation = order.computation, &seconds = metrics_.suggestion_seconds()] {
          const HistogramTimer timer(seconds);
          computation->run();
        },
        [computation = order.computation, self = caf::actor_cast<caf::actor>(ctrl())] {
          caf::anon_send(self, Computed{computation});
        });
  }

  /// A removal that the end of the process cuts off is repeated by a restore.
  void remove_beside(DeleteCheckpoint order) {
    const auto removed = std::make_shared<Status>(ok());
    const TrialId trial = order.trial;
    parts_.remover.post(
        [order = std::move(order), removed] {
          *removed = delete_checkpoint(order.trial_dir, order.checkpoint);
        },
        [trial, removed] {
          if (!*removed)
            log::warning("a checkpoint that is not kept could not be removed",
                         {{"trial", trial}, {"error", removed->error()}});
        });
  }

  void start_worker(StartWorker start) {
    const WorkerId worker = start.worker;
    routes_.emplace(worker, Destination{});
    StartOrder order{std::move(start), parts_.options.experiment_name, parts_.options.step_timeout,
                     parts_.options.setup_timeout, parts_.options.log_to_file};
    request(parts_.agent, caf::timespan{agent_deadline}, std::move(order))
        .then([this, worker](Route& route) { route_known(worker, route); },
              [this, worker](caf::error&) {
                handle(WorkerExited{worker, FailureKind::infrastructure,
                                    "the node agent did not start a worker within 60 s"});
              });
  }

  void route_known(WorkerId worker, Route& route) {
    const auto found = routes_.find(worker);
    if (found == routes_.end())
      return;
    monitor(route.keeper);
    found->second.keeper = std::move(route.keeper);
    found->second.thread = std::move(route.thread);
    for (Command& command : std::exchange(found->second.waiting, {})) {
      send_to_worker(std::move(command));
    }
  }

  /// A keeper that ended without its last word has a defect.
  void keeper_down(const caf::actor_addr& keeper) {
    const auto lost = std::find_if(routes_.begin(), routes_.end(), [&keeper](const auto& entry) {
      return entry.second.keeper == keeper;
    });
    if (lost == routes_.end())
      return;
    const WorkerId worker = lost->first;
    routes_.erase(lost);
    handle(WorkerExited{worker, FailureKind::infrastructure, "the keeper of the worker failed"});
  }

  void send_to_worker(Command command) {
    std::visit(
        [this, &command](auto& order) {
          using Order = std::decay_t<decltype(order)>;
          if constexpr (!std::is_same_v<Order, StartWorker> &&
                        !std::is_same_v<Order, DeleteCheckpoint> &&
                        !std::is_same_v<Order, Compute>) {
            const auto found = routes_.find(order.worker);
            if (found == routes_.end())
              return;  // gone meanwhile; the loop hears of it
            Destination& to = found->second;
            constexpr bool straight =
                std::is_same_v<Order, RunTrial> || std::is_same_v<Order, Answer>;
            if (!to.keeper) {
              to.waiting.push_back(std::move(command));
            } else if constexpr (straight) {
              if (to.thread) {
                to.thread->mailbox().post(std::move(order));
              } else {
                send(to.keeper, std::move(order));
              }
            } else {
              send(to.keeper, std::move(order));
            }
          }
        },
        command);
  }

  ControllerParts parts_;
  std::unique_ptr<StoreWriter> writer_;
  std::optional<SideThread> computer_;  ///< made with the first computation
  ControllerCore core_;
  ControllerMetrics metrics_;
  std::unordered_map<WorkerId, Destination> routes_;
  std::atomic<bool> news_pending_{false};
  std::optional<TimePoint> armed_for_;
  uint64_t armed_number_ = 0;
  bool done_ = false;
};

}  // namespace

caf::actor spawn_controller(caf::actor_system& system, ControllerParts parts) {
  return system.spawn<ControllerActor>(std::move(parts));
}

}  // namespace troupe::detail
