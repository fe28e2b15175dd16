#pragma once

#include <troupe/base/error.hpp>
#include <troupe/base/file.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::testing {

/// A program of the build, started with its output in files. Killed when it is let go.
class Program {
public:
  /// `name` lies beside the test's executable.
  Program(const std::string& name, std::vector<std::string> arguments,
          const std::filesystem::path& out, const std::filesystem::path& err) {
    const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    arguments.insert(arguments.begin(), (folder / name).string());
    std::vector<char*> argv;
    for (std::string& argument : arguments)
      argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    constexpr int flags = O_WRONLY | O_CREAT | O_APPEND;
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), flags, 0644);
    ::posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), flags, 0644);
    const int failed = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
      throw Exception(errno_error(failed, argv[0]));
  }
  ~Program() {
    if (pid_ <= 0)
      return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }

  /// True once it has ended; its status is kept.
  [[nodiscard]] bool ended() {
    if (pid_ <= 0)
      return true;
    if (::waitpid(pid_, &status_, WNOHANG) != pid_)
      return false;
    pid_ = 0;
    return true;
  }

  /// The status of waitpid.
  int wait() {
    if (pid_ > 0)
      ::waitpid(pid_, &status_, 0);
    pid_ = 0;
    return status_;
  }

private:
  pid_t pid_ = 0;
  int status_ = 0;
};

/// What a program that ran to its end left behind.
struct ProgramResult {
  int exit_status = -1;  ///< -1: ended by a signal
  std::string out;
  std::string err;
};

inline ProgramResult run_program(const std::string& name, std::vector<std::string> arguments,
                                 const std::filesystem::path& scratch) {
  const auto out = scratch / "program.out";
  const auto err = scratch / "program.err";
  std::filesystem::remove(out);
  std::filesystem::remove(err);
  Program program(name, std::move(arguments), out, err);
  const int status = program.wait();
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out, 16 << 20).value_or_throw(),
          read_file(err, 16 << 20).value_or_throw()};
}

}  // namespace troupe::testing
