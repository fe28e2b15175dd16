#include <troupe/base/limits.hpp>
#include <troupe/runtime/process/detail/output_text.hpp>
#include <troupe/runtime/process/exit_status.hpp>

#include <cctype>

#include <signal.h>
#include <string.h>

namespace troupe {

namespace {

std::string describe_signal(const ExitStatus& status) {
  if (status.signal == SIGKILL && status.stopped_by != 0) {
    return "process was stopped (" + signal_name(status.stopped_by) + ") and did not continue";
  }
  if (status.requested)
    return "was ended on request (" + signal_name(status.signal) + ")";
  if (status.killed_from_outside()) {
    return "killed by " + signal_name(status.signal) + " from outside: " +
           (status.signal == SIGKILL ? "an operator or the kernel's out-of-memory killer"
                                     : "an operator or a service manager");
  }
  std::string text =
      "killed by " + signal_name(status.signal) + " (signal " + std::to_string(status.signal);
  if (const char* description = sigdescr_np(status.signal)) {
    std::string words = description;
    // "Segmentation fault" is in the middle of a sentence here; "CPU time limit" stays as it is.
    if (words.size() > 1 && std::islower(static_cast<unsigned char>(words[1]))) {
      words[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
    }
    text += ": " + words;
  }
  return text + ')';
}

}  // namespace

bool ExitStatus::killed_from_outside() const {
  const bool to_end =
      signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
  return to_end && !requested;
}

std::string describe_exit(const ExitStatus& status) {
  if (status.unknown) {
    return "ended, but its exit status is lost: this program ignores SIGCHLD or waits for "
           "children that it did not start";
  }
  if (status.signal != 0)
    return describe_signal(status);
  return "called exit(" + std::to_string(status.exit_code) + ')';
}

std::string describe_exit(const ExitStatus& status, std::string_view output_tail) {
  std::string text = describe_exit(status);
  // Half of what an error may hold: the rest is for what others put around it.
  const std::string lines =
      detail::indent_last_lines(output_tail, limits::max_error_message_bytes / 2);
  if (lines.empty())
    return text + "; it printed nothing";
  return text + "; last output:\n" + lines;
}

std::string signal_name(int signal) {
  if (const char* name = sigabbrev_np(signal))
    return std::string("SIG") + name;
  return "signal " + std::to_string(signal);
}

}  // namespace troupe
