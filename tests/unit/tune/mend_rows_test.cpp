#include <troupe/runtime/store/keys.hpp>
#include <troupe/tune/detail/mend_rows.hpp>

#include <map>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "loop_driver.hpp"

namespace troupe::tune {
namespace {

using Rows = std::map<std::pair<Table, std::string>, std::string>;

/// Everything that readers see.
Rows rows_of(const Journal& journal) {
  Rows rows;
  for (const Table table : {Table::trials, Table::results, Table::checkpoints})
    journal
        .scan(table, {},
              [&](std::string_view key, std::string_view value) {
                rows[{table, std::string(key)}] = value;
                return true;
              })
        .value_or_throw();
  return rows;
}

/// An experiment of every kind of row: finished, failed, running trials, checkpoints that were kept
/// and given up.
void live(LoopDriver& driver) {
  for (std::uint32_t trial = 0; trial < 6; ++trial) {
    for (int i = 0; i < 3; ++i) {
      const auto answer = driver.report(trial, {{"loss", i}});
      if (answer->save)
        driver.save(trial, *answer->save);
    }
    if (trial == 2) {
      driver.fail(trial, "boom");
    } else if (trial < 5) {
      driver.finish(trial);
    }
  }
}

ExperimentDefinition definition() {
  ExperimentDefinition definition;
  definition.param_space = {{"x", uniform(0, 1)}};
  definition.tune_config.num_samples = 20;
  definition.run_config.checkpoint_config.checkpoint_frequency = 1;
  definition.run_config.checkpoint_config.num_to_keep = 1;
  return definition;
}

/// As the doctor leaves a store behind.
void drop(MemoryJournal& journal, const Rows& rows) {
  WriteSet write{encode(EventRecord{.body = RowsRestored{}}), {}};
  for (const auto& [key, value] : rows)
    write.rows.push_back({key.first, key.second, std::nullopt});
  const std::string mark = encode(RowsDropped{journal.watermarks().accepted});
  write.rows.push_back({Table::state, std::string(keys::state_dropped), mark});
  journal.append({&write, 1}).value_or_throw();
}

}  // namespace

TEST_CASE("rows that a repair dropped come back as they were") {
  LoopDriver driver(definition());
  live(driver);
  const Rows whole = rows_of(driver.journal);
  REQUIRE(whole.size() > 20);
  Rows lost;
  SUBCASE("one row of a finished trial") {
    const std::pair key(Table::trials, keys::trial_key(TrialId(1)));
    lost[key] = whole.at(key);
  }
  SUBCASE("all rows") {
    lost = whole;
  }
  drop(driver.journal, lost);
  REQUIRE(rows_of(driver.journal).size() == whole.size() - lost.size());
  const auto mended = detail::mend_rows(driver.journal, nullptr, nullptr, 7);
  CHECK(mended.value_or_throw() == lost.size());
  CHECK(rows_of(driver.journal) == whole);
  CHECK(driver.journal.watermarks().durable == driver.journal.watermarks().accepted);
  CHECK(detail::mend_rows(driver.journal, nullptr, nullptr, 7).value_or_throw() == 0);
  driver.kill_and_restore();
  CHECK(driver.running() == std::vector<std::uint32_t>{5});
  CHECK(read_trials(driver.journal).value_or_throw().size() == 6);
  CHECK(TrialLoop::verify_replay(driver.journal, nullptr, nullptr).has_value());
}

TEST_CASE("a store that nobody repaired is left alone") {
  LoopDriver driver(definition());
  live(driver);
  const Sequence before = driver.journal.watermarks().accepted;
  CHECK(detail::mend_rows(driver.journal, nullptr, nullptr, 7).value_or_throw() == 0);
  CHECK(driver.journal.watermarks().accepted == before);
}

}  // namespace troupe::tune
