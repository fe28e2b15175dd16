#include <troupe/base/limits.hpp>
#include <troupe/base/log.hpp>
#include <troupe/runtime/process/detail/reactor.hpp>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <system_error>
#include <vector>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::detail {

namespace {

constexpr Duration start_limit = std::chrono::seconds(30);
// What one child may have read at a stretch while others wait.
constexpr size_t drain_bytes = 256 * limits::kib;

// What an epoll event is about: the child's number and which of its two files. 0: the waker.
constexpr uint64_t exit_tag(uint64_t id) {
  return id * 2;
}
constexpr uint64_t output_tag(uint64_t id) {
  return id * 2 + 1;
}

// The program's signals are for the program's threads.
class BlockedSignals {
public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGPROF})
      ::sigdelset(&all, fault);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

private:
  sigset_t before_{};
};

}  // namespace

struct Reactor::Pending {
  StartRequest request;
  std::mutex mutex;
  std::condition_variable done;
  std::optional<Started> started;
  bool abandoned = false;  ///< nobody waits any more
};

Reactor::Reactor() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_)
    throw Exception(errno_error(errno, "cannot watch processes: epoll"));
  watch(waker_->fd(), 0, 0).value_or_throw();
  const BlockedSignals blocked;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    throw Exception(ErrorCode::resource_exhausted,
                    std::string("cannot start the thread that watches processes: ") + error.what());
  }
}

Status Reactor::watch(int fd, uint64_t tag, uint32_t mode) {
  epoll_event event{};
  event.events = EPOLLIN | mode;
  event.data.u64 = tag;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return errno_error(errno, "cannot watch a process: epoll_ctl");
  return ok();
}

Reactor::Started Reactor::start(StartRequest request) {
  const bool on_own_thread = std::this_thread::get_id() == thread_.get_id();
  const std::string executable = request.prepared.executable;
  const auto pending = std::make_shared<Pending>();
  pending->request = std::move(request);
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      return Error(ErrorCode::failed_precondition,
                   "cannot start a process: this program is shutting down");
    }
    if (!on_own_thread)
      requests_.push_back(pending);
  }
  if (on_own_thread)
    return start_now(std::move(pending->request));
  waker_->wake();
  std::unique_lock lock(pending->mutex);
  if (!pending->done.wait_for(lock, start_limit, [&] { return pending->started.has_value(); })) {
    pending->abandoned = true;
    return Error(ErrorCode::deadline_exceeded,
                 "cannot start " + executable +
                     ": the kernel did not answer within 30 s (is its disk reachable?)");
  }
  return *std::move(pending->started);
}

void Reactor::run_requests() {
  for (;;) {
    std::shared_ptr<Pending> pending;
    {
      const std::lock_guard lock(mutex_);
      if (requests_.empty())
        return;
      pending = std::move(requests_.front());
      requests_.pop_front();
    }
    Started started = start_now(std::move(pending->request));
    const std::lock_guard lock(pending->mutex);
    if (pending->abandoned) {
      if (started)
        (*started)->terminate(Duration::zero());
    } else {
      pending->started = std::move(started);
      pending->done.notify_all();
    }
  }
}

Reactor::Started Reactor::start_now(StartRequest request) {
  TROUPE_TRY(pid, spawn_prepared(request.prepared));
  // Closing the child's ends is what makes our ends see its end.
  request.prepared = {};
  FileDescriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
  const uint64_t id = next_id_++;
  // Once only: a debugger may keep an ended child from being reaped, and we must not spin then.
  Status watched = pidfd ? watch(pidfd.get(), exit_tag(id), EPOLLET)
                         : Status(errno_error(errno, "cannot watch a process: pidfd_open"));
  if (watched)
    watched = watch(request.output->fd(), output_tag(id), 0);
  if (!watched) {
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return std::move(watched).error();
  }
  auto child =
      std::make_shared<ChildProcess>(pid, std::move(pidfd), std::move(request.socket),
                                     std::move(request.output), std::move(request.events), waker_);
  children_.emplace(id, child);
  running_.store(children_.size());
  return child;
}

void Reactor::handle_exit(uint64_t id) {
  const auto found = children_.find(id);
  if (found == children_.end() || !found->second->try_reap())
    return;
  const std::shared_ptr<ChildProcess> child = std::move(found->second);
  children_.erase(found);
  running_.store(children_.size());
  // Explicitly: a process that some other thread is just forking may hold a copy.
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, child->pidfd(), nullptr);
  child->report_exit();
}

TimePoint Reactor::next_wake() const {
  if (children_.empty())
    return TimePoint::never();
  TimePoint next = std::min(next_stop_poll_, killed_all_ ? stop_deadline_ : TimePoint::never());
  for (const auto& [id, child] : children_)
    next = std::min(next, child->kill_at());
  return next;
}

void Reactor::wait_for_events() {
  int timeout_ms = -1;
  if (const TimePoint next = next_wake(); next != TimePoint::never()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - real_clock().now());
    timeout_ms = static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60'000));
  }
  std::array<epoll_event, 64> events;
  const int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  for (int i = 0; i < count; ++i) {
    const uint64_t tag = events[static_cast<size_t>(i)].data.u64;
    if (tag == 0) {
      waker_->clear();
    } else if (tag % 2 == 0) {
      handle_exit(tag / 2);
    } else if (const auto child = children_.find(tag / 2); child != children_.end()) {
      child->second->output().drain(drain_bytes);
    }
  }
}

void Reactor::keep_deadlines(TimePoint now) {
  for (const auto& [id, child] : children_)
    child->kill_if_due(now);
  if (now < next_stop_poll_)
    return;
  next_stop_poll_ = now + process_stop_poll;
  // Callbacks may start children, which changes the map.
  std::vector<std::pair<uint64_t, std::shared_ptr<ChildProcess>>> all(children_.begin(),
                                                                      children_.end());
  for (const auto& [id, child] : all) {
    child->poll_stopped();
    handle_exit(id);
  }
}

void Reactor::kill_all() {
  killed_all_ = true;
  for (const auto& [id, child] : children_)
    child->terminate(Duration::zero());
}

void Reactor::give_up() {
  for (auto& [id, child] : std::exchange(children_, {})) {
    log::error("a process does not die, probably its disk hangs; left behind",
               {{"pid", static_cast<int64_t>(child->pid())}});
    child->abandon();
    child->report_exit();
  }
  running_.store(0);
}

bool Reactor::done() {
  const std::lock_guard lock(mutex_);
  if (!stopping_ || !requests_.empty())
    return false;
  return children_.empty() || (killed_all_ && real_clock().now() >= stop_deadline_);
}

void Reactor::run() {
  ::pthread_setname_np(::pthread_self(), "troupe-process");
  while (!done()) {
    wait_for_events();
    run_requests();
    bool stopping = false;
    {
      const std::lock_guard lock(mutex_);
      stopping = stopping_;
    }
    if (stopping)
      kill_all();
    keep_deadlines(real_clock().now());
  }
  give_up();
}

void Reactor::shut_down(Duration limit) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      stopping_ = true;
      stop_deadline_ = real_clock().now() + limit;
    }
  }
  waker_->wake();
  if (thread_.joinable())
    thread_.join();
}

}  // namespace troupe::detail
