#include <troupe/base/limits.hpp>
#include <troupe/runtime/resources/resource_ledger.hpp>
#include <troupe/tune/config.hpp>
#include <troupe/tune/search/detail/given.hpp>

#include <cmath>

namespace troupe::tune {
namespace {

Error wrong(const std::string& field, const std::string& what) {
  return Error(ErrorCode::invalid_argument, field + ": " + what);
}

std::string is(std::int64_t value) {
  return "it is " + std::to_string(value) + ", but ";
}

Status check(const FailureConfig& config) {
  if (config.max_failures < -1)
    return wrong("FailureConfig.max_failures",
                 is(config.max_failures) + "must be -1 (any number), 0 (none) or more");
  if (config.max_infrastructure_failures < -1)
    return wrong("FailureConfig.max_infrastructure_failures",
                 is(config.max_infrastructure_failures) + "must be -1 (any number), 0 or more");
  if (config.fail_fast && config.max_failures != 0)
    return wrong("FailureConfig.fail_fast", "it stops at the first failure, but max_failures is " +
                                                std::to_string(config.max_failures) +
                                                "; leave one of them out");
  const std::string not_positive = "it must be longer than zero; leave it out for no limit";
  if (config.step_timeout && config.step_timeout->count() <= 0)
    return wrong("FailureConfig.step_timeout", not_positive);
  if (config.setup_timeout && config.setup_timeout->count() <= 0)
    return wrong("FailureConfig.setup_timeout", not_positive);
  return ok();
}

Status check(const CheckpointConfig& config, bool is_function, bool saves_checkpoints) {
  if (config.num_to_keep == 0U)
    return wrong("CheckpointConfig.num_to_keep",
                 "it is 0, but the newest checkpoint is always kept; give 1 or more, or leave it "
                 "out to keep all");
  if (config.checkpoint_frequency < 0)
    return wrong("CheckpointConfig.checkpoint_frequency",
                 is(config.checkpoint_frequency) + "must be 0 (never) or a number of iterations");
  if (config.checkpoint_score_order > enum_last(config.checkpoint_score_order))
    return wrong("CheckpointConfig.checkpoint_score_order", "it must be Mode::min or Mode::max");
  if (is_function && config.checkpoint_frequency > 0)
    return wrong("CheckpointConfig.checkpoint_frequency",
                 "a function trainable saves by itself: pass a checkpoint to report() and leave "
                 "this out");
  if (is_function && config.checkpoint_at_end.value_or(false))
    return wrong("CheckpointConfig.checkpoint_at_end",
                 "a function trainable saves by itself: pass a checkpoint to its last report() "
                 "and leave this out");
  const std::string cannot =
      "the trainable cannot save: override save_checkpoint and load_checkpoint, or leave this out";
  if (!saves_checkpoints && config.checkpoint_frequency > 0)
    return wrong("CheckpointConfig.checkpoint_frequency", cannot);
  if (!saves_checkpoints && config.checkpoint_at_end.value_or(false))
    return wrong("CheckpointConfig.checkpoint_at_end", cannot);
  return ok();
}

Status check_resources(const ResourceRequest& request) {
  if (const Status countable = ResourceLedger::check(request); !countable)
    return wrong("RunConfig.resources_per_trial.cpus", countable.error().message());
  if (request.memory_bytes > 0 && request.memory_bytes < least_worker_memory)
    return wrong("RunConfig.resources_per_trial.memory_bytes",
                 "it is " + format_bytes(request.memory_bytes) + ", but a worker needs " +
                     format_bytes(least_worker_memory) +
                     " to start; give that or more, or leave it out for no limit");
  return ok();
}

}  // namespace

Status check(const TuneConfig& config) {
  if (config.metric.size() > limits::max_key_bytes)
    return wrong("TuneConfig.metric", "the name is too long");
  if (config.mode > enum_last(config.mode))
    return wrong("TuneConfig.mode", "it must be Mode::min or Mode::max");
  if (config.metric.empty() && !config.more_objectives.empty())
    return wrong("TuneConfig.more_objectives", "set TuneConfig.metric, the first objective, too");
  std::vector<Objective> objectives = config.more_objectives;
  if (!config.metric.empty())
    objectives.insert(objectives.begin(), {config.metric, config.mode});
  TROUPE_RETURN_IF_ERROR(detail::check_objectives(objectives, "TuneConfig.more_objectives"));
  TROUPE_RETURN_IF_ERROR(detail::check_constraints(config.constraints, "TuneConfig.constraints"));
  if (config.num_samples && (*config.num_samples == 0 || *config.num_samples < -1))
    return wrong("TuneConfig.num_samples",
                 is(*config.num_samples) + "must be 1 or more, or -1 for no end");
  if (config.max_concurrent_trials == 0U)
    return wrong("TuneConfig.max_concurrent_trials",
                 "it is 0, so no trial could ever run; leave it out for no limit");
  if (config.time_budget && config.time_budget->count() <= 0)
    return wrong("TuneConfig.time_budget",
                 "it must be longer than zero; leave it out for no limit");
  return ok();
}

Status check(const RunConfig& config, bool is_function, bool saves_checkpoints) {
  TROUPE_RETURN_IF_ERROR(config.stop.check());
  TROUPE_RETURN_IF_ERROR(check(config.failure_config));
  TROUPE_RETURN_IF_ERROR(check(config.checkpoint_config, is_function, saves_checkpoints));
  TROUPE_RETURN_IF_ERROR(check_resources(config.resources_per_trial));
  if (config.resources_per_trial.memory_bytes > 0 && config.isolation == Isolation::thread)
    return wrong("RunConfig.resources_per_trial.memory_bytes",
                 "a limit needs a process of its own; use Isolation::process or leave it out");
  if (config.log_to_file && config.isolation == Isolation::thread)
    return wrong("RunConfig.log_to_file",
                 "threads share the output of the program; use Isolation::process or leave it "
                 "out");
  if (config.stop_patience && config.stop_patience->count() < 0)
    return wrong("RunConfig.stop_patience",
                 "it must be zero or longer; leave it out for the usual");
  if (config.verbose < 0 || config.verbose > 2)
    return wrong("RunConfig.verbose", is(config.verbose) + "must be 0, 1 or 2");
  return ok();
}

}  // namespace troupe::tune
