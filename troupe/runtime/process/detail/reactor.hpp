#pragma once

#include <troupe/base/clock.hpp>
#include <troupe/base/result.hpp>
#include <troupe/runtime/process/detail/child_process.hpp>
#include <troupe/runtime/process/detail/spawn.hpp>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace troupe::detail {

/// A child about to be started.
struct StartRequest {
  PreparedSpawn prepared;
  FileDescriptor socket;
  std::unique_ptr<OutputCapture> output;
  ProcessEvents events;
};

/// The thread that starts children, drains their output, reaps them and keeps their deadlines.
class Reactor {
public:
  using Started = Result<std::shared_ptr<ChildProcess>>;

  /// Throws Exception when the kernel refuses a thread or a descriptor.
  Reactor();
  ~Reactor() { shut_down(Duration::zero()); }
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  /// Any thread, also the reactor's own.
  Started start(StartRequest request);
  size_t running() const { return running_.load(); }
  /// Kills all children and ends the thread. Not on the reactor's thread. May be called again.
  void shut_down(Duration limit);

private:
  struct Pending;

  void run();
  void run_requests();
  void wait_for_events();
  void keep_deadlines(TimePoint now);
  TimePoint next_wake() const;
  Started start_now(StartRequest request);
  Status watch(int fd, uint64_t tag, uint32_t mode);
  void handle_exit(uint64_t id);
  void kill_all();
  void give_up();
  bool done();

  const std::shared_ptr<Waker> waker_ = std::make_shared<Waker>();
  FileDescriptor epoll_;
  std::atomic<size_t> running_{0};

  std::mutex mutex_;
  std::deque<std::shared_ptr<Pending>> requests_;
  bool stopping_ = false;
  TimePoint stop_deadline_ = TimePoint::never();

  // Only the thread itself touches these.
  std::unordered_map<uint64_t, std::shared_ptr<ChildProcess>> children_;
  uint64_t next_id_ = 1;
  TimePoint next_stop_poll_;
  bool killed_all_ = false;

  std::thread thread_;
};

}  // namespace troupe::detail
