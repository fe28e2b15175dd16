#include <troupe/tune/detail/judge.hpp>
#include <troupe/tune/detail/naming.hpp>
#include <troupe/tune/detail/retention.hpp>
#include <troupe/tune/detail/suggesting.hpp>

#include <string>
#include <variant>

namespace troupe::tune::detail {
namespace {

Judgement of(Judgement::Kind kind) {
  return Judgement{.kind = kind};
}

Judgement stale() {
  return of(Judgement::Kind::stale);
}

Judgement about(const Trial& trial) {
  Judgement judgement = of(Judgement::Kind::decided);
  judgement.decision.trial = trial.row.id;
  return judgement;
}

bool is_new_result(const Trial& trial, const Reported& event) {
  return trial.phase == Phase::running && event.iteration > trial.row.iteration;
}

}  // namespace

Judgement Judge::operator()(const RecordedBody& body) const {
  Judgement judgement = std::visit([this](const auto& event) { return judge(event); }, body);
  Decision& decision = judgement.decision;
  if (decision.outcome == Outcome::error && parts_.setting.spec.fail_fast && !parts_.state.drain)
    decision.actions.push_back(
        Drain{ExperimentState::failed,
              "fail_fast: trial " + to_string(*decision.trial) + " failed: " + decision.reason});
  return judgement;
}

const Trial* Judge::find(WorkerId worker, const TrialKey& key) const {
  const Trial* trial = parts_.state.trials.find(key.trial);
  const bool current = trial != nullptr && trial->row.state == TrialState::running &&
                       trial->row.attempt == key.attempt && trial->worker == worker;
  return current ? trial : nullptr;
}

const Trial* Judge::trial_of(WorkerId worker) const {
  const WorkerPool::Worker* found = parts_.state.workers.find(worker);
  return found != nullptr && found->trial ? parts_.state.trials.find(*found->trial) : nullptr;
}

std::optional<TrialId> Judge::waits_for_turn(const RecordedBody& body) const {
  const Trial* trial = nullptr;
  if (const auto* report = std::get_if<Reported>(&body)) {
    trial = find(report->worker, report->key);
    if (trial != nullptr && !is_new_result(*trial, *report))
      trial = nullptr;
  } else if (const auto* ended = std::get_if<TrialEnded>(&body)) {
    trial = find(ended->worker, ended->key);
  } else if (const auto* failed = std::get_if<TrialFailed>(&body)) {
    trial = find(failed->worker, failed->key);
  } else if (const auto* exited = std::get_if<WorkerExited>(&body)) {
    trial = trial_of(exited->worker);
    if (trial != nullptr && exited->kind != FailureKind::user && trial->phase == Phase::running)
      trial = nullptr;
  }
  if (trial == nullptr || parts_.state.drain)
    return std::nullopt;
  return trial->row.id;
}

namespace {

/// Decides to try the configuration of a trial once more, as trial `id`.
void repeat_trial(const LoopSetting& setting, TrialId id, const TrialRow& row,
                  std::vector<Action>& actions) {
  CreateTrial create = create_trial(setting, id, row.config, {});
  create.repeats = row.id;
  actions.push_back(std::move(create));
}

}  // namespace

Judgement Judge::judge(const RunBegan& event) const {
  Judgement judgement = of(Judgement::Kind::decided);
  if (!event.restored || event.resume.unfinished == Resume::resume)
    return judgement;
  const bool restart = event.resume.unfinished == Resume::restart;
  std::vector<Action>& actions = judgement.decision.actions;
  TrialId next = parts_.state.next_trial;
  for (const auto& [id, trial] : parts_.state.trials.all()) {
    // One that had its last result is not unfinished; one that failed was just taken up again.
    const bool stopping = trial.row.state == TrialState::running && trial.phase == Phase::stopping;
    if (stopping || trial.revived)
      continue;
    if (restart) {
      repeat_trial(parts_.setting, next, trial.row, actions);
      next = next.next();
    }
    actions.push_back(EndTrial{id, restart ? "restarted as a new trial" : "not resumed"});
  }
  return judgement;
}

Judgement Judge::judge(const ErroredTaken& event) const {
  Judgement judgement = of(Judgement::Kind::decided);
  if (event.how != Resume::restart)
    return judgement;
  TrialId next = parts_.state.next_trial;
  for (const TrialRow& row : event.rows) {
    repeat_trial(parts_.setting, next, row, judgement.decision.actions);
    next = next.next();
  }
  return judgement;
}

Judgement Judge::judge(const Suggested& event) const {
  const LoopState& state = parts_.state;
  if (state.search_over || state.drain || state.over_budget || event.trial != state.next_trial)
    return stale();
  Result<Suggestion> answer = Suggestion{event.kind, event.config, event.note};
  if (!event.error.empty())
    answer = Error(ErrorCode::user_code, event.error);
  std::optional<Action> action = what_was_suggested(parts_, event.trial, std::move(answer));
  // Nothing now: asked again when something has happened. Nothing runs: nothing ever will.
  if (!action && state.trials.running() == 0 && state.trials.pending().empty())
    action = nothing_suggested(parts_);
  if (!action)
    return of(Judgement::Kind::ignored);
  Judgement judgement = of(Judgement::Kind::decided);
  judgement.decision.actions.push_back(std::move(*action));
  return judgement;
}

Judgement Judge::judge(const RowsRestored&) const {
  return of(Judgement::Kind::decided);
}

Judgement Judge::judge(const WorkerStarted&) const {
  return of(parts_.state.failed_starts == 0 ? Judgement::Kind::ignored : Judgement::Kind::decided);
}

Judgement Judge::judge(const TrialStarted& event) const {
  const Trial* trial = find(event.worker, event.key);
  if (trial == nullptr)
    return stale();
  return event.damaged.empty() ? of(Judgement::Kind::ignored) : about(*trial);
}

Judgement Judge::judge(const ResetRefused& event) const {
  const Trial* trial = find(event.worker, event.key);
  if (trial == nullptr)
    return stale();
  Judgement judgement = about(*trial);
  if (!foreseen_end(*trial, judgement.decision))
    judgement.decision.outcome = Outcome::restarted;
  return judgement;
}

Judgement Judge::judge(const CheckpointSaved& event) const {
  const Trial* trial = find(event.worker, event.key);
  if (trial == nullptr)
    return stale();
  Judgement judgement = about(*trial);
  const bool awaited = trial->saving && trial->saving->number == event.checkpoint.number;
  take_checkpoint(*trial, event.checkpoint,
                  awaited ? trial->saving->score : std::optional<double>(), judgement.decision);
  return judgement;
}

void Judge::take_checkpoint(const Trial& trial, const CheckpointRef& ref,
                            std::optional<double> score, Decision& decision) const {
  for (const CheckpointRow& known : trial.checkpoints)
    if (known.ref.number == ref.number)
      return;
  // Taken beyond the last accepted result: going on from it would skip one.
  const std::uint64_t accepted = trial.row.iteration + (decision.accepted ? 1 : 0);
  decision.commit = ref.iteration <= accepted;
  if (!decision.commit) {
    decision.deleted = {ref.number};
    return;
  }
  std::vector<CheckpointRow> checkpoints = trial.checkpoints;
  checkpoints.push_back({.ref = ref, .score = score});
  decision.save_score = score;
  const ExperimentSpec& spec = parts_.setting.spec;
  decision.deleted =
      checkpoints_to_delete(checkpoints, spec.num_to_keep, !spec.checkpoint_score_attribute.empty(),
                            spec.checkpoint_score_order);
}

bool Judge::foreseen_end(const Trial& trial, Decision& decision) const {
  switch (trial.phase) {
    case Phase::running:
      return false;
    case Phase::stopping:
      decision.outcome = Outcome::terminated;
      decision.reason = trial.row.stop_reason;
      return true;
    case Phase::pausing:
      decision.outcome = Outcome::paused;
      return true;
    case Phase::halting:
      decision.outcome = Outcome::unfinished;
      return true;
  }
  return false;
}

/// Before a pause it matters: the trial must not go on from less than it had. What a function saves
/// came with its report.
bool Judge::failed_to_save(const Trial& trial) {
  return trial.phase == Phase::pausing && trial.saving.has_value();
}

void Judge::user_failure(const Trial& trial, const std::string& message, Decision& decision) const {
  const std::int32_t limit = parts_.setting.spec.max_failures;
  const bool again = limit < 0 || trial.row.failures < static_cast<std::uint32_t>(limit);
  decision.outcome = again ? Outcome::retried : Outcome::error;
  decision.reason = message;
}

void Judge::infrastructure_failure(const Trial& trial, const std::string& message,
                                   Decision& decision) const {
  const std::int32_t limit = parts_.setting.spec.max_infrastructure_failures;
  const bool again =
      limit < 0 || trial.row.infrastructure_failures < static_cast<std::uint32_t>(limit);
  decision.outcome = again ? Outcome::restarted : Outcome::error;
  decision.reason = again ? message
                          : "infrastructure failure " +
                                std::to_string(trial.row.infrastructure_failures + 1) + " (limit " +
                                std::to_string(limit) +
                                ", FailureConfig.max_infrastructure_failures): " + message;
}

Judgement Judge::judge(const TrialEnded& event) const {
  const Trial* trial = find(event.worker, event.key);
  if (trial == nullptr)
    return stale();
  Judgement judgement = about(*trial);
  Decision& decision = judgement.decision;
  if (foreseen_end(*trial, decision))
    return judgement;
  const std::string& metric = parts_.setting.spec.metric;
  if (event.returned && !metric.empty() && trial->row.iteration == 0) {
    // Tried again it would be the same.
    decision.outcome = Outcome::error;
    decision.reason = "the function ended without a result, but TuneConfig.metric is '" + metric +
                      "': call report({{\"" + metric + "\", value}}), or return {{\"" + metric +
                      "\", value}} (with the return type Metrics)";
  } else if (event.returned) {
    decision.outcome = Outcome::terminated;
    decision.reason = "done";
  } else {
    infrastructure_failure(*trial, "the worker let go of the trial without being told", decision);
  }
  return judgement;
}

Judgement Judge::judge(const TrialFailed& event) const {
  const Trial* trial = find(event.worker, event.key);
  if (trial == nullptr)
    return stale();
  Judgement judgement = about(*trial);
  if (failed_to_save(*trial) || !foreseen_end(*trial, judgement.decision))
    user_failure(*trial, event.message, judgement.decision);
  if (event.permanent && judgement.decision.outcome == Outcome::retried)
    judgement.decision.outcome = Outcome::error;
  return judgement;
}

Judgement Judge::judge(const WorkerExited& event) const {
  const LoopState& state = parts_.state;
  if (state.workers.find(event.worker) == nullptr)
    return state.workers.is_leaving(event.worker) ? of(Judgement::Kind::ignored) : stale();
  const Trial* trial = trial_of(event.worker);
  if (trial == nullptr)
    return of(Judgement::Kind::decided);
  Judgement judgement = about(*trial);
  const bool user = event.kind == FailureKind::user;
  if (user && failed_to_save(*trial))
    user_failure(*trial, event.message, judgement.decision);
  else if (foreseen_end(*trial, judgement.decision))
    return judgement;
  else if (user)
    user_failure(*trial, event.message, judgement.decision);
  else if (state.drain)  // whoever stops the driver often ends its workers, too
    judgement.decision.outcome = Outcome::unfinished;
  else if (event.kind == FailureKind::start)
    failed_start(event.message, judgement.decision);
  else
    infrastructure_failure(*trial, event.message, judgement.decision);
  return judgement;
}

/// The trial has no part in it, so it fails for good only with the experiment.
void Judge::failed_start(const std::string& message, Decision& decision) const {
  decision.outcome = Outcome::restarted;
  decision.reason = message;
  const LoopState& state = parts_.state;
  const std::size_t failed = state.failed_starts + 1;
  const std::size_t workers = failed == 1 ? state.workers.size() : state.workers_then;
  if (failed < max_failed_starts * workers)
    return;
  decision.outcome = Outcome::unfinished;
  decision.actions.push_back(Drain{
      ExperimentState::failed,
      std::to_string(failed) + " workers in a row did not come up, the last one so: " + message});
}

Judgement Judge::judge(const Tick&) const {
  return of(Judgement::Kind::ignored);
}

Judgement Judge::judge(const StopRequested& event) const {
  if (parts_.state.drain || parts_.state.done)
    return of(Judgement::Kind::ignored);
  Judgement judgement = of(Judgement::Kind::decided);
  judgement.decision.actions.push_back(Drain{ExperimentState::interrupted, event.reason});
  return judgement;
}

}  // namespace troupe::tune::detail
