#pragma once

#include <troupe/base/clock.hpp>
#include <troupe/base/file.hpp>
#include <troupe/runtime/process/detail/output_capture.hpp>
#include <troupe/runtime/process/process.hpp>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include <sys/types.h>

namespace troupe::detail {

/// Wakes the thread of a spawner; outlives it, so that handles need not care.
class Waker {
public:
  /// Throws Exception when there is no descriptor left.
  Waker();
  void wake();
  /// Takes note of all wakes so far.
  void clear();
  int fd() const { return event_.get(); }

private:
  FileDescriptor event_;
};

/// One child, shared between the spawner's thread and the handles.
///
/// Signals are sent under the mutex and only while the child is not reaped: until then its process
/// id and its group id cannot name anybody else.
class ChildProcess {
public:
  ChildProcess(pid_t pid, FileDescriptor pidfd, FileDescriptor socket,
               std::unique_ptr<OutputCapture> output, ProcessEvents events,
               std::shared_ptr<Waker> waker);

  // -- any thread
  pid_t pid() const { return pid_; }
  FileDescriptor take_socket();
  void terminate(Duration grace);
  bool send_signal(int signal);
  std::optional<ExitStatus> exit_status() const;
  Result<ExitStatus> wait(Duration timeout) const;
  bool stopped() const;
  OutputCapture& output() { return *output_; }

  // -- the spawner's thread
  /// For epoll; -1 once the exit is reported.
  int pidfd() const { return pidfd_.get(); }
  /// When the group is to be killed; never: not asked.
  TimePoint kill_at() const;
  /// Kills the group when it is time.
  void kill_if_due(TimePoint now);
  /// Looks for a stop or continuation and reports it.
  void poll_stopped();
  /// If it has ended: kills what is left of its group, then reaps it. The order matters: the dead
  /// leader keeps the group's number from being used again.
  bool try_reap();
  /// Gives up on a child that does not die (a hung disk): its status stays unknown.
  void abandon();
  /// Completes the output and tells everybody. After `try_reap` or `abandon`.
  void report_exit();

private:
  void signal_group_locked(int signal);
  void update_stopped_locked();
  void kill_locked();

  const pid_t pid_;
  ProcessEvents events_;  ///< only the spawner's thread; let go with the last call
  const std::shared_ptr<Waker> waker_;
  const std::unique_ptr<OutputCapture> output_;

  mutable std::mutex mutex_;
  mutable std::condition_variable exited_;
  FileDescriptor pidfd_;  ///< until it is reaped
  FileDescriptor socket_;
  TimePoint kill_at_ = TimePoint::never();
  int requested_signal_ = 0;  ///< the strongest that we sent
  int stopped_by_ = 0;
  int stopped_when_killed_ = 0;
  bool reaped_ = false;
  bool reported_ = false;
  std::optional<ExitStatus> status_;
};

}  // namespace troupe::detail
