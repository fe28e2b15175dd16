#include <troupe/actors/registry.hpp>
#include <troupe/serialization/objective.hpp>
#include <troupe/tune/detail/judge.hpp>

#include <cmath>
#include <string>

// The judgement of results: the order of the questions is the contract (metrics there, done, stop
// criteria, time budget, scheduler).

namespace troupe::tune::detail {
namespace {

void stop(Decision& decision, std::string reason, Ending ending) {
  decision.verdict = Verdict::stop;
  decision.outcome = Outcome::stopping;
  decision.reason = std::move(reason);
  decision.ending = ending;
}

bool returned_a_number(const Metrics& metrics) {
  return metrics.find_key(returned_number_metric) != nullptr;
}

Error number_without_name(const std::string& wanted) {
  const std::string name(returned_number_metric);
  return Error(ErrorCode::not_found,
               "TuneConfig.metric is '" + wanted +
                   "', but the function returned a number, which is the metric '" + name +
                   "'; set TuneConfig.metric to \"" + name + "\", or return {{\"" + wanted +
                   "\", value}} (with the return type Metrics)");
}

}  // namespace

Judgement Judge::judge(const Reported& event) const {
  const Trial* trial = find(event.worker, event.key);
  if (trial == nullptr || event.message <= trial->last_message)
    return Judgement{.kind = Judgement::Kind::stale};
  if (trial->phase != Phase::running && event.checkpoint) {
    // It comes too late, and its checkpoint is nobody's.
    Judgement judgement{.kind = Judgement::Kind::decided};
    judgement.decision.trial = trial->row.id;
    judgement.decision.verdict = Verdict::stop;
    judgement.decision.deleted = {event.checkpoint->number};
    return judgement;
  }
  if (trial->phase != Phase::running)
    return Judgement{.kind = Judgement::Kind::answered,
                     .answer = Answer{event.worker, event.key, event.message, Verdict::stop, {}}};
  if (event.iteration <= trial->row.iteration)
    return repeat(*trial, event);
  return accept(*trial, event);
}

/// A result that is known already: the attempt goes on from an older checkpoint. What was decided
/// then stands.
Judgement Judge::repeat(const Trial& trial, const Reported& event) const {
  Judgement judgement{.kind = Judgement::Kind::decided};
  Decision& decision = judgement.decision;
  decision.trial = trial.row.id;
  if (event.done) {
    // It did not say so the last time, or ended before the end was recorded: it is finished now.
    stop(decision, "done", Ending::finished);
  } else if (parts_.state.over_budget) {
    stop(decision, "time budget", Ending::stopped);
  } else if (parts_.state.drain) {
    decision.verdict = Verdict::stop;
    decision.outcome = Outcome::halting;
  }
  // A checkpoint that the former attempt took here and lost is taken again.
  bool covered = false;
  for (const CheckpointRow& checkpoint : trial.checkpoints)
    covered = covered || checkpoint.ref.iteration >= event.iteration;
  if (!covered)
    plan_save(trial, event, decision);
  if (event.checkpoint)
    take_checkpoint(trial, *event.checkpoint, checkpoint_score(event.metrics), decision);
  const bool nothing = decision.verdict == Verdict::go_on && !decision.save && !event.checkpoint;
  if (nothing)
    return Judgement{.kind = Judgement::Kind::answered,
                     .answer = Answer{event.worker, event.key, event.message, Verdict::go_on, {}}};
  return judgement;
}

Judgement Judge::accept(const Trial& trial, const Reported& event) const {
  Judgement judgement{.kind = Judgement::Kind::decided};
  Decision& decision = judgement.decision;
  decision.trial = trial.row.id;
  if (event.iteration != trial.row.iteration + 1) {
    decision.verdict = Verdict::stop;
    infrastructure_failure(trial,
                           "the worker reported result " + std::to_string(event.iteration) +
                               " after result " + std::to_string(trial.row.iteration),
                           decision);
    if (event.checkpoint)
      decision.deleted = {event.checkpoint->number};
    return judgement;
  }
  if (const Status status = check_metrics(event.metrics); !status) {
    refuse(event, status.error(), decision);
    return judgement;
  }
  decision.accepted = true;
  judge_result(trial, event, decision);
  if (decision.accepted)
    plan_save(trial, event, decision);
  if (event.checkpoint && decision.deleted.empty())
    take_checkpoint(trial, *event.checkpoint, checkpoint_score(event.metrics), decision);
  return judgement;
}

/// The result does not count, and a checkpoint that came with it goes. Tried again it would be the
/// same.
void Judge::refuse(const Reported& event, const Error& why, Decision& decision) {
  decision.accepted = false;
  decision.verdict = Verdict::stop;
  decision.outcome = Outcome::error;
  decision.reason = "result " + std::to_string(event.iteration) + ": " + why.message();
  if (event.checkpoint)
    decision.deleted = {event.checkpoint->number};
}

Status Judge::check_metrics(const Metrics& metrics) const {
  const auto need = [&](const std::string& path, const std::string& who) -> Status {
    auto number = metric_number(metrics, path);
    if (!number)
      return std::move(number).error().with_context("needed by " + who);
    return ok();
  };
  const ExperimentSpec& spec = parts_.setting.spec;
  if (!spec.metric.empty() && metrics.find(spec.metric) == nullptr && returned_a_number(metrics))
    return number_without_name(spec.metric);
  if (!spec.metric.empty())
    TROUPE_RETURN_IF_ERROR(need(spec.metric, "TuneConfig.metric"));
  for (const Objective& objective : spec.more_objectives)
    TROUPE_RETURN_IF_ERROR(need(objective.metric, "TuneConfig.more_objectives"));
  for (const std::string& path : spec.constraints)
    TROUPE_RETURN_IF_ERROR(need(path, "TuneConfig.constraints"));
  for (const std::string& path : parts_.setting.required_metrics)
    TROUPE_RETURN_IF_ERROR(need(path, "the scheduler " + spec.scheduler));
  return ok();
}

void Judge::judge_result(const Trial& trial, const Reported& event, Decision& decision) const {
  const auto criterion = parts_.setting.spec.stop.match(event.metrics);
  if (!criterion) {
    return refuse(event, criterion.error(), decision);
  }
  if (event.done)
    return stop(decision, "done", Ending::finished);
  if (*criterion)
    return stop(decision, "stop: " + (*criterion)->to_string(), Ending::finished);
  const auto budget = parts_.setting.time_budget();
  if (parts_.state.over_budget || (budget && run_time_ >= *budget))
    return stop(decision, "time budget", Ending::stopped);
  ask_scheduler(trial, event, decision);
  if (parts_.state.drain && decision.verdict == Verdict::go_on) {
    decision.verdict = Verdict::stop;
    decision.outcome = Outcome::halting;
  }
}

void Judge::ask_scheduler(const Trial& trial, const Reported& event, Decision& decision) const {
  std::string failure;
  try {
    auto said = parts_.scheduler->decide(trial.row.id, event.metrics);
    if (said)
      decision.schedule = said.take();
    else
      failure = said.error().message();
  } catch (const std::exception& e) {
    failure = e.what();
  } catch (...) {
    failure = "unknown exception";
  }
  if (!decision.schedule) {
    // The result is not lost: it is not accepted, and reported again after a restore.
    decision.accepted = false;
    decision.verdict = Verdict::stop;
    decision.outcome = Outcome::halting;
    decision.actions.push_back(
        Drain{ExperimentState::failed,
              "the scheduler " + parts_.setting.spec.scheduler + " failed: " + failure});
    return;
  }
  switch (decision.schedule->action) {
    case ScheduleAction::go_on:
      return;
    case ScheduleAction::stop:
    case ScheduleAction::finish:
      return stop(
          decision,
          decision.schedule->reason.empty() ? parts_.setting.spec.scheduler
                                            : decision.schedule->reason,
          decision.schedule->action == ScheduleAction::finish ? Ending::finished : Ending::stopped);
    case ScheduleAction::pause:
      decision.verdict = Verdict::pause;
      decision.outcome = Outcome::pausing;
      decision.reason = decision.schedule->reason;
      return;
  }
}

void Judge::plan_save(const Trial& trial, const Reported& event, Decision& decision) const {
  const ExperimentSpec& spec = parts_.setting.spec;
  if (spec.is_function)
    return;
  const bool due =
      spec.checkpoint_frequency > 0 && event.iteration % spec.checkpoint_frequency == 0;
  bool save = due || event.wants_checkpoint;
  if (decision.outcome == Outcome::pausing)
    save = true;
  else if (decision.outcome == Outcome::stopping)
    save = save || spec.checkpoint_at_end;
  else if (decision.outcome == Outcome::halting)
    save = save || spec.checkpoint_frequency > 0 || spec.checkpoint_at_end ||
           !trial.checkpoints.empty();
  if (!save)
    return;
  decision.save = trial.row.next_checkpoint;
  decision.save_score = checkpoint_score(event.metrics);
}

std::optional<double> Judge::checkpoint_score(const Metrics& metrics) const {
  const std::string& path = parts_.setting.spec.checkpoint_score_attribute;
  if (path.empty())
    return std::nullopt;
  const auto score = metric_number(metrics, path);
  return score ? std::optional<double>(*score) : std::nullopt;
}

}  // namespace troupe::tune::detail
