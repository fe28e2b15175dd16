#include <troupe/base/file.hpp>
#include <troupe/runtime/process/process.hpp>
#include <troupe/runtime/process/worker_process.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TROUPE_DETAIL_SHADOW_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TROUPE_DETAIL_SHADOW_MEMORY 1
#endif
#endif

namespace troupe {

namespace {

std::atomic<uint64_t> memory_limit{0};

void on_parent_death(int /*signal*/) {
  die_with_process_group();
}

// The second line of defence: user code may have blocked the signal or replaced its handler.
void* watch_parent(void* argument) {
  pollfd parent{};
  parent.fd = static_cast<int>(reinterpret_cast<intptr_t>(argument));
  parent.events = POLLIN;
  while (::poll(&parent, 1, -1) < 0 && (errno == EINTR || errno == EAGAIN)) {
  }
  die_with_process_group();
}

Status start_watching(int parent_pidfd) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  // It calls three functions; a full stack would count against the memory limit.
  ::pthread_attr_setstacksize(&attributes, size_t{256} * 1024);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_t thread{};
  const int error = ::pthread_create(&thread, &attributes, watch_parent,
                                     reinterpret_cast<void*>(intptr_t{parent_pidfd}));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  return error == 0 ? ok() : Status(errno_error(error, "cannot start the thread of a worker"));
}

// SIGHUP and not SIGKILL: the handler takes along what user code has started. The kernel also sends
// it, with a continuation, to a stopped group whose parent has died (one that stops at that very
// moment ends as soon as somebody continues it).
Status bind_to_parent(pid_t parent) {
  struct sigaction action {};
  action.sa_handler = on_parent_death;
  ::sigfillset(&action.sa_mask);
  if (::sigaction(SIGHUP, &action, nullptr) != 0 || ::prctl(PR_SET_PDEATHSIG, SIGHUP) != 0)
    return errno_error(errno, "cannot tie a worker to its parent");
  const auto pidfd = static_cast<int>(::syscall(SYS_pidfd_open, parent, 0U));
  // Only now is it sure: had the parent died before, we would have another one.
  if (::getppid() != parent) {
    return Error(ErrorCode::unavailable,
                 "the process that started this worker (" + std::to_string(parent) + ") is gone");
  }
  if (pidfd < 0)
    return errno_error(errno, "cannot watch the parent of a worker: pidfd_open");
  return start_watching(pidfd);
}

void on_stop_signal(int /*signal*/) {}

// A terminal, a service manager or a batch system signals everybody when the driver is to stop. The
// driver then lets each trial come to an end. Handlers that do nothing, because what user code
// starts would inherit signals that are ignored.
Status leave_stopping_to_parent() {
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  if (::sigaction(SIGINT, &action, nullptr) != 0 || ::sigaction(SIGTERM, &action, nullptr) != 0)
    return errno_error(errno, "cannot set up the signals of a worker");
  return ok();
}

Result<pid_t> parent_from_environment() {
  const char* text = std::getenv(parent_pid_variable);
  const std::string_view digits = text != nullptr ? text : "";
  pid_t parent = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parent);
  struct stat info {};
  const bool socket = ::fstat(child_socket_fd, &info) == 0 && S_ISSOCK(info.st_mode);
  if (error != std::errc() || end != digits.data() + digits.size() || parent <= 0 || !socket) {
    return Error(
        ErrorCode::failed_precondition,
        std::string("this process was not started as a worker: ") +
            (socket ? std::string(parent_pid_variable) + " is not set" : "file 3 is not a socket") +
            ". Workers are started by the program itself");
  }
  return parent;
}

// Without it the driver, with the larger memory, would be the first to go. May be forbidden.
void prefer_to_be_killed() {
  const FileDescriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file)
    (void)!::write(file.get(), "500", 3);
}

// Bytes that RLIMIT_DATA counts at the moment.
Result<uint64_t> data_bytes() {
  TROUPE_TRY(text, read_file("/proc/self/status", size_t{64} * 1024));
  constexpr std::string_view field = "VmData:";
  const size_t place = text.find(field);
  if (place == std::string::npos)
    return Error(ErrorCode::io, "cannot limit memory: /proc/self/status has no VmData");
  return std::strtoull(text.c_str() + place + field.size(), nullptr, 10) * 1024;
}

}  // namespace

Result<int> become_worker_process() {
  TROUPE_TRY(parent, parent_from_environment());
  ::unsetenv(parent_pid_variable);
  TROUPE_RETURN_IF_ERROR(bind_to_parent(parent));
  if (::fcntl(child_socket_fd, F_SETFD, FD_CLOEXEC) != 0)
    return errno_error(errno, "cannot set up the socket of a worker");
  TROUPE_RETURN_IF_ERROR(leave_stopping_to_parent());
  const rlimit no_core{0, 0};
  if (::setrlimit(RLIMIT_CORE, &no_core) != 0)
    return errno_error(errno, "cannot turn off core files");
  prefer_to_be_killed();
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  return child_socket_fd;
}

Result<uint64_t> limit_worker_memory(uint64_t bytes) {
#ifdef TROUPE_DETAIL_SHADOW_MEMORY
  bytes = 0;
#endif
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0)
    return errno_error(errno, "cannot read the memory limit");
  if (bytes == 0) {
    limit.rlim_cur = limit.rlim_max;
  } else {
    TROUPE_TRY(held, data_bytes());
    limit.rlim_cur = std::min<rlim_t>(held + bytes, limit.rlim_max);
  }
  // The hard limit stays: a reused worker may get another limit later.
  if (::setrlimit(RLIMIT_DATA, &limit) != 0)
    return errno_error(errno, "cannot set the memory limit");
  memory_limit.store(bytes);
  return bytes;
}

uint64_t worker_memory_limit() {
  return memory_limit.load();
}

void die_with_process_group() {
  // A group that we do not lead has others in it.
  if (::getpgrp() == ::getpid())
    ::kill(0, SIGKILL);
  ::kill(::getpid(), SIGKILL);
  ::_exit(1);
}

}  // namespace troupe
