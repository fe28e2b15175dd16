#include <troupe/base/random.hpp>
#include <troupe/runtime/store/secondary_reader.hpp>
#include <troupe/tune/experiment_reader.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <vector>

#include <doctest/doctest.h>

#include "tests/reliability/kills/table.hpp"
#include "tests/reliability/kills/witness.hpp"
#include "tests/support/child_program.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/scratch_folder.hpp"

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

namespace {

constexpr int kills = 30;

std::uint64_t seed() {
  const char* given = std::getenv("TROUPE_TEST_SEED");
  return given != nullptr ? std::stoull(given) : 20261129;
}

/// One experiment of the driver in a folder of its own.
struct Arena {
  std::string scheduler;
  std::string isolation;
  ScratchFolder scratch{"kills"};

  fs::path experiment() const { return scratch.path() / "walk"; }
  std::string output() const {
    return read_file(scratch.path() / "err", 1 << 20).value_or(std::string()) +
           read_file(scratch.path() / "out", 1 << 20).value_or(std::string());
  }
  std::unique_ptr<Program> start() const {
    return std::make_unique<Program>(
        "kill_driver", std::vector<std::string>{scratch.path().string(), scheduler, isolation, "7"},
        scratch.path() / "out", scratch.path() / "err");
  }
};

/// Waits for a driver to end; it must end well.
void expect_end(const Arena& arena, Program& driver) {
  REQUIRE_MESSAGE(eventually([&] { return driver.ended(); }), arena.output());
  REQUIRE_MESSAGE(driver.wait() == 0, arena.output());
}

/// The worker processes of a driver.
std::vector<pid_t> workers_of(pid_t driver) {
  std::vector<pid_t> found;
  const fs::path tasks = "/proc/" + std::to_string(driver) + "/task";
  std::error_code gone;
  for (const auto& task : fs::directory_iterator(tasks, gone)) {
    std::ifstream children(task.path() / "children");
    for (pid_t pid = 0; children >> pid;)
      found.push_back(pid);
  }
  return found;
}

/// Kills and goes on until `kills` have been done and the experiment is at its end.
void torment(const Arena& arena, std::size_t results) {
  Random random(seed(), arena.scheduler == "asha" ? 1 : 0, RandomPurpose::test);
  std::vector<std::size_t> moments;
  for (int i = 0; i < kills; ++i)
    moments.push_back(random.below(results * 90 / 100));
  std::sort(moments.begin(), moments.end());

  Witness witness(arena.experiment());
  auto driver = arena.start();
  int workers_killed = 0;
  for (const std::size_t moment : moments) {
    REQUIRE_MESSAGE(eventually([&] {
                      witness.look();
                      return witness.results() >= moment || driver->ended();
                    }),
                    arena.output());
    REQUIRE_MESSAGE(!driver->ended(), "the run ended before its kills: ", arena.output());
    const auto workers = workers_of(driver->pid());
    if (arena.isolation == "process" && !workers.empty() && random.chance(0.5)) {
      ::kill(random.pick(workers), SIGKILL);
      ++workers_killed;
      continue;
    }
    std::vector<ProcessWatch> orphans;
    for (const pid_t worker : workers) {
      try {
        orphans.emplace_back(worker);
      } catch (const Exception&) {
        continue;  // it ended by itself
      }
    }
    driver->signal(SIGKILL);
    driver->wait();
    for (const ProcessWatch& orphan : orphans)
      CHECK_MESSAGE(orphan.ended(), "a worker lives on");
    witness.check_nothing_lost();
    driver = arena.start();
  }
  MESSAGE("killed ", kills - workers_killed, " drivers and ", workers_killed, " workers");
  expect_end(arena, *driver);
  witness.check_nothing_lost();
}

/// The files of each trial hold its results, each once.
void check_files(const Arena& arena) {
  const auto reader = open_secondary(arena.experiment()).value_or_throw();
  for (const tune::TrialRow& row : tune::read_trials(*reader).value_or_throw()) {
    CAPTURE(row.name);
    const std::string json =
        read_file(arena.experiment() / row.dir / "result.json", 1 << 24).value_or_throw();
    std::istringstream lines(json);
    std::uint64_t iteration = 0;
    for (std::string line; std::getline(lines, line);)
      CHECK(line.find("\"training_iteration\":" + std::to_string(++iteration) + ",") !=
            std::string::npos);
    CHECK(iteration == row.iteration);
  }
}

void run(const std::string& scheduler, const std::string& isolation) {
  MESSAGE("seed ", seed(), " (TROUPE_TEST_SEED)");
  std::string expected;
  std::size_t results = 0;
  {
    const Arena calm{scheduler, isolation};
    const auto driver = calm.start();
    expect_end(calm, *driver);
    expected = final_table(calm.experiment());
    Witness witness(calm.experiment());
    REQUIRE(witness.look());
    results = witness.results();
  }
  CHECK(std::count(expected.begin(), expected.end(), '"') > 400);

  const Arena arena{scheduler, isolation};
  torment(arena, results);
  CHECK_MESSAGE(final_table(arena.experiment()) == expected, "the final tables differ");
  check_files(arena);
}

}  // namespace

TEST_CASE("kills leave no trace: grid and random search, threads") {
  run("fifo", "thread");
}

TEST_CASE("kills leave no trace: grid and random search, processes") {
  run("fifo", "process");
}

TEST_CASE("kills leave no trace: ASHA, threads") {
  run("asha", "thread");
}

TEST_CASE("kills leave no trace: ASHA, processes") {
  run("asha", "process");
}

TEST_CASE("kills leave no trace: ASHA and a searcher that learns, processes") {
  run("learning", "process");
}

TEST_CASE("SIGTERM ends a run in good order, and what follows equals an undisturbed run") {
  for (const char* isolation : {"thread", "process"}) {
    CAPTURE(isolation);
    const Arena calm{"asha", isolation};
    expect_end(calm, *calm.start());

    const Arena arena{"asha", isolation};
    for (const int number : {SIGTERM, SIGINT, SIGTERM}) {
      Witness witness(arena.experiment());
      const auto driver = arena.start();
      REQUIRE(eventually([&] { return witness.look() && witness.results() > 0; }));
      const std::size_t before = witness.results();
      REQUIRE(eventually([&] { return witness.look() && witness.results() > before + 30; }));
      driver->signal(number);
      expect_end(arena, *driver);
      CHECK(arena.output().find("interrupted") != std::string::npos);
      witness.check_nothing_lost();
    }
    expect_end(arena, *arena.start());
    CHECK(arena.output().find("finished") != std::string::npos);
    CHECK_MESSAGE(final_table(arena.experiment()) == final_table(calm.experiment()),
                  "the final tables differ");
  }
}

TEST_CASE("a second signal ends the process at once, and nothing is lost") {
  // Its trials do not end by themselves: after one signal alone the run would stop in good order,
  // with exit status 0, when its patience is over.
  const Arena arena{"stuck", "process"};
  Witness witness(arena.experiment());
  const auto driver = arena.start();
  REQUIRE(eventually([&] { return witness.look() && witness.results() == 4; }));
  driver->signal(SIGTERM);
  REQUIRE(eventually([&] { return witness.look() && witness.stopping(); }));
  REQUIRE_FALSE(driver->ended());
  driver->signal(SIGTERM);
  REQUIRE(eventually([&] { return driver->ended(); }));
  const int status = driver->wait();
  REQUIRE_MESSAGE(WIFSIGNALED(status), "exit status ", WEXITSTATUS(status));
  CHECK(WTERMSIG(status) == SIGTERM);
  witness.check_nothing_lost();
}
