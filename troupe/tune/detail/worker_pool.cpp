#include <troupe/tune/detail/worker_pool.hpp>

namespace troupe::tune::detail {

const WorkerPool::Worker* WorkerPool::find(WorkerId id) const {
  const auto found = workers_.find(id);
  return found != workers_.end() ? &found->second : nullptr;
}

std::optional<WorkerId> WorkerPool::find_idle(const ResourceRequest& resources) const {
  for (const WorkerId id : idle_)
    if (workers_.at(id).resources == resources)
      return id;
  return std::nullopt;
}

void WorkerPool::start(WorkerId id, const ResourceRequest& resources, TrialId trial) {
  workers_[id] = {resources, trial};
  next_ = id.next();
}

void WorkerPool::assign(WorkerId id, TrialId trial) {
  idle_.erase(id);
  workers_.at(id).trial = trial;
}

void WorkerPool::release(WorkerId id) {
  const auto found = workers_.find(id);
  if (found == workers_.end())
    return;
  found->second.trial.reset();
  idle_.insert(id);
}

void WorkerPool::let_go(WorkerId id) {
  if (workers_.erase(id) == 0)
    return;
  idle_.erase(id);
  leaving_.insert(id);
}

void WorkerPool::exited(WorkerId id) {
  workers_.erase(id);
  idle_.erase(id);
  leaving_.erase(id);
}

void WorkerPool::forget_all() {
  workers_.clear();
  idle_.clear();
  leaving_.clear();
}

}  // namespace troupe::tune::detail
