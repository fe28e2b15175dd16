#include <troupe/runtime/store/keys.hpp>
#include <troupe/tune/detail/applier.hpp>
#include <troupe/tune/detail/retention.hpp>

#include <algorithm>
#include <string>
#include <utility>

// Starts and stops: of the driver, of the experiment, of trials and workers.

namespace troupe::tune::detail {

void Applier::on(const RunBegan& event, const Decision& decision) {
  LoopState& state = parts_.state;
  ExperimentRow& status = state.status;
  status.state = ExperimentState::running;
  status.message.clear();
  ++status.starts;
  status.started_ms = wall_ms_;
  status.cpus = event.cpus;
  status.planned = parts_.setting.planned;
  if (status.planned)
    *status.planned += status.created - state.suggested;  // trials that repeat others
  state.drain.reset();
  state.done = false;
  if (state.search_failed)
    state.search_over = state.search_failed = false;
  state.workers.forget_all();
  state.failed_starts = 0;
  state.memory_bytes = event.memory_bytes;
  state.ledger =
      ResourceLedger(ResourceRequest{.cpus = event.cpus, .memory_bytes = event.memory_bytes});
  // Workers of a dead driver died with it.
  for (auto& [id, trial] : state.trials.all()) {
    trial.revived = false;
    if (trial.row.state != TrialState::running)
      continue;
    if (trial.phase != Phase::stopping && trial.phase != Phase::pausing) {
      // The number of a checkpoint that was never reported is used again, and with it whatever the
      // dead worker left under it.
      if (trial.saving)
        trial.row.next_checkpoint = trial.saving->number;
      trial.leftover = trial.leftover || trial.saving || parts_.setting.spec.is_function;
      trial.phase = Phase::running;
      trial.saving.reset();
      ++trial.row.attempt;
    }
    trial.last_message = 0;
    trial.rests_until = Duration{0};
    state.trials.take_worker(trial);
    touch(trial);
  }
  seat_again();
  // Nobody knows whether these were deleted before the driver died.
  for (GivenUp& checkpoint : state.given_up) {
    checkpoint.at = run_time_;
    delete_when_durable(checkpoint);
  }
  for (const Action& action : decision.actions)
    if (const auto* create = std::get_if<CreateTrial>(&action); create && create->repeats)
      note_repeated(*create);
  touch_status();
  if (!event.restored)
    output_.rows.push_back(
        {Table::experiment, std::string(keys::experiment_spec), encode(parts_.setting.spec)});
}

/// Trials keep their place while there is room. Without (fewer CPUs than before) they go back to
/// the queue, in front.
void Applier::seat_again() {
  LoopState& state = parts_.state;
  std::vector<Trial*> homeless;
  for (auto& [id, trial] : state.trials.all()) {
    if (trial.row.state != TrialState::running)
      continue;
    trial.holds_resources = state.ledger.acquire(parts_.setting.spec.resources);
    if (!trial.holds_resources && trial.phase == Phase::running)
      homeless.push_back(&trial);
  }
  for (auto trial = homeless.rbegin(); trial != homeless.rend(); ++trial) {
    vacate(**trial);
    state.trials.put_first(**trial);
  }
}

/// The old trial says which one took its place.
void Applier::note_repeated(const CreateTrial& create) {
  if (Trial* unfinished = parts_.state.trials.find(*create.repeats))
    unfinished->row.restarted_as = create.trial;
}

void Applier::on(const ErroredTaken& event, const Decision& decision) {
  before_run_ = true;
  if (event.how == Resume::resume) {
    for (std::size_t i = 0; i < event.rows.size(); ++i)
      revive(event.rows[i], event.checkpoints.at(i));
    return;
  }
  for (std::size_t i = 0; i < event.rows.size(); ++i) {
    TrialRow row = event.rows[i];
    row.restarted_as = std::get<CreateTrial>(decision.actions.at(i)).trial;
    output_.rows.push_back({Table::trials, keys::trial_key(row.id), encode(row)});
  }
}

void Applier::revive(const TrialRow& row, const std::vector<CheckpointRow>& checkpoints) {
  LoopState& state = parts_.state;
  Trial& trial = state.trials.add(row);
  trial.revived = true;
  ++trial.row.attempt;
  trial.row.ended_ms = 0;
  for (const CheckpointRow& checkpoint : checkpoints)
    if (checkpoint.state == CheckpointState::committed)
      trial.checkpoints.push_back(checkpoint);
  --state.status.errored;
  parts_.scheduler->on_trial_add(row.id, row.config);
  touch(trial);
}

void Applier::on(const WorkerStarted&, const Decision&) {
  parts_.state.failed_starts = 0;
}

void Applier::on(const Tick&, const Decision&) {}

void Applier::on(const RowsRestored&, const Decision&) {}

void Applier::on(const StopRequested&, const Decision&) {}

void Applier::on(const Suggested&, const Decision&) {}

void Applier::on(const CreateTrial& action) {
  LoopState& state = parts_.state;
  TrialRow row;
  row.id = action.trial;
  row.name = action.name;
  row.dir = action.dir;
  row.config = action.config;
  row.created_ms = wall_ms_;
  state.next_trial = action.trial.next();
  ++state.status.created;
  Trial& trial = state.trials.add(std::move(row));
  trial.revived = before_run_;
  if (action.repeats && state.status.planned)
    ++*state.status.planned;
  if (!action.repeats) {
    ++state.suggested;
    parts_.search.record(action.trial, action.config, action.note);
  }
  parts_.scheduler->on_trial_add(action.trial, action.config);
  touch(trial);
}

void Applier::on(const StartTrial& action) {
  LoopState& state = parts_.state;
  const ExperimentSpec& spec = parts_.setting.spec;
  Trial* trial = state.trials.find(action.key.trial);
  if (trial == nullptr)
    return;
  if (trial->row.state != TrialState::running) {
    trial->holds_resources = state.ledger.acquire(spec.resources);
    state.trials.set_state(*trial, TrialState::running);
    if (spec.deterministic)
      trial->slot = state.turns.enter(trial->row.id);
  }
  trial->phase = Phase::running;
  trial->fresh_only = false;
  if (trial->row.started_ms == 0)
    trial->row.started_ms = wall_ms_;
  if (action.fresh) {
    state.workers.start(action.worker, spec.resources, trial->row.id);
    ++state.status.actor_starts;
    output_.when_accepted.push_back(StartWorker{action.worker, spec.isolation, spec.resources});
  } else {
    state.workers.assign(action.worker, trial->row.id);
    ++state.status.actor_reuses;
  }
  state.trials.give_worker(*trial, action.worker);
  RunTrial run;
  run.worker = action.worker;
  run.key = action.key;
  run.trainable = spec.trainable;
  run.config = trial->row.config;
  run.trial_name = trial->row.name;
  run.trial_dir = (parts_.setting.experiment_dir / trial->row.dir).string();
  run.reset = !action.fresh;
  run.next_checkpoint = trial->row.next_checkpoint;
  for (const CheckpointRow& checkpoint : trial->checkpoints)
    run.checkpoints.push_back(checkpoint.ref);
  std::sort(run.checkpoints.begin(), run.checkpoints.end(), [](const auto& a, const auto& b) {
    return std::tie(a.iteration, a.number) > std::tie(b.iteration, b.number);
  });
  output_.when_accepted.push_back(std::move(run));
  touch(*trial);
}

void Applier::on(const EndTrial& action) {
  Trial* trial = parts_.state.trials.find(action.trial);
  if (trial == nullptr)
    return;
  leave_worker(*trial, true, false);
  trial->row.stop_reason = action.reason;
  finish_trial(*trial, TrialState::terminated, Ending::stopped);
}

void Applier::on(const HaltTrial& action) {
  Trial* trial = parts_.state.trials.find(action.trial);
  if (trial == nullptr)
    return;
  trial->phase = action.final ? Phase::stopping : Phase::halting;
  if (action.final) {
    trial->row.stop_reason = action.reason;
    trial->row.ending = Ending::stopped;
  }
  output_.when_accepted.push_back(
      StopTrial{trial->worker, {trial->row.id, trial->row.attempt}, std::nullopt});
}

void Applier::on(const EndWorker& action) {
  let_go(action.worker);
}

void Applier::on(const EndSearch& action) {
  LoopState& state = parts_.state;
  state.search_over = true;
  state.search_failed = action.failed;
  state.search_reason = action.reason;
  state.over_budget = state.over_budget || action.out_of_time;
  touch_status();
}

void Applier::on(const Drain& action) {
  parts_.state.drain = action;
  parts_.state.drain_since = run_time_;
  for (const auto& [order, id] : parts_.state.trials.orphans())
    changed_.insert(id);
}

void Applier::on(const FinishExperiment& action) {
  LoopState& state = parts_.state;
  state.done = true;
  state.status.state = action.state;
  state.status.message = action.message;
  touch_status();
}

}  // namespace troupe::tune::detail
