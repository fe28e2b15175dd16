#include <troupe/base/log.hpp>
#include <troupe/runtime/store/detail/rocks_journal.hpp>

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/support/faulty_file_system.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/store_files.hpp"

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t seeds = 100;  // of each kind of loss
constexpr std::size_t event_bytes = 300;

struct Outcome {
  std::uint64_t accepted = 0;
  std::uint64_t durable = 0;
  std::uint64_t found = 0;
  bool cut = false;
};

struct Totals {
  std::uint64_t accepted = 0, durable = 0, lost = 0, cut = 0;
};

OpenedStore open_faulty(FaultyEnv& env, const fs::path& dir, OpenMode mode, std::size_t buffer) {
  return detail::open_store({.experiment_dir = dir, .mode = mode}, {env.env(), buffer})
      .value_or_throw();
}

/// Appends batches of random size, syncs now and then.
void write_some(Journal& journal, Random& random, Outcome& outcome) {
  const auto batches = 1 + random.below(300);
  for (std::uint64_t i = 0; i < batches; ++i) {
    const std::uint64_t first = outcome.accepted + 1;
    const std::uint64_t last = first + random.below(8);
    outcome.accepted = journal.append(write_sets(first, last, event_bytes)).value_or_throw().value;
    if (random.chance(0.1))
      outcome.durable = journal.sync().value_or_throw().value;
  }
}

/// Writes, loses the power, forgets what was not synced, opens on a sane file system.
Outcome lose_power(const fs::path& dir, std::uint64_t seed, bool torn_pages) {
  Random random(seed, torn_pages ? 1 : 0, RandomPurpose::test);
  // A third flushes often, so that table files and several logs are there.
  const std::size_t buffer = random.chance(0.34) ? 64 << 10 : 16 << 20;
  Outcome outcome;
  FaultyEnv env;
  {
    const auto store = open_faulty(env, dir, OpenMode::create, buffer);
    write_some(*store.journal, random, outcome);
    env.disk().cut_power();
  }
  env.disk().forget_unsynced(random, torn_pages);
  auto opened = open_faulty(FaultyEnv::sane(), dir, OpenMode::existing, std::size_t{16} << 20);
  outcome.found = check_history(*opened.journal, event_bytes);
  outcome.cut = !opened.notes.empty();
  // And it is a store like any other.
  opened.journal->append(write_sets(outcome.found + 1, outcome.found + 1, event_bytes))
      .value_or_throw();
  return outcome;
}

void lose_power_often(bool torn_pages) {
  const troupe::log::ScopedSink quiet([](const troupe::log::Record&) {});
  ScratchFolder scratch("power");
  Totals totals;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    CAPTURE(seed);
    const fs::path dir = scratch.path() / std::to_string(seed);
    const Outcome outcome = lose_power(dir, seed, torn_pages);
    CHECK(outcome.found >= outcome.durable);
    CHECK(outcome.found <= outcome.accepted);
    totals.accepted += outcome.accepted;
    totals.durable += outcome.durable;
    totals.lost += outcome.durable - std::min(outcome.durable, outcome.found);
    totals.cut += outcome.cut ? 1 : 0;
    fs::remove_all(dir);
  }
  MESSAGE("power losses: ", seeds, ", accepted: ", totals.accepted, ", durable: ", totals.durable,
          ", durable and lost: ", totals.lost, ", opened by cutting: ", totals.cut);
}

}  // namespace

TEST_CASE("a loss of power takes nothing durable and leaves no hole") {
  lose_power_often(false);
}

TEST_CASE("a loss of power that leaves a page unwritten takes nothing durable") {
  lose_power_often(true);
}
