#include <troupe/actors/detail/side_thread.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include <pthread.h>

namespace troupe::detail {

/// Outlives its owner while a task runs.
struct SideThread::Shared {
  struct Task {
    std::function<void()> run;
    std::function<void()> then;
  };

  std::string name;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Task> waiting;
  bool started = false;
  bool busy = false;
  bool stop = false;

  void work() {
    ::pthread_setname_np(::pthread_self(), name.c_str());
    for (;;) {
      Task task;  // goes without the lock: it may hold the owner
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return stop || !waiting.empty(); });
        if (stop)
          return;
        task = std::move(waiting.front());
        waiting.pop_front();
        busy = true;
      }
      task.run();
      {
        const std::lock_guard lock(mutex);
        busy = false;
        if (stop)
          return;
        task.then();
      }
      changed.notify_all();
    }
  }
};

SideThread::SideThread(std::string name) : shared_(std::make_shared<Shared>()) {
  shared_->name = std::move(name);
}

SideThread::~SideThread() {
  std::deque<Shared::Task> dropped;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stop = true;
    dropped.swap(shared_->waiting);
  }
  shared_->changed.notify_all();
}

void SideThread::post(std::function<void()> task, std::function<void()> then) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->waiting.push_back({std::move(task), std::move(then)});
    if (!std::exchange(shared_->started, true))
      std::thread([shared = shared_] { shared->work(); }).detach();
  }
  shared_->changed.notify_all();
}

bool SideThread::drain(Duration timeout) {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, timeout,
                                   [this] { return shared_->waiting.empty() && !shared_->busy; });
}

}  // namespace troupe::detail
