#include <troupe/actors/detail/computer.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include <pthread.h>

namespace troupe::detail {

/// Outlives the computer while a computation runs.
struct Computer::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::pair<std::shared_ptr<Computation>, Done>> waiting;
  bool started = false;
  bool stop = false;

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return stop || !waiting.empty(); });
      if (stop)
        return;
      auto [computation, done] = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      computation->run();
      lock.lock();
      if (stop)
        return;
      done(std::move(computation));
    }
  }
};

Computer::Computer() : shared_(std::make_shared<Shared>()) {}

Computer::~Computer() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stop = true;
    shared_->waiting.clear();
  }
  shared_->changed.notify_all();
}

void Computer::post(std::shared_ptr<Computation> computation, Done done) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->waiting.emplace_back(std::move(computation), std::move(done));
    if (!std::exchange(shared_->started, true))
      std::thread([shared = shared_] {
        ::pthread_setname_np(::pthread_self(), "troupe-search");
        shared->work();
      }).detach();
  }
  shared_->changed.notify_all();
}

}  // namespace troupe::detail
