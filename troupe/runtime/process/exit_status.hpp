#pragma once

#include <troupe/base/clock.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// How a child process ended, as a value and as a sentence.
namespace troupe {

/// Exactly one of these holds: `signal` is set, `unknown` is set, or it called exit(`exit_code`).
struct ExitStatus {
  int exit_code = 0;  ///< 0 to 255
  int signal = 0;     ///< the signal that ended it; 0: none
  bool core_dumped = false;
  bool unknown = false;        ///< somebody else reaped it, or the program ignores SIGCHLD
  bool requested = false;      ///< the ending signal was sent by `Process::terminate` or `kill`
  int stopped_by = 0;          ///< it was stopped by this signal when it was killed; 0: it ran
  Duration cpu_time{};         ///< user and system time, its reaped children included
  uint64_t max_rss_bytes = 0;  ///< largest resident set

  /// exit(0).
  bool success() const { return !unknown && signal == 0 && exit_code == 0; }

  /// SIGKILL, SIGTERM, SIGINT or SIGHUP that nobody here sent: an operator, a service manager or
  /// the kernel's out-of-memory killer. Counts as a failure of the infrastructure, not of user
  /// code.
  bool killed_from_outside() const;

  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};

/// "called exit(3)", "killed by SIGSEGV (signal 11: segmentation fault)",
/// "process was stopped (SIGSTOP) and did not continue", ...
std::string describe_exit(const ExitStatus& status);

/// The same, followed by the last lines of its output, indented. Not longer than
/// `limits::max_error_message_bytes`; the beginning of the output is what is cut.
std::string describe_exit(const ExitStatus& status, std::string_view output_tail);

/// "SIGSEGV" for 11; "signal 99" for a number without a name.
std::string signal_name(int signal);

}  // namespace troupe
