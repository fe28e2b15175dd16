#include <troupe/base/limits.hpp>
#include <troupe/runtime/process/exit_status.hpp>

#include <doctest/doctest.h>
#include <signal.h>

using namespace troupe;

TEST_CASE("an exit is described by its status") {
  CHECK(describe_exit({.exit_code = 3}) == "called exit(3)");
  CHECK(describe_exit({}) == "called exit(0)");
}

TEST_CASE("a fatal signal is described by name, number and meaning") {
  CHECK(describe_exit({.signal = SIGSEGV}) == "killed by SIGSEGV (signal 11: segmentation fault)");
  CHECK(describe_exit({.signal = SIGABRT}) == "killed by SIGABRT (signal 6: aborted)");
  CHECK(describe_exit({.signal = SIGXCPU}) ==
        "killed by SIGXCPU (signal 24: CPU time limit exceeded)");
}

TEST_CASE("a SIGKILL that nobody here sent is told from one that was asked for") {
  const ExitStatus outside{.signal = SIGKILL};
  const ExitStatus asked{.signal = SIGKILL, .requested = true};
  CHECK(outside.killed_from_outside());
  CHECK_FALSE(asked.killed_from_outside());
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    CHECK(ExitStatus{.signal = number}.killed_from_outside());
    CHECK_FALSE(ExitStatus{.signal = number, .requested = true}.killed_from_outside());
  }
  CHECK_FALSE(ExitStatus{.signal = SIGSEGV}.killed_from_outside());
  CHECK(describe_exit({.signal = SIGTERM}) ==
        "killed by SIGTERM from outside: an operator or a service manager");
  CHECK(describe_exit(outside) ==
        "killed by SIGKILL from outside: an operator or the kernel's out-of-memory killer");
  CHECK(describe_exit(asked) == "was ended on request (SIGKILL)");
}

TEST_CASE("a process killed while stopped is described as stopped") {
  CHECK(describe_exit({.signal = SIGKILL, .requested = true, .stopped_by = SIGSTOP}) ==
        "process was stopped (SIGSTOP) and did not continue");
}

TEST_CASE("only exit(0) is success") {
  CHECK(ExitStatus{}.success());
  CHECK_FALSE(ExitStatus{.exit_code = 1}.success());
  CHECK_FALSE(ExitStatus{.signal = SIGTERM}.success());
  CHECK_FALSE(ExitStatus{.unknown = true}.success());
}

TEST_CASE("the last output is part of the description") {
  CHECK(describe_exit({.exit_code = 3}, "one\ntwo\n") ==
        "called exit(3); last output:\n  one\n  two");
  CHECK(describe_exit({.exit_code = 3}, "") == "called exit(3); it printed nothing");
}

TEST_CASE("a description with much output fits an error message") {
  std::string output;
  for (int i = 0; i < 10'000; ++i)
    output += "line " + std::to_string(i) + '\n';
  const std::string text = describe_exit({.signal = SIGABRT}, output);
  CHECK(text.size() <= limits::max_error_message_bytes);
  CHECK(text.ends_with("\n  line 9999"));
}
