#include <troupe/actors/detail/trial.hpp>
#include <troupe/base/error.hpp>
#include <troupe/runtime/storage/checkpoint_store.hpp>
#include <troupe/serialization/metrics_size.hpp>

#include <array>
#include <climits>
#include <cmath>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace troupe::detail {

namespace {

/// Of this machine, as `gethostname` has it.
const std::string& host_name() {
  static const std::string name = [] {
    std::array<char, HOST_NAME_MAX + 1> buffer{};
    return std::string(::gethostname(buffer.data(), HOST_NAME_MAX) == 0 ? buffer.data() : "");
  }();
  return name;
}

/// A metric that means something to Troupe. Absent: false.
Result<bool> flag(const Metrics& metrics, std::string_view key) {
  const Value* value = metrics.find_key(key);
  if (value == nullptr)
    return false;
  if (value->is_number())
    return value->as_double() != 0;
  if (!value->is_bool())
    return Error(ErrorCode::invalid_argument,
                 "the metric '" + std::string(key) + "' must be true or false, but a " +
                     std::string(value->type_name()) + " was reported");
  return value->as_bool();
}

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

Trial::Trial(UserMailbox& mailbox, const WorkerSetup& setup, RunTrial order)
    : mailbox_(mailbox), worker_(setup.worker), order_(std::move(order)) {
  context_.experiment_name = setup.experiment_name;
  context_.trial_name = order_.trial_name;
  context_.trial_id = order_.key.trial;
  context_.attempt = order_.key.attempt;
  context_.trial_dir = order_.trial_dir;
  context_.cpus = setup.cpus;
}

void Trial::restored(const CheckpointRef& ref) {
  context_.iteration = restored_iteration_ = ref.iteration;
  time_total_s_ = restored_time_s_ = ref.time_total_s;
  checkpoint_number_ = ref.number;
  checkpoint_ = Checkpoint::from_directory(context_.trial_dir / ref.directory);
}

void Trial::send_started(std::vector<uint32_t> damaged, std::string note) {
  mailbox_.send(TrialStarted{worker_, order_.key, iteration(), checkpoint_number_,
                             std::move(damaged), std::move(note)});
}

void Trial::send_saved(CheckpointRef ref) {
  mailbox_.send(CheckpointSaved{worker_, order_.key, std::move(ref)});
}

void Trial::send_ended(bool returned) {
  mailbox_.send(TrialEnded{worker_, order_.key, returned, true});
}

Status Trial::complete(Metrics& metrics, Duration took) const {
  double this_iter_s = seconds(took);
  if (const Value* given = metrics.find_key("time_this_iter_s"); given && given->is_number()) {
    if (std::isfinite(given->as_double()))
      this_iter_s = given->as_double();
  } else {
    metrics["time_this_iter_s"] = this_iter_s;
  }
  metrics["time_total_s"] = time_total_s_ + this_iter_s;
  metrics["training_iteration"] = context_.iteration + 1;
  const auto set_default = [&metrics](std::string_view key, auto&& value) {
    if (!metrics.find_key(key))
      metrics[key] = value;
  };
  set_default("timestamp", mailbox_.clock().wall_ms() / 1000);
  set_default("time_since_restore", time_total_s_ + this_iter_s - restored_time_s_);
  set_default("iterations_since_restore", context_.iteration + 1 - restored_iteration_);
  set_default("pid", static_cast<int64_t>(::getpid()));
  set_default("hostname", host_name());
  for (const std::string_view key : {"done", "should_checkpoint"})
    if (const auto understood = flag(metrics, key); !understood)
      return understood.error();
  return check_metrics(metrics);
}

Result<std::optional<Answer>> Trial::send_report(Metrics metrics, Duration took,
                                                 std::optional<CheckpointRef> checkpoint) {
  TROUPE_RETURN_IF_ERROR(complete(metrics, took));
  const uint64_t iteration = context_.iteration + 1;
  const double time_total_s = metrics.at("time_total_s").as_double();

  TROUPE_TRY(done, flag(metrics, "done"));
  TROUPE_TRY(wants_checkpoint, flag(metrics, "should_checkpoint"));
  context_.iteration = iteration;
  time_total_s_ = time_total_s;
  ++message_;
  mailbox_.enter(UserActivity::waiting, iteration);
  mailbox_.send(Reported{worker_, order_.key, message_, iteration, std::move(metrics), done,
                         wants_checkpoint, std::move(checkpoint)});
  return mailbox_.wait_answer(order_.key, message_);
}

void Trial::report(Metrics, const Checkpoint*) {
  throw Exception(ErrorCode::failed_precondition,
                  "troupe::report is for function trainables: a class returns its metrics from "
                  "step(), and asks for a checkpoint with {\"should_checkpoint\", true}");
}

FunctionTrial::FunctionTrial(UserMailbox& mailbox, const WorkerSetup& setup, RunTrial order)
    : Trial(mailbox, setup, std::move(order)), next_checkpoint_(this->order().next_checkpoint) {}

void FunctionTrial::begin() {
  since_ = mailbox().clock().now();
  mailbox().enter(UserActivity::step, iteration() + 1);
}

bool FunctionTrial::stopped() {
  if (!stopped_ && mailbox().take_stop(order().key))
    stopped_ = true;
  return stopped_;
}

std::optional<TrialFailure> FunctionTrial::take_failure() {
  if (!cancelled_)
    cancelled_ = mailbox().take_cancelled();
  if (!cancelled_)
    return std::nullopt;
  return TrialFailure{std::move(*cancelled_)};
}

void FunctionTrial::unwind() {
  stopped_ = true;
  throw TrialStopped{};
}

void FunctionTrial::report(Metrics metrics, const Checkpoint* checkpoint) {
  const Duration took = mailbox().clock().now() - since_;
  if (!cancelled_)
    cancelled_ = mailbox().take_cancelled();
  if (cancelled_ || stopped())
    unwind();
  std::optional<CheckpointRef> saved;
  // A checkpoint of a result that cannot be sent would be nobody's.
  const Status sendable = complete(metrics, took);
  unsendable_ = !sendable;
  sendable.value_or_throw();
  if (checkpoint) {
    mailbox().enter(UserActivity::save, iteration() + 1);
    Result<CheckpointRef> copied =
        copy_checkpoint(order().trial_dir, next_checkpoint_, iteration() + 1,
                        time_total_s() + seconds(took), checkpoint->directory());
    mailbox().enter(UserActivity::step, iteration() + 1);
    if (!copied) {
      storage_full_ = copied.error().code() == ErrorCode::resource_exhausted;
      throw Exception(std::move(copied).error().with_context("report"));
    }
    cancelled_ = mailbox().take_cancelled();  // while it was copied
    if (cancelled_)
      unwind();
    ++next_checkpoint_;
    saved = std::move(copied).value();
  }
  const std::optional<Answer> answer =
      send_report(std::move(metrics), took, std::move(saved)).value_or_throw();
  if (!answer || answer->verdict != Verdict::go_on) {
    mailbox().enter(UserActivity::unwind, iteration());
    unwind();
  }
  begin();
}

}  // namespace troupe::detail
