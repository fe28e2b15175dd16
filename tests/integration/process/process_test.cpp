// Starting, ending and watching real processes.
#include <troupe/runtime/process/process.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include <dirent.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/support/child_program.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

size_t open_files() {
  size_t count = 0;
  DIR* folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr)
    ++count;
  ::closedir(folder);
  return count;
}

ExitStatus run(ProcessSpawner& spawner, ProcessSpec spec, std::string* output = nullptr) {
  Process process = spawner.spawn(std::move(spec)).value_or_throw();
  const ExitStatus status = process.wait(long_enough).value_or_throw();
  if (output != nullptr)
    *output = process.output_tail();
  return status;
}

bool no_child_left() {
  return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD;
}

}  // namespace

TEST_CASE("the exit status of a child is reported") {
  ProcessSpawner spawner;
  CHECK(run(spawner, child_program({"exit", "0"})).success());
  CHECK(describe_exit(run(spawner, child_program({"exit", "3"}))) == "called exit(3)");
  CHECK(no_child_left());
}

TEST_CASE("the signal that killed a child is reported") {
  ProcessSpawner spawner;
  const ExitStatus aborted = run(spawner, child_program({"abort"}));
  CHECK(aborted.signal == SIGABRT);
  CHECK_FALSE(aborted.requested);
  CHECK(run(spawner, child_program({"segv"})).signal == SIGSEGV);
}

TEST_CASE("what a child used is reported") {
  ProcessSpawner spawner;
  const ExitStatus status = run(spawner, child_program({"spam", "20"}));
  CHECK(status.cpu_time > Duration::zero());
  CHECK(status.max_rss_bytes > 500'000);
}

TEST_CASE("the exit callback comes once, with complete output, and before wait returns") {
  std::atomic<int> calls{0};
  ProcessSpawner spawner;
  auto process =
      spawner.spawn(child_program({"spam", "3"}), {.on_exit = [&](const ExitStatus&) { ++calls; }})
          .value_or_throw();
  REQUIRE(process.wait(long_enough));
  CHECK(calls == 1);
  CHECK(process.output_tail().ends_with("the end\n"));
  CHECK(process.exit_status().has_value());
  CHECK_FALSE(process.send_signal(SIGTERM));
}

TEST_CASE("a program that cannot be started is an error with its name") {
  ProcessSpawner spawner;
  const auto missing = spawner.spawn({.executable = "/no/such/program"});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code() == ErrorCode::not_found);
  CHECK(missing.error().message().find("/no/such/program") != std::string::npos);
  CHECK_FALSE(spawner.spawn({.executable = "/etc/passwd"}));
  CHECK(spawner.running() == 0);
}

TEST_CASE("arguments and environment reach the child") {
  ProcessSpawner spawner;
  std::string output;
  run(spawner, child_program({"arguments", "one", "", "two words"}), &output);
  CHECK(output == "[one][][two words]\n");
  ProcessSpec spec = child_program({"variable", "TROUPE_TEST_VARIABLE"});
  run(spawner, spec, &output);
  CHECK(output == "(not set)\n");
  spec.environment = {{"TROUPE_TEST_VARIABLE", "value"}};
  run(spawner, spec, &output);
  CHECK(output == "value\n");
  run(spawner, child_program({"variable", "PATH"}), &output);
  CHECK(output == std::string(std::getenv("PATH")) + '\n');
}

TEST_CASE("a child has only the files it was given") {
  ProcessSpawner spawner;
  // Neither close-on-exec nor low numbers: what a careless library leaves open.
  const FileDescriptor careless(::open("/dev/null", O_RDONLY));
  std::string output;
  run(spawner, child_program({"files"}), &output);
  CHECK(output == "0 1 2 \n");
  run(spawner, child_with_socket({"files"}), &output);
  CHECK(output == "0 1 2 3 \n");
  ProcessSpec spec = child_program({"files"});
  spec.inherit = {careless.get()};
  run(spawner, spec, &output);
  CHECK(output == "0 1 2 4 \n");
}

TEST_CASE("a child starts with default signals and a group of its own") {
  // What a program may have done to itself.
  ::signal(SIGUSR1, SIG_IGN);
  sigset_t mask;
  ::sigemptyset(&mask);
  ::sigaddset(&mask, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  ProcessSpawner spawner;
  std::string output;
  run(spawner, child_program({"signals"}), &output);
  ::pthread_sigmask(SIG_UNBLOCK, &mask, nullptr);
  ::signal(SIGUSR1, SIG_DFL);
  CHECK(output == "blocked 0 ignored 0 group own\n");
}

TEST_CASE("the socket connects both sides and ends with the child") {
  ProcessSpawner spawner;
  auto process = spawner.spawn(child_with_socket({"obey"})).value_or_throw();
  const FileDescriptor socket = process.take_socket();
  REQUIRE(socket);
  CHECK_FALSE(process.take_socket());
  send_line(socket, "hello");
  CHECK(receive_line(socket) == "done");
  send_line(socket, "exit 5");
  CHECK(process.wait(long_enough).value_or_throw().exit_code == 5);
  CHECK_THROWS_AS(receive_line(socket), Exception);
}

TEST_CASE("terminate ends a child that obeys, within its grace time") {
  ProcessSpawner spawner;
  auto process = spawner.spawn(child_program({"hang"})).value_or_throw();
  process.terminate(long_enough);
  const ExitStatus status = process.wait(long_enough).value_or_throw();
  CHECK(status.signal == SIGTERM);
  CHECK(status.requested);
}

TEST_CASE("a child that ignores SIGTERM is killed when the grace time is over") {
  ProcessSpawner spawner;
  auto process = spawner.spawn(child_with_socket({"ignore_term"})).value_or_throw();
  const FileDescriptor socket = process.take_socket();
  REQUIRE(receive_line(socket) == "ready");
  process.terminate(std::chrono::hours(1));
  process.terminate(std::chrono::milliseconds(1));
  process.terminate(std::chrono::hours(1));
  const ExitStatus status = process.wait(long_enough).value_or_throw();
  CHECK(status.signal == SIGKILL);
  CHECK(status.requested);
  CHECK_FALSE(status.killed_from_outside());
}

TEST_CASE("a kill from outside is told from ours") {
  ProcessSpawner spawner;
  auto process = spawner.spawn(child_program({"hang"})).value_or_throw();
  REQUIRE(::kill(process.pid(), SIGKILL) == 0);
  CHECK(process.wait(long_enough).value_or_throw().killed_from_outside());
}

TEST_CASE("waiting has a deadline") {
  ProcessSpawner spawner;
  auto process = spawner.spawn(child_program({"hang"})).value_or_throw();
  CHECK(process.wait(std::chrono::milliseconds(1)).error().code() == ErrorCode::deadline_exceeded);
  process.kill();
  CHECK(process.wait(Duration::max()));
}

TEST_CASE("a stop and a continuation are reported") {
  std::promise<int> stopped;
  std::promise<int> continued;
  std::atomic<int> count{0};
  ProcessSpawner spawner;
  const auto on_stop = [&](int signal) {
    const int call = ++count;
    if (call <= 2)
      (call == 1 ? stopped : continued).set_value(signal);
  };
  auto process = spawner.spawn(child_program({"hang"}), {.on_stop = on_stop}).value_or_throw();
  REQUIRE(process.send_signal(SIGSTOP));
  CHECK(stopped.get_future().get() == SIGSTOP);
  CHECK(process.stopped());
  REQUIRE(process.send_signal(SIGCONT));
  CHECK(continued.get_future().get() == 0);
  CHECK_FALSE(process.stopped());
  process.kill();
  CHECK(process.wait(long_enough).value_or_throw().stopped_by == 0);
}

TEST_CASE("a child that stops itself and is continued ends as it likes") {
  std::promise<void> stopped;
  std::atomic<bool> once{false};
  ProcessSpawner spawner;
  const auto on_stop = [&](int) {
    if (!once.exchange(true))
      stopped.set_value();
  };
  auto process = spawner.spawn(child_program({"stop"}), {.on_stop = on_stop}).value_or_throw();
  stopped.get_future().get();
  REQUIRE(process.send_signal(SIGCONT));
  CHECK(process.wait(long_enough).value_or_throw().exit_code == 7);
}

TEST_CASE("a stopped child that is killed says that it was stopped") {
  std::promise<void> stopped;
  ProcessSpawner spawner;
  auto process =
      spawner.spawn(child_program({"stop"}), {.on_stop = [&](int) { stopped.set_value(); }})
          .value_or_throw();
  stopped.get_future().get();
  process.kill();
  CHECK(describe_exit(process.wait(long_enough).value_or_throw()) ==
        "process was stopped (SIGSTOP) and did not continue");
}

TEST_CASE("terminate continues a stopped child so that it can end") {
  std::promise<void> stopped;
  std::atomic<bool> once{false};
  ProcessSpawner spawner;
  const auto on_stop = [&](int) {
    if (!once.exchange(true))
      stopped.set_value();
  };
  auto process = spawner.spawn(child_program({"stop"}), {.on_stop = on_stop}).value_or_throw();
  stopped.get_future().get();
  process.terminate(std::chrono::hours(1));
  CHECK(process.wait(long_enough).value_or_throw().signal == SIGTERM);
}

TEST_CASE("what a child leaves behind is killed with its group") {
  ProcessSpawner spawner;
  auto process = spawner.spawn(child_with_socket({"leave_children", "3"})).value_or_throw();
  const FileDescriptor socket = process.take_socket();
  std::vector<ProcessWatch> left;
  for (int i = 0; i < 3; ++i)
    left.emplace_back(std::stoi(receive_line(socket)));
  send_line(socket, "go");
  CHECK(process.wait(long_enough).value_or_throw().success());
  for (const ProcessWatch& watch : left)
    CHECK(watch.ended());
}

TEST_CASE("a callback may start the next child, and its exceptions are contained") {
  std::promise<ExitStatus> second;
  ProcessSpawner spawner;
  REQUIRE(spawner.spawn(
      child_program({"exit", "1"}), {.on_exit = [&](const ExitStatus&) {
        spawner
            .spawn(child_program({"exit", "2"}),
                   {.on_exit = [&](const ExitStatus& status) { second.set_value(status); }})
            .value_or_throw();
        throw std::runtime_error("on purpose");
      }}));
  CHECK(second.get_future().get().exit_code == 2);
}

TEST_CASE("destroying the spawner kills and reports all children") {
  std::vector<Process> processes;
  std::atomic<int> exits{0};
  {
    ProcessSpawner spawner;
    for (int i = 0; i < 8; ++i) {
      processes.push_back(spawner
                              .spawn(child_program({i % 2 == 0 ? "hang" : "stop"}),
                                     {.on_exit = [&](const ExitStatus&) { ++exits; }})
                              .value_or_throw());
    }
  }
  CHECK(exits == 8);
  for (const Process& process : processes) {
    REQUIRE(process.exit_status());
    CHECK(process.exit_status()->signal == SIGKILL);
    CHECK(process.exit_status()->requested);
  }
  CHECK(no_child_left());
}

TEST_CASE("no process is started once the spawner shuts down") {
  std::optional<Result<Process>> late;
  {
    ProcessSpawner spawner;
    REQUIRE(spawner.spawn(child_program({"hang"}), {.on_exit = [&](const ExitStatus&) {
                            late = spawner.spawn(child_program({"hang"}));
                          }}));
  }
  REQUIRE(late);
  CHECK(late->error().code() == ErrorCode::failed_precondition);
  CHECK(no_child_left());
}

TEST_CASE("what the callbacks hold is let go after the exit, although a handle is kept") {
  const auto held = std::make_shared<int>(0);
  ProcessSpawner spawner;
  auto process = spawner
                     .spawn(child_program({"exit", "0"}),
                            {.on_exit = [held](const ExitStatus&) {}, .on_stop = [held](int) {}})
                     .value_or_throw();
  REQUIRE(process.wait(long_enough));
  CHECK(eventually([&] { return held.use_count() == 1; }));
}

TEST_CASE("an end is noticed although the program ignores SIGCHLD") {
  ::signal(SIGCHLD, SIG_IGN);
  ProcessSpawner spawner;
  auto process = spawner.spawn(child_with_socket({"obey"})).value_or_throw();
  const FileDescriptor socket = process.take_socket();
  send_line(socket, "exit 5");
  const ExitStatus status = process.wait(long_enough).value_or_throw();
  ::signal(SIGCHLD, SIG_DFL);
  CHECK(status.unknown);
}

TEST_CASE("300 children from two threads leave no file, zombie or entry behind") {
  std::atomic<int> exits{0};
  ProcessSpawner spawner;
  const size_t before = open_files();
  const auto start_many = [&] {
    std::vector<Process> processes;
    for (int i = 0; i < 150; ++i) {
      processes.push_back(
          spawner
              .spawn(child_with_socket({"exit", "0"}),
                     {.on_exit = [&](const ExitStatus& status) { exits += status.success(); }})
              .value_or_throw());
      if (i % 3 == 0)
        processes.back().take_socket().reset();
      if (i >= 8)
        processes[static_cast<size_t>(i - 8)].wait(long_enough).value_or_throw();
    }
    for (const Process& process : processes)
      process.wait(long_enough).value_or_throw();
  };
  std::thread other(start_many);
  start_many();
  other.join();
  CHECK(exits == 300);
  CHECK(spawner.running() == 0);
  // The thread lets go of the last child right after it reported it.
  CHECK(eventually([&] { return open_files() == before; }));
  CHECK(no_child_left());
}
