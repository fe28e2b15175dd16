#include <troupe/tune/detail/naming.hpp>
#include <troupe/tune/detail/planner.hpp>
#include <troupe/tune/detail/result_limits.hpp>
#include <troupe/tune/detail/suggesting.hpp>

#include <exception>
#include <utility>

namespace troupe::tune::detail {
namespace {

/// Runs what belongs to the user; a thrown exception becomes an error.
template <class F>
auto guarded(F&& call) -> decltype(call()) {
  try {
    return call();
  } catch (const Exception& e) {
    return e.error();
  } catch (const std::exception& e) {
    return Error(ErrorCode::user_code, e.what());
  } catch (...) {
    return Error(ErrorCode::user_code, "unknown exception");
  }
}

Drain scheduler_failed(const LoopParts& parts, const std::string& what) {
  return {ExperimentState::failed,
          "the scheduler " + parts.setting.spec.scheduler + " failed: " + what};
}

}  // namespace

std::optional<Action> Planner::next() const {
  if (parts_.state.done)
    return release_worker();
  using Step = std::optional<Action> (Planner::*)() const;
  // Ends come before starts, so that what is freed is used in the same pass.
  constexpr Step steps[] = {&Planner::stop_everything, &Planner::obey_budget,
                            &Planner::obey_scheduler,  &Planner::start_orphan,
                            &Planner::start_trial,     &Planner::get_unstuck,
                            &Planner::release_worker,  &Planner::finish};
  for (const Step step : steps)
    if (auto action = (this->*step)())
      return action;
  return std::nullopt;
}

bool Planner::starting() const {
  return !parts_.state.drain && !parts_.state.over_budget;
}

bool Planner::may_schedule() const {
  return may_schedule_ || parts_.state.trials.running() == 0;
}

bool Planner::slot_free() const {
  const LoopState& state = parts_.state;
  const auto limit = parts_.setting.spec.max_concurrent_trials;
  if (limit && state.trials.running() >= *limit)
    return false;
  return state.ledger.fits(parts_.setting.spec.resources);
}

std::optional<Action> Planner::first_running_to_halt(bool final, const std::string& reason) const {
  for (const auto& [id, worker] : parts_.state.workers.all()) {
    if (!worker.trial)
      continue;
    const Trial* trial = parts_.state.trials.find(*worker.trial);
    if (trial != nullptr && trial->phase == Phase::running)
      return HaltTrial{trial->row.id, final, reason};
  }
  return std::nullopt;
}

std::optional<Action> Planner::stop_everything() const {
  const LoopState& state = parts_.state;
  if (!state.drain)
    return std::nullopt;
  // Taking turns is over when the experiment stops; what waits for its turn is reported again.
  const ExperimentSpec& spec = parts_.setting.spec;
  if (spec.deterministic || run_time_ >= state.drain_since + spec.stop_patience)
    return first_running_to_halt(false, state.drain->reason);
  return std::nullopt;
}

std::optional<Action> Planner::obey_budget() const {
  const LoopState& state = parts_.state;
  const auto budget = parts_.setting.time_budget();
  if (!budget || run_time_ < *budget || state.drain)
    return std::nullopt;
  if (!state.over_budget)
    return EndSearch{false, true, "time budget"};
  for (const auto* queue :
       {&state.trials.pending(), &state.trials.paused(), &state.trials.orphans()})
    for (const auto& [order, id] : *queue)
      if (state.trials.find(id)->phase == Phase::running)
        return EndTrial{id, "time budget"};
  if (run_time_ >= *budget + budget_patience)
    return first_running_to_halt(true, "time budget");
  return std::nullopt;
}

std::optional<Action> Planner::obey_scheduler() const {
  if (!starting() || !may_schedule())
    return std::nullopt;
  const auto order =
      guarded([&]() -> Result<std::optional<StopOrder>> { return parts_.scheduler->next_stop(); });
  if (!order)
    return scheduler_failed(parts_, order.error().message());
  if (!*order)
    return std::nullopt;
  const StopOrder& stop = **order;
  const Trial* trial = parts_.state.trials.find(stop.trial);
  if (trial == nullptr)
    return scheduler_failed(
        parts_, "it wants to stop trial " + to_string(stop.trial) + ", which is over or never was");
  if (trial->row.state == TrialState::running && trial->phase != Phase::running)
    return std::nullopt;  // on its way out: asked again when it has let go
  if (!trial->has_worker())
    return EndTrial{stop.trial, stop.reason};
  return HaltTrial{stop.trial, true, stop.reason};
}

Action Planner::give_worker(const Trial& trial) const {
  const ExperimentSpec& spec = parts_.setting.spec;
  const WorkerPool& workers = parts_.state.workers;
  const TrialKey key{trial.row.id, trial.row.attempt};
  if (spec.reuse_actors && !trial.fresh_only)
    if (const auto idle = workers.find_idle(spec.resources))
      return StartTrial{key, *idle, false};
  return StartTrial{key, workers.next_id(), true};
}

std::optional<Action> Planner::start_orphan() const {
  const LoopState& state = parts_.state;
  if (!starting())
    return std::nullopt;
  for (const auto& [order, id] : state.trials.orphans()) {
    const Trial* trial = state.trials.find(id);
    if (trial->phase == Phase::running && trial->rests_until <= run_time_)
      return give_worker(*trial);
  }
  return std::nullopt;
}

std::optional<Action> Planner::start_trial() const {
  const TrialTable& trials = parts_.state.trials;
  if (!starting() || !may_schedule() || !slot_free())
    return std::nullopt;
  if (trials.pending().empty())
    if (auto action = ask_searcher())
      return action;
  if (trials.pending().empty() && trials.paused().empty())
    return std::nullopt;
  const auto chosen = guarded([&]() -> Result<std::optional<TrialId>> {
    return parts_.scheduler->choose_trial_to_run(TrialTable::View(trials, run_time_));
  });
  if (!chosen)
    return scheduler_failed(parts_, chosen.error().message());
  if (!*chosen)
    return std::nullopt;
  const Trial* trial = trials.find(**chosen);
  if (trial == nullptr || trial->row.state == TrialState::running)
    return scheduler_failed(
        parts_, "it chose trial " + to_string(**chosen) + ", which does not wait to be started");
  return give_worker(*trial);
}

std::optional<Action> Planner::ask_searcher() const {
  const LoopState& state = parts_.state;
  if (state.search_over)
    return std::nullopt;
  if (parts_.setting.planned && state.suggested >= *parts_.setting.planned)
    return EndSearch{false, false, "all trials were created"};
  if (!parts_.search.searcher().instant())
    return std::nullopt;
  const TrialId id = state.next_trial;
  return what_was_suggested(parts_, id, parts_.search.searcher().suggest(id));
}

bool Planner::wants_suggestion() const {
  const LoopState& state = parts_.state;
  return !state.done && !state.search_over && starting() && may_schedule() && slot_free() &&
         state.trials.pending().empty() && !parts_.search.searcher().instant();
}

/// Nothing runs and nothing was started: whoever waits now would wait for ever.
std::optional<Action> Planner::get_unstuck() const {
  const LoopState& state = parts_.state;
  if (!starting() || state.trials.running() > 0)
    return std::nullopt;
  if (const auto waiting = TrialTable::View(state.trials, run_time_).first_pending())
    return give_worker(*state.trials.find(*waiting));
  if (!state.trials.pending().empty())
    return std::nullopt;  // it rests, and the deadline of the loop says until when
  if (!state.search_over) {
    // One that is asked beside the loop has its say when it answers.
    if (!parts_.search.searcher().instant())
      return std::nullopt;
    return nothing_suggested(parts_);
  }
  if (!state.trials.paused().empty())
    return EndTrial{state.trials.paused().begin()->second,
                    "not resumed by the scheduler " + parts_.setting.spec.scheduler};
  return std::nullopt;
}

std::optional<Action> Planner::release_worker() const {
  const LoopState& state = parts_.state;
  if (state.workers.idle().empty())
    return std::nullopt;
  const bool wanted =
      !state.done && starting() &&
      (!state.search_over || !state.trials.pending().empty() || !state.trials.paused().empty());
  if (wanted)
    return std::nullopt;
  return EndWorker{*state.workers.idle().begin()};
}

std::optional<Action> Planner::finish() const {
  const LoopState& state = parts_.state;
  if (state.drain) {
    if (state.workers.size() > 0)
      return std::nullopt;
    return FinishExperiment{state.drain->state, state.drain->reason};
  }
  if (!state.trials.empty() || !(state.search_over || state.over_budget))
    return std::nullopt;
  if (state.search_failed)
    return FinishExperiment{ExperimentState::failed, state.search_reason};
  return FinishExperiment{ExperimentState::finished,
                          state.search_reason == space_exhausted ? state.search_reason : ""};
}

/// When the first of the trials that rest may get a worker.
std::optional<Duration> Planner::first_rest_over(const LoopState& state) {
  std::optional<Duration> first;
  if (state.last_rest <= state.run_time)
    return first;
  for (const auto* queue : {&state.trials.orphans(), &state.trials.pending()})
    for (const auto& [order, id] : *queue) {
      const Duration until = state.trials.find(id)->rests_until;
      if (until > state.run_time && (!first || until < *first))
        first = until;
    }
  return first;
}

std::optional<Duration> Planner::deadline(const LoopParts& parts) {
  const LoopState& state = parts.state;
  const auto budget = parts.setting.time_budget();
  if (state.done)
    return std::nullopt;
  if (!state.drain && !state.over_budget) {
    const auto rest = first_rest_over(state);
    return rest && (!budget || *rest < *budget) ? rest : budget;
  }
  // After that only trials that still run are waited for, and those are not told twice.
  if (!Planner(parts, state.run_time, false).first_running_to_halt(false, {}))
    return std::nullopt;
  return state.drain ? state.drain_since + parts.setting.spec.stop_patience
                     : *budget + budget_patience;
}

}  // namespace troupe::tune::detail
