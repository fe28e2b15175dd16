#include <troupe/base/fault_point.hpp>
#include <troupe/base/file.hpp>
#include <troupe/base/random.hpp>
#include <troupe/runtime/store/doctor.hpp>

#include <algorithm>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/scratch_folder.hpp"
#include "tests/support/store_files.hpp"

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t event_bytes = 600;
constexpr std::uint64_t without_end = 1'000'000'000;

/// What a child said before it ended.
struct Said {
  std::uint64_t accepted = 0;
  std::uint64_t durable = 0;
  int status = 0;
};

/// A writing child with its standard output on a pipe.
class Child {
public:
  Child(const fs::path& dir, std::uint64_t last, const std::string& faults = {}) {
    int fds[2];
    REQUIRE(::pipe2(fds, O_CLOEXEC) == 0);
    pipe_ = FileDescriptor(fds[0]);
    const FileDescriptor write_end(fds[1]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
    const std::string program =
        (fs::read_symlink("/proc/self/exe").parent_path() / "store_child").string();
    std::string arguments[] = {program, dir.string(), std::to_string(event_bytes),
                               std::to_string(last)};
    char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                    arguments[3].data(), nullptr};
    std::string environment = "TROUPE_FAULTS=" + faults;
    char* envp[] = {environment.data(), nullptr};
    REQUIRE(::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv,
                          faults.empty() ? environ : envp) == 0);
    ::posix_spawn_file_actions_destroy(&actions);
  }

  /// Listens until the child has said `acks` things, kills it, hears what is left in the pipe.
  Said kill_after(std::uint64_t acks) {
    while (acks-- > 0 && hear())
      continue;
    ::kill(pid_, SIGKILL);
    return wait();
  }

  /// Listens until the child has said something: its store is open.
  void wait_until_open() { REQUIRE(hear()); }

  Said wait() {
    while (hear())
      continue;
    ::waitpid(pid_, &said_.status, 0);
    return said_;
  }

  [[nodiscard]] pid_t pid() const { return pid_; }

private:
  bool hear() {
    const std::string line = read_up_to(pipe_.get(), 9, "pipe").value_or_throw();
    if (line.size() < 9)
      return false;
    const std::uint64_t sequence = keys::load_u64(std::string_view(line).substr(1));
    (line[0] == 'a' ? said_.accepted : said_.durable) = sequence;
    return true;
  }

  FileDescriptor pipe_;
  pid_t pid_ = 0;
  Said said_;
};

bool killed(const Said& said) {
  return WIFSIGNALED(said.status) && WTERMSIG(said.status) == SIGKILL;
}

}  // namespace

TEST_CASE("thirty kills at random moments lose nothing accepted and leave no hole") {
  const std::uint64_t seed = 20240613;
  Random random(seed, 0, RandomPurpose::test);
  ScratchFolder scratch("kill");
  const fs::path dir = scratch.path() / "experiment";
  std::uint64_t before = 0, acks = 0;
  for (int round = 1; round <= 30; ++round) {
    CAPTURE(round);
    const Said said = Child(dir, without_end).kill_after(1 + random.below(150));
    REQUIRE(killed(said));
    const auto opened = open_store({.experiment_dir = dir}).value_or_throw();
    CHECK(opened.notes.empty());
    const std::uint64_t found = check_history(*opened.journal, event_bytes);
    CHECK(found >= said.accepted);
    CHECK(said.durable <= said.accepted);
    acks += said.accepted - std::min(said.accepted, before);
    before = found;
  }
  const DoctorReport report = run_doctor(dir).value_or_throw();
  CHECK_MESSAGE(report.healthy(), report.to_text());
  MESSAGE("seed: ", seed, ", kills: 30, accepted and acknowledged: ", acks,
          ", events at the end: ", before);
}

TEST_CASE("a kill at every fault point of the store and its files loses nothing accepted") {
  ScratchFolder scratch("points");
  int reached = 0;
  for (const std::string& point : FaultPoints::list()) {
    if (!point.starts_with("store.") && !point.starts_with("file.write_atomically."))
      continue;
    for (const int hit : {1, 3}) {
      CAPTURE(point);
      CAPTURE(hit);
      const fs::path dir = scratch.path() / (point + std::to_string(hit));
      const Said said = Child(dir, 3000, point + "=kill@" + std::to_string(hit)).wait();
      reached += killed(said) ? 1 : 0;
      // Whatever was there before the kill, the same child goes on from it.
      const Said after = Child(dir, said.accepted + 100).wait();
      REQUIRE(WIFEXITED(after.status));
      CHECK(WEXITSTATUS(after.status) == 0);
      CHECK(check_history(*open_journal(dir), event_bytes) >= said.accepted);
    }
  }
  CHECK(reached >= 10);
}

TEST_CASE("a store in use names the process that uses it") {
  ScratchFolder scratch("in_use");
  const fs::path dir = scratch.path() / "experiment";
  Child child(dir, without_end);
  child.wait_until_open();
  const auto refused = open_store({.experiment_dir = dir});
  const DoctorReport report = run_doctor(dir).value_or_throw();
  const std::string pid = std::to_string(child.pid());
  child.kill_after(0);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::unavailable);
  CHECK_MESSAGE(refused.error().message().find(pid) != std::string::npos,
                refused.error().message());
  CHECK(report.in_use);
  CHECK_MESSAGE(report.healthy(), report.to_text());
  CHECK(open_store({.experiment_dir = dir}));
}
