#include <troupe/base/log.hpp>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <tests/support/scratch_folder.hpp>

#include "checks.hpp"
#include "scenario.hpp"
#include "world.hpp"

// TROUPE_SIM_SEED=n runs one seed; TROUPE_SIM_SEEDS=n that many, from TROUPE_SIM_FIRST on.
// TROUPE_SIM_LOG=file appends the journal of each run, as text.

namespace troupe::simulation {
namespace {

std::uint64_t number_from_environment(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
}

struct Seeds {
  std::uint64_t first;
  std::uint64_t count;
};

Seeds seeds(std::uint64_t share) {
  if (std::getenv("TROUPE_SIM_SEED") != nullptr)
    return {number_from_environment("TROUPE_SIM_SEED", 0), 1};
  return {number_from_environment("TROUPE_SIM_FIRST", 1),
          number_from_environment("TROUPE_SIM_SEEDS", share)};
}

std::string how_to_repeat(const char* test, const Scenario& scenario) {
  return "seed " + std::to_string(scenario.seed) + " (" + scenario.describe() +
         "); repeat with: TROUPE_SIM_SEED=" + std::to_string(scenario.seed) +
         " simulation_test -tc='" + test + "'";
}

/// With TROUPE_SIM_LOG=file the journals are written there, one after the other.
RunReport run(const Scenario& scenario) {
  World world(scenario);
  RunReport report = world.run();
  if (const char* file = std::getenv("TROUPE_SIM_LOG"))
    std::ofstream(file, std::ios::app) << "--- seed " << scenario.seed << '\n'
                                       << event_log(world.journal());
  return report;
}

void expect_no_problem(const RunReport& report) {
  for (const std::string& problem : report.problems)
    FAIL_CHECK(problem);
  CHECK(report.events > 0);
}

/// The first line that differs, of both.
std::string first_difference(const std::string& expected, const std::string& found) {
  std::istringstream a(expected);
  std::istringstream b(found);
  for (;;) {
    std::string in_a;
    std::string in_b;
    const bool has_a = static_cast<bool>(std::getline(a, in_a));
    const bool has_b = static_cast<bool>(std::getline(b, in_b));
    if (!has_a && !has_b)
      return {};
    if (in_a != in_b || has_a != has_b)
      return "expected: " + in_a + "\nfound:    " + in_b;
  }
}

/// The disturbed run of each seed ends with the table of the undisturbed one.
void compare_with_undisturbed(const char* test, Scenario (*make)(std::uint64_t)) {
  const Seeds range = seeds(100);
  std::uint64_t deaths = 0;
  for (std::uint64_t seed = range.first; seed < range.first + range.count; ++seed) {
    const Scenario scenario = make(seed);
    INFO(how_to_repeat(test, scenario));
    const RunReport calm = run(scenario.undisturbed());
    const RunReport disturbed = run(scenario);
    expect_no_problem(calm);
    expect_no_problem(disturbed);
    CHECK(first_difference(calm.table, disturbed.table) == "");
    CHECK(!calm.table.empty());
    deaths += disturbed.driver_deaths;
  }
  if (range.count > 20)
    CHECK(deaths > range.count);
}

TEST_CASE("whatever happens, the invariants hold and every run ends") {
  const Seeds range = seeds(200);
  for (std::uint64_t seed = range.first; seed < range.first + range.count; ++seed) {
    const Scenario scenario = random_scenario(seed);
    INFO(how_to_repeat("whatever happens*", scenario));
    const RunReport report = run(scenario);
    expect_no_problem(report);
    if (seed % 10 == 0) {
      const RunReport again = run(scenario);
      CHECK(again.chain == report.chain);
      CHECK(again.events == report.events);
    }
  }
}

/// Each seed takes a second on a disk that syncs slowly; one of them arms about ten faults.
TEST_CASE("with the store and checkpoints on a disk, faults at any of their points do no harm") {
  const troupe::log::ScopedSink quiet([](const troupe::log::Record&) {});
  const Seeds range = seeds(12);
  std::set<std::string> armed;
  for (std::uint64_t seed = range.first; seed < range.first + range.count; ++seed) {
    const Scenario scenario = faults_on_disk(seed);
    INFO(how_to_repeat("with the store and checkpoints*", scenario));
    const testing::ScratchFolder folder("simulation");
    World world(scenario, std::make_unique<RealDisk>(folder.path() / "experiment"));
    const RunReport report = world.run();
    expect_no_problem(report);
    armed.insert(report.armed.begin(), report.armed.end());
  }
  const std::size_t points = RealDisk({}).fault_points().size();
  CHECK(points >= 14);
  if (range.count > 10)
    CHECK_MESSAGE(armed.size() > points / 2, armed.size(), " of ", points);
}

TEST_CASE("grid and random search: kills do not show in the final table") {
  compare_with_undisturbed("grid and random*", fifo_under_kills);
}

TEST_CASE("deterministic order with ASHA: kills do not show in the final table") {
  compare_with_undisturbed("deterministic order with ASHA*", asha_under_kills);
}

TEST_CASE("deterministic order with pauses: kills do not show in the final table") {
  compare_with_undisturbed("deterministic order with pauses*", pauser_under_kills);
}

TEST_CASE("deterministic order with a searcher that learns: kills do not show in the final table") {
  compare_with_undisturbed("deterministic order with a searcher*", learner_under_kills);
}

}  // namespace
}  // namespace troupe::simulation
