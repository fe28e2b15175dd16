// What children print.
#include <troupe/base/limits.hpp>
#include <troupe/runtime/process/process.hpp>

#include <string>

#include <doctest/doctest.h>
#include <signal.h>

#include "tests/support/child_program.hpp"
#include "tests/support/scratch_folder.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

std::string content(const std::filesystem::path& path) {
  return read_file(path, limits::max_message_bytes).value_or_throw();
}

void tell(const FileDescriptor& socket, const std::string& order) {
  send_line(socket, order);
  REQUIRE(receive_line(socket) == "done");
}

}  // namespace

TEST_CASE("stdout and stderr are captured in order") {
  ProcessSpawner spawner;
  auto process = spawner.spawn(child_with_socket({"obey"})).value_or_throw();
  const FileDescriptor socket = process.take_socket();
  tell(socket, "out one");
  tell(socket, "err two");
  tell(socket, "out three");
  send_line(socket, "exit 1");
  const auto status = process.wait(long_enough);
  REQUIRE(status);
  CHECK(describe_exit(*status, process.output_tail()) ==
        "called exit(1); last output:\n  one\n  two\n  three");
}

TEST_CASE("100 MB of output never block the child, and cost a bounded log and tail") {
  const ScratchFolder scratch("output");
  ProcessSpawner spawner;
  ProcessSpec spec = child_program({"spam", "100"});
  spec.log_file = scratch.path() / "output.log";
  spec.log_limit_bytes = limits::mib;
  auto process = spawner.spawn(std::move(spec)).value_or_throw();
  CHECK(process.wait(long_enough).value_or_throw().success());
  CHECK(process.output_tail().size() <= limits::max_output_tail_bytes);
  CHECK(process.output_tail().ends_with("the end\n"));
  const auto size = std::filesystem::file_size(scratch.path() / "output.log");
  CHECK(size >= limits::mib);
  CHECK(size < limits::mib + 200);
}

TEST_CASE("each trial of a reused worker has its output in its own file") {
  const ScratchFolder scratch("output");
  ProcessSpawner spawner;
  auto process = spawner.spawn(child_with_socket({"obey"})).value_or_throw();
  const FileDescriptor socket = process.take_socket();
  for (int trial = 0; trial < 20; ++trial) {
    const std::string name = "trial " + std::to_string(trial);
    REQUIRE(process.set_log_file(scratch.path() / name, limits::mib));
    tell(socket, "out " + name);
    tell(socket, "err " + name);
  }
  send_line(socket, "exit 0");
  REQUIRE(process.wait(long_enough));
  for (int trial = 0; trial < 20; ++trial) {
    const std::string name = "trial " + std::to_string(trial);
    CHECK(content(scratch.path() / name) == name + '\n' + name + '\n');
  }
  CHECK(process.output_tail() == "trial 19\ntrial 19\n");
}

TEST_CASE("a process that escaped from its group does not hold up the exit report") {
  ProcessSpawner spawner;
  auto process = spawner.spawn(child_with_socket({"leave_writer"})).value_or_throw();
  const FileDescriptor socket = process.take_socket();
  const ProcessWatch escaped(std::stoi(receive_line(socket)));
  send_line(socket, "go");
  CHECK(process.wait(long_enough).value_or_throw().success());
  // It loses its output, and as it does not ignore SIGPIPE, its life.
  CHECK(escaped.ended());
}

TEST_CASE("a log file that cannot be made is an error before anything is started") {
  const ScratchFolder scratch("output");
  ProcessSpawner spawner;
  ProcessSpec spec = child_program({"exit", "0"});
  spec.log_file = scratch.path() / "no" / "such" / "folder";
  const auto process = spawner.spawn(std::move(spec));
  REQUIRE_FALSE(process);
  CHECK(process.error().code() == ErrorCode::not_found);
}
