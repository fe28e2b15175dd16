// A child that does what its first argument says; see the table at the end.
#include <troupe/runtime/process/process.hpp>
#include <troupe/runtime/process/worker_process.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <new>
#include <string>
#include <vector>

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using Arguments = std::vector<std::string>;

[[noreturn]] void hang() {
  while (true)
    ::pause();
}

void say(int fd, const std::string& text) {
  if (::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    ::_exit(90);
}

// Reads one line from the socket; empty: the other side is gone.
std::string read_line(int fd) {
  std::string line;
  char c = 0;
  while (::read(fd, &c, 1) == 1 && c != '\n')
    line += c;
  return line;
}

int allocate(const Arguments& arguments) {
  const auto limit = std::stoull(arguments.at(0)) << 20;
  const auto set = troupe::limit_worker_memory(limit);
  if (!set)
    return 91;
  std::cout << "limit " << *set << std::endl;
  if (*set == 0)
    return 0;
  constexpr size_t block = size_t{1} << 20;
  std::vector<char*> blocks;
  blocks.reserve(4096);
  try {
    while (blocks.size() < 4096) {
      blocks.push_back(new char[block]);
      std::memset(blocks.back(), 1, block);
    }
  } catch (const std::bad_alloc&) {
    std::cout << "bad_alloc after " << blocks.size() << std::endl;
    return 0;
  }
  return 92;
}

int spam(const Arguments& arguments) {
  const size_t bytes = std::stoull(arguments.at(0)) << 20;
  const std::string line = std::string(999, 'x') + '\n';
  for (size_t written = 0; written < bytes; written += line.size())
    say(written % 2 == 0 ? 1 : 2, line);
  say(1, "the end\n");
  return 0;
}

// Starts processes that hang, says their numbers on the socket, and ends.
int leave_children(const Arguments& arguments) {
  for (int i = 0; i < std::stoi(arguments.at(0)); ++i) {
    const pid_t pid = ::fork();
    if (pid == 0)
      hang();
    say(3, std::to_string(pid) + '\n');
  }
  read_line(3);
  return 0;
}

// Leaves a process behind that is in a session of its own and keeps writing.
int leave_writer(const Arguments&) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setsid();
    ::signal(SIGPIPE, SIG_DFL);
    while (true)
      say(1, "still here\n");
  }
  say(3, std::to_string(pid) + '\n');
  read_line(3);
  return 0;
}

int list_files(const Arguments&) {
  DIR* folder = ::opendir("/proc/self/fd");
  std::string text;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string name = entry->d_name;
    if (name[0] != '.' && name != std::to_string(::dirfd(folder)))
      text += name + ' ';
  }
  ::closedir(folder);
  std::cout << text << std::endl;
  return 0;
}

int show_signals(const Arguments&) {
  sigset_t mask;
  ::sigprocmask(SIG_BLOCK, nullptr, &mask);
  int blocked = 0;
  int ignored = 0;
  for (int signal = 1; signal < 32; ++signal) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    blocked += ::sigismember(&mask, signal);
    ignored += action.sa_handler == SIG_IGN ? 1 : 0;
  }
  std::cout << "blocked " << blocked << " ignored " << ignored << " group "
            << (::getpgrp() == ::getpid() ? "own" : "other") << std::endl;
  return 0;
}

// Obeys lines from the socket and answers each with a line.
int obey(const Arguments&) {
  while (true) {
    const std::string line = read_line(3);
    if (line.empty())
      return 0;
    const std::string word = line.substr(0, 4);
    if (word == "out ")
      say(1, line.substr(4) + '\n');
    if (word == "err ")
      say(2, line.substr(4) + '\n');
    if (word == "exit")
      return std::stoi(line.substr(5));
    say(3, "done\n");
  }
}

// A worker with one child of its own; says both numbers on its output. `how`: "plain", "deaf" (all
// that could be blocked or replaced is), "stopped".
int worker(const Arguments& arguments) {
  const auto socket = troupe::become_worker_process();
  if (!socket) {
    std::cout << socket.error().message() << std::endl;
    return 93;
  }
  const std::string& how = arguments.at(0);
  const pid_t pid = ::fork();
  if (pid == 0)
    hang();
  if (how == "deaf") {
    ::signal(SIGHUP, SIG_IGN);
    ::prctl(PR_SET_PDEATHSIG, 0);
  }
  say(*socket, std::to_string(::getpid()) + ' ' + std::to_string(pid) + '\n');
  if (how == "stopped")
    ::raise(SIGSTOP);
  hang();
}

// Stands for the program of a user: starts a worker, passes its numbers on, and hangs.
int driver(const Arguments& arguments) {
  troupe::ProcessSpawner spawner;
  auto child =
      spawner.spawn({.arguments = {"worker", arguments.at(0)}, .socket = true}).value_or_throw();
  const troupe::FileDescriptor socket = child.take_socket();
  say(3, read_line(socket.get()) + '\n');
  hang();
}

int ignore_term(const Arguments&) {
  ::signal(SIGTERM, SIG_IGN);
  say(3, "ready\n");
  hang();
}

int stop_itself(const Arguments&) {
  ::raise(SIGSTOP);
  return 7;
}

int segfault(const Arguments&) {
  // Sanitizers take this signal for themselves.
  ::signal(SIGSEGV, SIG_DFL);
  ::raise(SIGSEGV);
  return 0;
}

const std::map<std::string, std::function<int(const Arguments&)>> modes{
    {"exit", [](const Arguments& a) { return std::stoi(a.at(0)); }},
    {"abort", [](const Arguments&) -> int { std::abort(); }},
    {"segv", segfault},
    {"hang", [](const Arguments&) -> int { hang(); }},
    {"stop", stop_itself},
    {"allocate", allocate},
    {"spam", spam},
    {"leave_children", leave_children},
    {"leave_writer", leave_writer},
    {"ignore_term", ignore_term},
    {"files", list_files},
    {"signals", show_signals},
    {"obey", obey},
    {"worker", worker},
    {"driver", driver},
    {"variable",
     [](const Arguments& a) {
       const char* value = std::getenv(a.at(0).c_str());
       std::cout << (value != nullptr ? value : "(not set)") << std::endl;
       return 0;
     }},
    {"arguments",
     [](const Arguments& a) {
       for (const std::string& text : a)
         std::cout << '[' << text << ']';
       std::cout << std::endl;
       return 0;
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const rlimit no_core_files{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core_files);
  const auto mode = argc > 1 ? modes.find(argv[1]) : modes.end();
  if (mode == modes.end()) {
    std::cerr << "usage: child_process <mode> [argument]...\n";
    return 2;
  }
  return mode->second(Arguments(argv + 2, argv + argc));
}
