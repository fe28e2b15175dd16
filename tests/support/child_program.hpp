#pragma once

#include <troupe/base/clock.hpp>
#include <troupe/base/file.hpp>
#include <troupe/runtime/process/process.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/eventually.hpp"

namespace troupe::testing {

/// tests/support/child_process.cpp, told what to do.
inline ProcessSpec child_program(std::vector<std::string> arguments) {
  ProcessSpec spec;
  spec.executable = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "child_process";
  spec.arguments = std::move(arguments);
  return spec;
}

/// The same with its socket connected.
inline ProcessSpec child_with_socket(std::vector<std::string> arguments) {
  ProcessSpec spec = child_program(std::move(arguments));
  spec.socket = true;
  return spec;
}

inline void send_line(const FileDescriptor& socket, const std::string& line) {
  write_all(socket.get(), line + '\n', "the child's socket").value_or_throw();
}

/// The next line; throws when none comes.
inline std::string receive_line(const FileDescriptor& socket) {
  std::string line;
  while (true) {
    pollfd event{socket.get(), POLLIN, 0};
    if (::poll(&event, 1, 60'000) != 1)
      throw Exception(ErrorCode::deadline_exceeded, "the child says nothing");
    const std::string byte = read_up_to(socket.get(), 1, "the child's socket").value_or_throw();
    if (byte.empty())
      throw Exception(ErrorCode::unavailable, "the child is gone; it said: " + line);
    if (byte == "\n")
      return line;
    line += byte;
  }
}

/// Whether every thread of a process is stopped.
inline bool is_stopped(pid_t pid) {
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    const auto text = read_file(task.path() / "stat", 4096);
    const size_t bracket = text ? text->rfind(") ") : std::string::npos;
    if (bracket == std::string::npos || text->at(bracket + 2) != 'T')
      return false;
  }
  return true;
}

/// Watches a process that need not be our child. Made while it lives.
class ProcessWatch {
public:
  explicit ProcessWatch(pid_t pid) : pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U))) {
    if (!pidfd_)
      throw Exception(errno_error(errno, "pidfd_open"));
  }
  /// Waits for its end; false: it lives on.
  bool ended(int timeout_ms = 60'000) const {
    pollfd event{pidfd_.get(), POLLIN, 0};
    return ::poll(&event, 1, timeout_ms) == 1;
  }

private:
  FileDescriptor pidfd_;
};

}  // namespace troupe::testing
