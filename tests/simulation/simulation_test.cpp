#include <troupe/base/log.hpp>
#include <troupe/serialization/record.hpp>

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
// TROUPE_SIM_LOG=file appends what befell each run and its journal, as text.

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

std::string lines(const std::vector<std::string>& trace) {
  std::string text;
  for (const std::string& line : trace)
    text += line + '\n';
  return text;
}

/// With TROUPE_SIM_LOG=file traces and journals are written there, one after the other.
RunReport run(const Scenario& scenario,
              std::unique_ptr<Disk> disk = std::make_unique<MemoryDisk>()) {
  World world(scenario, std::move(disk));
  RunReport report = world.run();
  if (const char* file = std::getenv("TROUPE_SIM_LOG"))
    std::ofstream(file, std::ios::app) << "--- seed " << scenario.seed << '\n'
                                       << lines(report.trace) << event_log(world.journal());
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

RunReport run_on_disk(const Scenario& scenario) {
  const testing::ScratchFolder folder = testing::ScratchFolder::quick("simulation");
  return run(scenario, std::make_unique<RealDisk>(folder.path() / "experiment"));
}

void expect_same(const RunReport& first, const RunReport& again) {
  CHECK(first_difference(lines(first.trace), lines(again.trace)) == "");
  CHECK(again.events == first.events);
  CHECK(again.chain == first.chain);
  CHECK(again.table == first.table);
}

std::set<std::string> names(const FaultMenu& menu) {
  std::set<std::string> found;
  for (const Moment moment : {Moment::creation, Moment::opening, Moment::running})
    for (const Fault& fault : menu.of(moment))
      found.insert(fault.name());
  return found;
}

TEST_CASE("whatever happens, the invariants hold and every run ends") {
  const Seeds range = seeds(200);
  for (std::uint64_t seed = range.first; seed < range.first + range.count; ++seed) {
    const Scenario scenario = random_scenario(seed);
    INFO(how_to_repeat("whatever happens*", scenario));
    const RunReport report = run(scenario);
    expect_no_problem(report);
    if (seed % 10 == 0)
      expect_same(report, run(scenario));
  }
}

/// Each seed takes a second or two on a disk that syncs slowly.
TEST_CASE(
    "with the store and checkpoints on a disk, a fault at each of their points does no harm") {
  const troupe::log::ScopedSink quiet([](const troupe::log::Record&) {});
  const Seeds range = seeds(12);
  std::set<std::string> waiting = names(RealDisk({}).faults());
  const std::size_t faults = waiting.size();
  std::size_t fired = 0;
  for (std::uint64_t seed = range.first; seed < range.first + range.count; ++seed) {
    const Scenario scenario = faults_on_disk(seed);
    INFO(how_to_repeat("with the store and checkpoints*", scenario));
    const RunReport report = run_on_disk(scenario);
    expect_no_problem(report);
    if (seed % 4 == 1)
      expect_same(report, run_on_disk(scenario));
    fired += report.fired.size();
    for (const std::string& fault : report.fired)
      waiting.erase(fault);
  }
  MESSAGE(fired, " faults fired, ", faults - waiting.size(), " of ", faults, " different ones");
  if (range.count < 12)
    return;
  for (const std::string& fault : waiting)
    FAIL_CHECK("never fired: ", fault);
}

/// Loses what it accepted last when only the driver dies, where that ended a trial: no worker waits
/// for an answer to it.
class ForgetfulDisk final : public MemoryDisk {
public:
  void crash(bool power, Random& random) override {
    if (!power && journal_.undurable_batches() > 0 && last_ended_a_trial())
      journal_.power_loss(journal_.undurable_batches() - 1);
    MemoryDisk::crash(power, random);
  }

private:
  bool last_ended_a_trial() {
    const Sequence last = journal_.watermarks().accepted;
    const auto event = decode<tune::EventRecord>(journal_.event(last).value_or_throw());
    return event.value_or_throw().decision.outcome != tune::Outcome::none;
  }
};

TEST_CASE("the loss of a result that ended a trial is seen") {
  std::size_t seen = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const std::string& problem :
         run(fifo_under_kills(seed), std::make_unique<ForgetfulDisk>()).problems)
      seen += problem.find("was accepted and is lost") != std::string::npos;
  CHECK(seen > 0);
}

TEST_CASE("every fault point of this program is on the menu of the disk") {
  const std::set<std::string> menu = names(RealDisk({}).faults());
  CHECK(FaultPoints::list().size() >= 19);
  for (const std::string& point : FaultPoints::list())
    CHECK_MESSAGE(menu.contains(Fault{point}.name()), point);
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
