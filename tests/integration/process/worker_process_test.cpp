// The child's side: tied to its parent, limited in memory.
#include <troupe/runtime/process/process.hpp>
#include <troupe/runtime/process/worker_process.hpp>

#include <string>

#include <doctest/doctest.h>
#include <signal.h>

#include "tests/support/child_program.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

struct Family {
  pid_t worker = 0;
  pid_t grandchild = 0;
};

// "123 456", as the worker says it.
Family parse_family(const std::string& line) {
  const size_t blank = line.find(' ');
  REQUIRE(blank != std::string::npos);
  return {std::stoi(line.substr(0, blank)), std::stoi(line.substr(blank + 1))};
}

void kill_driver_and_look_at_family(const std::string& how) {
  ProcessSpawner spawner;
  auto driver = spawner.spawn(child_with_socket({"driver", how})).value_or_throw();
  const FileDescriptor socket = driver.take_socket();
  const Family family = parse_family(receive_line(socket));
  const ProcessWatch worker(family.worker);
  const ProcessWatch grandchild(family.grandchild);
  if (how == "stopped")
    REQUIRE(eventually([&] { return is_stopped(family.worker); }));
  // As kill -9 by hand: not through our own kill, which takes the driver's group.
  REQUIRE(::kill(driver.pid(), SIGKILL) == 0);
  CHECK(worker.ended());
  CHECK(grandchild.ended());
}

}  // namespace

TEST_CASE("a worker and what it started die with a killed driver") {
  kill_driver_and_look_at_family("plain");
}

TEST_CASE("a worker that is deaf to the signal dies with its driver all the same") {
  kill_driver_and_look_at_family("deaf");
}

TEST_CASE("a stopped worker dies with its driver") {
  kill_driver_and_look_at_family("stopped");
}

TEST_CASE("a worker that was not started as one says so") {
  ProcessSpawner spawner;
  // No socket.
  auto process = spawner.spawn(child_program({"worker", "plain"})).value_or_throw();
  CHECK(process.wait(long_enough).value_or_throw().exit_code == 93);
  CHECK(process.output_tail().find("not started as a worker") != std::string::npos);
  CHECK_FALSE(become_worker_process());
}

TEST_CASE("a worker whose parent is gone already refuses to run") {
  ProcessSpawner spawner;
  // Process 1 did not start it.
  ProcessSpec spec = child_with_socket({});
  spec.executable = "/usr/bin/env";
  spec.arguments = {std::string(parent_pid_variable) + "=1", child_program({}).executable.string(),
                    "worker", "plain"};
  auto process = spawner.spawn(std::move(spec)).value_or_throw();
  CHECK(process.wait(long_enough).value_or_throw().exit_code == 93);
  CHECK(process.output_tail().find("is gone") != std::string::npos);
}

TEST_CASE("beyond its memory limit a worker gets bad_alloc") {
  ProcessSpawner spawner;
  auto process = spawner.spawn(child_program({"allocate", "64"})).value_or_throw();
  const ExitStatus status = process.wait(long_enough).value_or_throw();
  const std::string output = process.output_tail();
  if (output.find("limit 0\n") != std::string::npos) {
    MESSAGE("no memory limit under this sanitizer");
    return;
  }
  CHECK(status.success());
  const std::string words = "bad_alloc after ";
  const size_t place = output.find(words);
  REQUIRE(place != std::string::npos);
  const int blocks = std::stoi(output.substr(place + words.size()));
  CHECK(blocks >= 48);
  CHECK(blocks <= 64);
}
