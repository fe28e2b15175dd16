#include <troupe/actors/detail/checkpoint_remover.hpp>
#include <troupe/base/log.hpp>
#include <troupe/runtime/storage/checkpoint_store.hpp>

#include <utility>

namespace troupe::detail {

CheckpointRemover::~CheckpointRemover() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

void CheckpointRemover::post(DeleteCheckpoint order) {
  {
    const std::lock_guard lock(mutex_);
    orders_.push_back(std::move(order));
    if (!thread_.joinable())
      thread_ = std::thread([this] { work(); });
  }
  changed_.notify_all();
}

bool CheckpointRemover::drain(Duration timeout) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [this] { return orders_.empty() && !busy_; });
}

void CheckpointRemover::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !orders_.empty(); });
    if (stop_)
      return;
    const DeleteCheckpoint order = std::move(orders_.front());
    orders_.pop_front();
    busy_ = true;
    lock.unlock();
    if (const Status removed = delete_checkpoint(order.trial_dir, order.checkpoint); !removed) {
      log::warning("a checkpoint that is not kept could not be removed",
                   {{"trial", order.trial}, {"error", removed.error()}});
    }
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace troupe::detail
