#include <troupe/base/log.hpp>
#include <troupe/runtime/process/detail/child_process.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::detail {

namespace {

// waitid as the kernel has it: with the resources used, which glibc's wrapper leaves out.
int wait_pidfd(int pidfd, siginfo_t& info, int options, rusage* usage) {
  info = {};
  long result = 0;
  do {
    result = ::syscall(SYS_waitid, P_PIDFD, pidfd, &info, options, usage);
  } while (result < 0 && errno == EINTR);
  return result < 0 ? errno : 0;
}

Duration to_duration(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

template <class Callback, class... Args>
void call(const char* what, pid_t pid, const Callback& callback, const Args&... args) {
  if (!callback)
    return;
  try {
    callback(args...);
  } catch (const std::exception& error) {
    log::error("a callback about a process threw",
               {{"callback", what}, {"pid", static_cast<int64_t>(pid)}, {"error", error.what()}});
  }
}

}  // namespace

Waker::Waker() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_)
    throw Exception(errno_error(errno, "cannot watch processes: eventfd"));
}

void Waker::wake() {
  const uint64_t one = 1;
  // The only failure is a full counter, and then the thread is awake already.
  (void)!::write(event_.get(), &one, sizeof one);
}

void Waker::clear() {
  uint64_t count = 0;
  (void)!::read(event_.get(), &count, sizeof count);
}

ChildProcess::ChildProcess(pid_t pid, FileDescriptor pidfd, FileDescriptor socket,
                           std::unique_ptr<OutputCapture> output, ProcessEvents events,
                           std::shared_ptr<Waker> waker)
    : pid_(pid),
      events_(std::move(events)),
      waker_(std::move(waker)),
      output_(std::move(output)),
      pidfd_(std::move(pidfd)),
      socket_(std::move(socket)) {}

FileDescriptor ChildProcess::take_socket() {
  const std::lock_guard lock(mutex_);
  return std::move(socket_);
}

void ChildProcess::signal_group_locked(int signal) {
  // A child that made a group of its own (setsid) is not in ours any more.
  const bool group_left = ::kill(-pid_, signal) != 0;
  if (group_left || signal == SIGKILL)
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0U);
}

void ChildProcess::kill_locked() {
  update_stopped_locked();
  stopped_when_killed_ = stopped_by_;
  requested_signal_ = SIGKILL;
  kill_at_ = TimePoint::never();
  signal_group_locked(SIGKILL);
}

void ChildProcess::terminate(Duration grace) {
  {
    const std::lock_guard lock(mutex_);
    if (reaped_ || requested_signal_ == SIGKILL)
      return;
    if (grace <= Duration::zero())
      return kill_locked();
    requested_signal_ = SIGTERM;
    kill_at_ = std::min(kill_at_, real_clock().now() + grace);
    signal_group_locked(SIGTERM);
    signal_group_locked(SIGCONT);
  }
  waker_->wake();
}

bool ChildProcess::send_signal(int signal) {
  const std::lock_guard lock(mutex_);
  return !reaped_ && ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0U) == 0;
}

std::optional<ExitStatus> ChildProcess::exit_status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

Result<ExitStatus> ChildProcess::wait(Duration timeout) const {
  std::unique_lock lock(mutex_);
  const TimePoint deadline = real_clock().now() + timeout;
  while (!reported_) {
    const Duration left = deadline - real_clock().now();
    if (left <= Duration::zero()) {
      return Error(ErrorCode::deadline_exceeded,
                   "process " + std::to_string(pid_) + " has not ended in the time given");
    }
    // A day at a time: the condition variable computes absolute times, which may overflow.
    exited_.wait_for(lock, std::min<Duration>(left, std::chrono::hours(24)));
  }
  return *status_;
}

bool ChildProcess::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_by_ != 0;
}

TimePoint ChildProcess::kill_at() const {
  const std::lock_guard lock(mutex_);
  return kill_at_;
}

void ChildProcess::kill_if_due(TimePoint now) {
  const std::lock_guard lock(mutex_);
  if (!reaped_ && kill_at_ <= now)
    kill_locked();
}

void ChildProcess::update_stopped_locked() {
  if (reaped_)
    return;
  // Several changes may have happened; the kernel keeps only the last one of each kind.
  for (int i = 0; i < 4; ++i) {
    siginfo_t info;
    if (wait_pidfd(pidfd_.get(), info, WSTOPPED | WCONTINUED | WNOHANG, nullptr) != 0 ||
        info.si_pid == 0) {
      return;
    }
    stopped_by_ = info.si_code == CLD_STOPPED ? info.si_status : 0;
  }
}

void ChildProcess::poll_stopped() {
  int before = 0;
  int after = 0;
  {
    const std::lock_guard lock(mutex_);
    before = stopped_by_;
    update_stopped_locked();
    after = stopped_by_;
  }
  if (before != after)
    call("on_stop", pid_, events_.on_stop, after);
}

bool ChildProcess::try_reap() {
  const std::lock_guard lock(mutex_);
  siginfo_t info;
  int error = wait_pidfd(pidfd_.get(), info, WEXITED | WNOHANG | WNOWAIT, nullptr);
  if (error == 0 && info.si_pid == 0)
    return false;
  ExitStatus status;
  rusage usage{};
  if (error == 0) {
    ::kill(-pid_, SIGKILL);
    error = wait_pidfd(pidfd_.get(), info, WEXITED | WNOHANG, &usage);
  }
  if (error != 0) {
    status.unknown = true;
  } else {
    if (info.si_code == CLD_EXITED) {
      status.exit_code = info.si_status;
    } else {
      status.signal = info.si_status;
      status.core_dumped = info.si_code == CLD_DUMPED;
      status.requested = status.signal == requested_signal_;
      if (status.signal == SIGKILL)
        status.stopped_by = stopped_when_killed_;
    }
    status.cpu_time = to_duration(usage.ru_utime) + to_duration(usage.ru_stime);
    status.max_rss_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  }
  reaped_ = true;
  stopped_by_ = 0;
  status_ = status;
  return true;
}

void ChildProcess::abandon() {
  const std::lock_guard lock(mutex_);
  reaped_ = true;
  status_ = ExitStatus{.unknown = true};
}

void ChildProcess::report_exit() {
  output_->finish();
  {
    // A handle may be kept for long; it needs no files any more.
    const std::lock_guard lock(mutex_);
    pidfd_.reset();
  }
  // What the callbacks hold must not live as long as a handle, which they may hold themselves.
  const ProcessEvents events = std::exchange(events_, {});
  call("on_exit", pid_, events.on_exit, *exit_status());
  {
    const std::lock_guard lock(mutex_);
    reported_ = true;
  }
  exited_.notify_all();
}

}  // namespace troupe::detail
