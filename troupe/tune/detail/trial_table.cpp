#include <troupe/tune/detail/trial_table.hpp>

#include <utility>

namespace troupe::tune::detail {

const Trial* TrialTable::find(TrialId id) const {
  const auto found = trials_.find(id);
  return found != trials_.end() ? &found->second : nullptr;
}

Trial* TrialTable::find(TrialId id) {
  const auto found = trials_.find(id);
  return found != trials_.end() ? &found->second : nullptr;
}

TrialTable::Queue* TrialTable::queue_of(const Trial& trial) {
  switch (trial.row.state) {
    case TrialState::pending:
      return &pending_;
    case TrialState::paused:
      return &paused_;
    case TrialState::running:
      return trial.has_worker() ? nullptr : &orphans_;
    default:
      return nullptr;
  }
}

void TrialTable::leave_queue(const Trial& trial) {
  if (Queue* queue = queue_of(trial))
    queue->erase(trial.order);
}

void TrialTable::join_queue(Trial& trial) {
  if (Queue* queue = queue_of(trial)) {
    trial.order = next_order_++;
    queue->emplace(trial.order, trial.row.id);
  }
}

Trial& TrialTable::add(TrialRow row) {
  const TrialId id = row.id;
  Trial& trial = trials_[id];
  trial.row = std::move(row);
  trial.row.state = TrialState::pending;
  join_queue(trial);
  return trial;
}

void TrialTable::remove(TrialId id) {
  const auto found = trials_.find(id);
  if (found == trials_.end())
    return;
  leave_queue(found->second);
  if (found->second.row.state == TrialState::running)
    --running_;
  trials_.erase(found);
}

void TrialTable::set_state(Trial& trial, TrialState state) {
  leave_queue(trial);
  if (trial.row.state == TrialState::running)
    --running_;
  trial.row.state = state;
  if (state == TrialState::running)
    ++running_;
  join_queue(trial);
}

void TrialTable::put_first(Trial& trial) {
  set_state(trial, TrialState::pending);
  if (pending_.size() < 2)
    return;
  leave_queue(trial);
  trial.order = pending_.begin()->first - 1;
  pending_.emplace(trial.order, trial.row.id);
}

void TrialTable::give_worker(Trial& trial, WorkerId worker) {
  leave_queue(trial);
  trial.worker = worker;
  join_queue(trial);
}

void TrialTable::take_worker(Trial& trial) {
  give_worker(trial, WorkerId());
}

std::optional<TrialId> TrialTable::View::first_pending() const {
  for (const auto& [order, id] : table_.pending_)
    if (table_.find(id)->rests_until <= run_time_)
      return id;
  return std::nullopt;
}

std::optional<TrialId> TrialTable::View::first_paused() const {
  if (table_.paused_.empty())
    return std::nullopt;
  return table_.paused_.begin()->second;
}

bool TrialTable::View::is_pending(TrialId trial) const {
  const Trial* found = table_.find(trial);
  return found != nullptr && found->row.state == TrialState::pending &&
         found->rests_until <= run_time_;
}

bool TrialTable::View::is_paused(TrialId trial) const {
  const Trial* found = table_.find(trial);
  return found != nullptr && found->row.state == TrialState::paused;
}

void TrialTable::rebuild() {
  pending_.clear();
  paused_.clear();
  orphans_.clear();
  running_ = 0;
  for (auto& [id, trial] : trials_) {
    if (trial.row.state == TrialState::running)
      ++running_;
    if (Queue* queue = queue_of(trial))
      queue->emplace(trial.order, id);
  }
}

}  // namespace troupe::tune::detail
