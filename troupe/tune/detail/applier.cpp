#include <troupe/runtime/storage/checkpoint_store.hpp>
#include <troupe/runtime/store/keys.hpp>
#include <troupe/serialization/objective.hpp>
#include <troupe/tune/detail/applier.hpp>
#include <troupe/tune/detail/restart_pause.hpp>
#include <troupe/tune/detail/retention.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace troupe::tune::detail {

void Applier::apply(const RecordedBody& body, const Decision& decision) {
  parts_.state.run_time = run_time_;
  parts_.state.status.run_time = run_time_;
  parts_.state.status.updated_ms = wall_ms_;
  std::visit([&](const auto& event) { on(event, decision); }, body);
}

void Applier::apply(const Action& action) {
  std::visit([this](const auto& concrete) { on(concrete); }, action);
}

void Applier::write_rows() {
  for (const TrialId id : changed_)
    if (const Trial* trial = parts_.state.trials.find(id))
      write_trial(*trial);
  changed_.clear();
  if (status_changed_)
    output_.rows.push_back(
        {Table::experiment, std::string(keys::experiment_status), encode(parts_.state.status)});
}

void Applier::write_trial(const Trial& trial) {
  TrialRow row = trial.row;
  if (row.state == TrialState::running && !trial.has_worker())
    row.state = TrialState::pending;
  if (const CheckpointRow* newest = newest_checkpoint(trial.checkpoints))
    row.checkpoint = newest->ref;
  output_.rows.push_back({Table::trials, keys::trial_key(row.id), encode(row)});
}

Trial* Applier::trial_of(const Decision& decision) {
  return decision.trial ? parts_.state.trials.find(*decision.trial) : nullptr;
}

// -- results and checkpoints --------------------------------------------------------------------

void Applier::on(const Reported& event, const Decision& decision) {
  Trial* trial = trial_of(decision);
  if (trial == nullptr)
    return;
  trial->last_message = event.message;
  if (decision.accepted)
    take_result(*trial, event, decision);
  if (event.checkpoint)
    commit_checkpoint(*trial, *event.checkpoint, decision);
  if (decision.save) {
    trial->saving = AwaitedSave{*decision.save, decision.save_score};
    trial->row.next_checkpoint = *decision.save + 1;
  }
  output_.when_accepted.push_back(
      Answer{event.worker, event.key, event.message, decision.verdict, decision.save});
  switch (decision.outcome) {
    case Outcome::none:
      break;
    case Outcome::stopping:
      trial->phase = Phase::stopping;
      trial->row.stop_reason = decision.reason;
      trial->row.ending = decision.ending;
      break;
    case Outcome::pausing:
      trial->phase = Phase::pausing;
      break;
    case Outcome::halting:
      trial->phase = Phase::halting;
      break;
    case Outcome::restarted:  // the worker miscounts
      end_attempt(*trial, decision, FailureKind::infrastructure, true, false);
      break;
    default:
      end_attempt(*trial, decision, FailureKind::user, true, false);
  }
}

void Applier::take_result(Trial& trial, const Reported& event, const Decision& decision) {
  trial.row.iteration = event.iteration;
  trial.row.metrics = event.metrics;
  if (const auto time = metric_number(event.metrics, "time_total_s"))
    trial.row.time_total_s = *time;
  ++parts_.state.status.results;
  output_.rows.push_back({Table::results, keys::result_key(trial.row.id, event.iteration),
                          encode(EventPointer{sequence_})});
  if (decision.schedule)
    parts_.scheduler->record(trial.row.id, event.metrics, *decision.schedule);
  // The last result comes with the completion.
  if (decision.outcome != Outcome::stopping)
    parts_.search.on_result(trial.row.id, event.metrics);
}

void Applier::on(const CheckpointSaved& event, const Decision& decision) {
  Trial* trial = trial_of(decision);
  if (trial == nullptr)
    return;
  if (trial->saving && trial->saving->number == event.checkpoint.number)
    trial->saving.reset();
  commit_checkpoint(*trial, event.checkpoint, decision);
}

void Applier::commit_checkpoint(Trial& trial, const CheckpointRef& ref, const Decision& decision) {
  trial.row.next_checkpoint = std::max(trial.row.next_checkpoint, ref.number + 1);
  if (decision.commit) {
    trial.leftover = false;
    trial.checkpoints.push_back({.ref = ref, .score = decision.save_score, .wall_ms = wall_ms_});
    write_checkpoint(trial.row.id, trial.checkpoints.back());
  } else if (!decision.deleted.empty()) {
    abandon(trial, {.ref = ref, .wall_ms = wall_ms_});
    return;
  }
  give_up(trial, decision.deleted);
}

void Applier::give_up(Trial& trial, const std::vector<std::uint32_t>& numbers) {
  for (const std::uint32_t number : numbers) {
    const auto found =
        std::find_if(trial.checkpoints.begin(), trial.checkpoints.end(),
                     [&](const CheckpointRow& row) { return row.ref.number == number; });
    if (found == trial.checkpoints.end())
      continue;
    CheckpointRow row = std::move(*found);
    trial.checkpoints.erase(found);
    abandon(trial, std::move(row));
  }
}

/// Remembered until its deletion is sure to have been carried out, whoever dies meanwhile.
void Applier::abandon(const Trial& trial, CheckpointRow row) {
  row.state = CheckpointState::deleting;
  write_checkpoint(trial.row.id, row);
  parts_.state.given_up.push_back({trial.row.id, trial.row.dir, row.ref, run_time_});
  delete_when_durable(parts_.state.given_up.back());
}

void Applier::delete_when_durable(const GivenUp& checkpoint) {
  output_.when_durable.push_back(DeleteCheckpoint{
      checkpoint.trial, (parts_.setting.experiment_dir / checkpoint.dir).string(), checkpoint.ref});
}

void Applier::forget_given_up() {
  std::deque<GivenUp>& given_up = parts_.state.given_up;
  while (!given_up.empty() &&
         (run_time_ - given_up.front().at >= keep_deleting || given_up.size() > max_given_up)) {
    const GivenUp& oldest = given_up.front();
    output_.rows.push_back(
        {Table::checkpoints, keys::checkpoint_key(oldest.trial, oldest.ref.number), std::nullopt});
    given_up.pop_front();
  }
}

void Applier::write_checkpoint(TrialId trial, const CheckpointRow& row) {
  output_.rows.push_back(
      {Table::checkpoints, keys::checkpoint_key(trial, row.ref.number), encode(row)});
}

void Applier::on(const TrialStarted& event, const Decision& decision) {
  Trial* trial = trial_of(decision);
  if (trial == nullptr)
    return;
  for (const std::uint32_t number : event.damaged) {
    const auto found =
        std::find_if(trial->checkpoints.begin(), trial->checkpoints.end(),
                     [&](const CheckpointRow& row) { return row.ref.number == number; });
    if (found == trial->checkpoints.end())
      continue;
    CheckpointRow row = std::move(*found);
    trial->checkpoints.erase(found);
    row.state = CheckpointState::damaged;
    row.note = event.note;
    write_checkpoint(trial->row.id, row);
  }
  trial->row.note = event.note;
  touch(*trial);
}

// -- ends of attempts ---------------------------------------------------------------------------

void Applier::on(const ResetRefused&, const Decision& decision) {
  Trial* trial = trial_of(decision);
  if (trial == nullptr)
    return;
  ++parts_.state.status.resets_refused;
  trial->fresh_only = true;
  if (decision.outcome == Outcome::restarted) {
    // Not a failure: no counter, and the trial keeps its place.
    leave_worker(*trial, true, false);
    ++trial->row.attempt;
    if (trial->row.note.empty())
      trial->row.note = "reset_config returned false: a fresh worker was started";
    touch(*trial);
    return;
  }
  end_attempt(*trial, decision, FailureKind::infrastructure, true, false);
}

void Applier::on(const TrialEnded& event, const Decision& decision) {
  Trial* trial = trial_of(decision);
  if (trial == nullptr)
    return;
  note_missing_checkpoint(*trial, "the driver or the worker ended before it was saved");
  // A function that returned too early is user code; a worker that let go unasked is not.
  const FailureKind kind = event.returned ? FailureKind::user : FailureKind::infrastructure;
  end_attempt(*trial, decision, kind, event.worker.value != 0, event.reusable);
}

void Applier::on(const TrialFailed& event, const Decision& decision) {
  Trial* trial = trial_of(decision);
  if (trial == nullptr)
    return;
  if (decision.outcome == Outcome::terminated || decision.outcome == Outcome::unfinished)
    note_missing_checkpoint(*trial, event.message);
  end_attempt(*trial, decision, FailureKind::user, true, false);
}

void Applier::on(const WorkerExited& event, const Decision& decision) {
  Trial* trial = trial_of(decision);
  if (trial == nullptr) {
    parts_.state.workers.exited(event.worker);
    return;
  }
  if (event.kind == FailureKind::start && parts_.state.failed_starts++ == 0)
    parts_.state.workers_then = parts_.state.workers.size();
  if (decision.outcome == Outcome::terminated || decision.outcome == Outcome::paused)
    note_missing_checkpoint(*trial, event.message);
  end_attempt(*trial, decision, event.kind, false, false);
}

void Applier::note_missing_checkpoint(Trial& trial, const std::string& why) {
  if (trial.saving)
    trial.row.note = "its last checkpoint is missing: " + why;
}

void Applier::end_attempt(Trial& trial, const Decision& decision, FailureKind kind, bool alive,
                          bool reusable) {
  const bool broken = !alive || decision.outcome == Outcome::retried ||
                      decision.outcome == Outcome::restarted || decision.outcome == Outcome::error;
  take_number_back(trial, alive, broken);
  leave_worker(trial, alive, reusable);
  TrialRow& row = trial.row;
  switch (decision.outcome) {
    case Outcome::terminated:
      row.stop_reason = decision.reason;
      return finish_trial(trial, TrialState::terminated, row.ending);
    case Outcome::error:
      ++(kind == FailureKind::user ? row.failures : row.infrastructure_failures);
      row.error = decision.reason;
      row.error_kind = kind;
      return finish_trial(trial, TrialState::error, Ending::failed);
    case Outcome::paused:
      ++row.attempt;
      vacate(trial);
      parts_.state.trials.set_state(trial, TrialState::paused);
      break;
    case Outcome::retried:
      ++row.attempt;
      ++row.failures;
      row.error = decision.reason;
      row.error_kind = FailureKind::user;
      vacate(trial);
      parts_.state.trials.set_state(trial, TrialState::pending);
      parts_.scheduler->on_retry(row.id);
      break;
    case Outcome::restarted:
      ++row.attempt;
      ++row.infrastructure_failures;
      row.error = decision.reason;
      row.error_kind = FailureKind::infrastructure;
      trial.rests_until =
          run_time_ + restart_pause(parts_.setting.spec.seed, row.id, row.infrastructure_failures);
      parts_.state.last_rest = std::max(parts_.state.last_rest, trial.rests_until);
      // In a run that equals every other one a death by chance must not change the order.
      if (!parts_.setting.spec.deterministic) {
        vacate(trial);
        parts_.state.trials.set_state(trial, TrialState::pending);
        parts_.scheduler->on_retry(row.id);
      }
      break;
    default:
      break;  // unfinished: it stays RUNNING without a worker until a restore
  }
  trial.phase = Phase::running;
  touch(trial);
}

/// The number of a checkpoint that was asked for and never came is used again, and with it whatever
/// a worker that died or failed left under it.
void Applier::take_number_back(Trial& trial, bool alive, bool broken) {
  const ExperimentSpec& spec = parts_.setting.spec;
  // A thread that was left behind may still be writing.
  if (!alive && spec.isolation == Isolation::thread)
    return;
  if (trial.saving)
    trial.row.next_checkpoint = trial.saving->number;
  if (trial.saving || (spec.is_function && broken))
    trial.leftover = true;
}

void Applier::clear_leftover(Trial& trial) {
  if (!std::exchange(trial.leftover, false))
    return;
  const std::uint32_t number = trial.row.next_checkpoint++;
  abandon(trial, {.ref = {.number = number,
                          .iteration = trial.row.iteration,
                          .directory = checkpoint_directory_name(number)},
                  .wall_ms = wall_ms_});
}

void Applier::leave_worker(Trial& trial, bool alive, bool reusable) {
  const WorkerId worker = trial.worker;
  trial.saving.reset();
  trial.last_message = 0;
  if (!trial.has_worker())
    return;
  if (!alive) {
    parts_.state.workers.exited(worker);
  } else if (reusable && parts_.setting.spec.reuse_actors) {
    parts_.state.workers.release(worker);
  } else {
    let_go(worker);
  }
  parts_.state.trials.take_worker(trial);
}

void Applier::let_go(WorkerId worker) {
  parts_.state.workers.let_go(worker);
  output_.when_accepted.push_back(StopWorker{worker, false});
}

/// Gives back what a RUNNING trial holds besides its worker.
void Applier::vacate(Trial& trial) {
  if (trial.holds_resources)
    parts_.state.ledger.release(parts_.setting.spec.resources).value_or_throw();
  trial.holds_resources = false;
  if (trial.slot)
    parts_.state.turns.leave(*trial.slot);
  trial.slot.reset();
}

void Applier::finish_trial(Trial& trial, TrialState state, Ending ending) {
  vacate(trial);
  clear_leftover(trial);
  parts_.state.trials.set_state(trial, state);
  trial.row.ended_ms = wall_ms_;
  trial.row.ending = ending;
  ExperimentRow& status = parts_.state.status;
  ++(state == TrialState::error ? status.errored : status.terminated);
  const Metrics* last = trial.row.iteration > 0 ? &trial.row.metrics : nullptr;
  parts_.search.on_complete(trial.row.id, ending, last);
  parts_.scheduler->on_complete(trial.row.id, ending, last);
  write_trial(trial);
  parts_.state.trials.remove(trial.row.id);
}

}  // namespace troupe::tune::detail
