#pragma once

#include <troupe/base/clock.hpp>
#include <troupe/base/file.hpp>
#include <troupe/base/result.hpp>
#include <troupe/runtime/process/exit_status.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

/// Child processes: started by exec, watched through a pidfd, their output always drained, reaped
/// as soon as they end, and never outliving the process that started them.
namespace troupe {

/// The child's end of its socket; see `ProcessSpec::socket`.
inline constexpr int child_socket_fd = 3;
/// Names the process that started a child, in the child's environment.
inline constexpr const char* parent_pid_variable = "TROUPE_PARENT_PID";

/// What to start. The child gets a process group of its own, default signal handling, an empty
/// signal mask, /dev/null as stdin, one pipe as stdout and stderr, and no other open file.
struct ProcessSpec {
  std::filesystem::path executable = "/proc/self/exe";  ///< not searched in PATH
  std::vector<std::string> arguments{};                 ///< without argv[0]
  std::string name{};  ///< argv[0]; empty: this program's for /proc/self/exe, else `executable`

  /// Added to (and replacing entries of) the environment this process had when the spawner was
  /// made.
  std::vector<std::pair<std::string, std::string>> environment{};

  bool socket = false;         ///< connect fd 3 of the child with `Process::take_socket`
  std::vector<int> inherit{};  ///< files of this process that the child sees as fd 4, 5, ...

  std::filesystem::path log_file{};  ///< first log file; empty: none. See `Process::set_log_file`
  uint64_t log_limit_bytes = 0;
};

/// Called on the spawner's thread: return quickly, never wait. They may use every `Process` method
/// but `wait`, and may run before `spawn` has returned.
struct ProcessEvents {
  /// It ended and is reaped, its group is killed and its output is complete. Called exactly once.
  std::function<void(const ExitStatus&)> on_exit{};
  /// It was stopped by the signal `stopped_by` (SIGSTOP, a debugger), or goes on (0). Noticed
  /// within `process_stop_poll`.
  std::function<void(int stopped_by)> on_stop{};
};

/// How long a stop or continuation of a child may go unnoticed.
inline constexpr Duration process_stop_poll = std::chrono::milliseconds(500);

namespace detail {
class ChildProcess;
}

/// A started child. A handle: copies name the same child; letting go of all of them does not end
/// it. Valid as long as anybody holds it, also after the spawner is gone. Every method may be
/// called from any thread, but none on an empty handle.
class Process {
public:
  Process() = default;
  explicit Process(std::shared_ptr<detail::ChildProcess> child) : child_(std::move(child)) {}
  explicit operator bool() const { return child_ != nullptr; }

  pid_t pid() const;

  /// Our end of the socket pair: a connected, blocking, close-on-exec stream socket that reads as
  /// ended when the child dies. Invalid when there is none or it was taken already.
  FileDescriptor take_socket();

  /// Asks it to end (SIGTERM to the whole group, continued if stopped), and kills the group when
  /// it is not gone after `grace`. Returns at once. Called again, the earlier end counts.
  void terminate(Duration grace);
  /// SIGKILL to the whole group, now.
  void kill() { terminate(Duration::zero()); }
  /// Any signal, to the child alone. False when it has ended.
  bool send_signal(int signal);

  /// The exit status once it is reaped.
  std::optional<ExitStatus> exit_status() const;
  /// Waits until it is reaped and `on_exit` has returned. Errors: deadline_exceeded.
  Result<ExitStatus> wait(Duration timeout) const;
  /// True while it is stopped, as far as noticed.
  bool stopped() const;

  /// From now on output goes to the end of `path` (made if missing; empty: nowhere) until the file
  /// holds `limit_bytes` (0: no limit); then one line says so and the rest is dropped. What the
  /// child wrote before the call still goes where it belonged, and the tail starts anew. On an
  /// error nothing is changed.
  Status set_log_file(const std::filesystem::path& path, uint64_t limit_bytes);

  /// The last `limits::max_output_tail_bytes` of output (stdout and stderr in order of writing),
  /// from the start of a line, as valid UTF-8 without control characters.
  std::string output_tail() const;

private:
  std::shared_ptr<detail::ChildProcess> child_;
};

/// Starts processes and watches over them with one thread.
///
/// That thread is the parent that PR_SET_PDEATHSIG of the children is bound to: make one spawner
/// and keep it as long as there are children. Destroying it kills all of them with their groups,
/// reports their exits, and returns within `shutdown_limit`.
/// A program that ignores SIGCHLD or waits for children it does not know (`wait(-1)`) takes the
/// exit status away; the end is noticed all the same.
class ProcessSpawner {
public:
  static constexpr Duration shutdown_limit = std::chrono::seconds(10);

  /// Throws Exception (resource_exhausted, io) when the kernel refuses a thread or a file.
  ProcessSpawner();
  ~ProcessSpawner();
  ProcessSpawner(const ProcessSpawner&) = delete;
  ProcessSpawner& operator=(const ProcessSpawner&) = delete;

  /// Starts a process; takes about a millisecond. Errors: not_found (no such executable),
  /// resource_exhausted (files, processes, memory), invalid_argument, io; deadline_exceeded when
  /// the kernel takes longer than 30 s (should the child come up later, it is killed).
  Result<Process> spawn(ProcessSpec spec, ProcessEvents events = {});

  /// How many children are not reaped yet.
  size_t running() const;

private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe
