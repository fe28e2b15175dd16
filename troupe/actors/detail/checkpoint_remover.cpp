#include <troupe/actors/detail/checkpoint_remover.hpp>
#include <troupe/base/log.hpp>
#include <troupe/runtime/storage/checkpoint_store.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace troupe::detail {

/// Outlives the remover while a removal runs.
struct CheckpointRemover::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<DeleteCheckpoint> orders;
  bool started = false;
  bool busy = false;
  bool stop = false;

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return stop || !orders.empty(); });
      if (stop)
        return;
      const DeleteCheckpoint order = std::move(orders.front());
      orders.pop_front();
      busy = true;
      lock.unlock();
      const Status removed = delete_checkpoint(order.trial_dir, order.checkpoint);
      lock.lock();
      busy = false;
      if (!removed && !stop)
        log::warning("a checkpoint that is not kept could not be removed",
                     {{"trial", order.trial}, {"error", removed.error()}});
      changed.notify_all();
    }
  }
};

CheckpointRemover::CheckpointRemover() : shared_(std::make_shared<Shared>()) {}

CheckpointRemover::~CheckpointRemover() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stop = true;
    shared_->orders.clear();
  }
  shared_->changed.notify_all();
}

void CheckpointRemover::post(DeleteCheckpoint order) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->orders.push_back(std::move(order));
    if (!std::exchange(shared_->started, true))
      std::thread([shared = shared_] { shared->work(); }).detach();
  }
  shared_->changed.notify_all();
}

bool CheckpointRemover::drain(Duration timeout) {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, timeout,
                                   [this] { return shared_->orders.empty() && !shared_->busy; });
}

}  // namespace troupe::detail
