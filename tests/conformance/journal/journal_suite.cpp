#include "tests/conformance/journal/journal_suite.hpp"

#include <troupe/base/fault_point.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/runtime/store/detail/write_rules.hpp>
#include <troupe/runtime/store/keys.hpp>

#include <doctest/doctest.h>

#include "tests/support/journal_records.hpp"

namespace troupe::testing {
namespace {

using Numbers = std::vector<std::uint64_t>;

std::vector<WriteSet> one(WriteSet writes) {
  std::vector<WriteSet> batch;
  batch.push_back(std::move(writes));
  return batch;
}

Numbers event_numbers(const Journal& journal, std::uint64_t after = 0) {
  Numbers numbers;
  journal
      .events(Sequence(after),
              [&](Sequence sequence, std::string_view) {
                numbers.push_back(sequence.value);
                return true;
              })
      .value_or_throw();
  return numbers;
}

std::vector<std::string> keys_with_prefix(const Journal& journal, Table table, std::string prefix) {
  std::vector<std::string> found;
  journal
      .scan(table, prefix,
            [&](std::string_view key, std::string_view) {
              found.emplace_back(key);
              return true;
            })
      .value_or_throw();
  return found;
}

std::string row(const Journal& journal, Table table, const std::string& key) {
  return journal.get(table, key).value_or_throw().value_or("(none)");
}

WriteSet with_row(std::string key, std::optional<std::string> value, Table table = Table::trials) {
  WriteSet writes;
  writes.event = sealed("event");
  writes.rows.push_back({table, std::move(key), std::move(value)});
  return writes;
}

void check_events(JournalFixture& fixture) {
  Journal& journal = fixture.journal();
  CHECK(journal.watermarks().accepted == Sequence(0));
  CHECK(event_numbers(journal).empty());
  CHECK(journal.append(write_sets(1, 3)).value_or_throw() == Sequence(3));
  CHECK(journal.append(write_sets(4, 4)).value_or_throw() == Sequence(4));
  CHECK(journal.append({}).value_or_throw() == Sequence(4));
  CHECK(event_numbers(journal) == Numbers{1, 2, 3, 4});
  CHECK(event_numbers(journal, 2) == Numbers{3, 4});
  CHECK(event_numbers(journal, 4).empty());
  CHECK(journal.event(Sequence(3)).value_or_throw() == sealed(event_payload(3)));
  CHECK(journal.event(Sequence(5)).error().code() == ErrorCode::not_found);
  CHECK(journal.event(Sequence(0)).error().code() == ErrorCode::not_found);
}

void check_visitors_can_end(JournalFixture& fixture) {
  Journal& journal = fixture.journal();
  REQUIRE(journal.append(write_sets(1, 10)));
  int seen = 0;
  const auto twice = [&](auto&&...) { return ++seen < 2; };
  CHECK(journal.events(Sequence(0), twice));
  CHECK(seen == 2);
  seen = 0;
  CHECK(journal.scan(Table::results, "", twice));
  CHECK(seen == 2);
}

void check_chain(JournalFixture& fixture) {
  Journal& journal = fixture.journal();
  REQUIRE(journal.append(write_sets(1, 5)));
  std::uint32_t chain = 0;
  for (std::uint64_t number = 1; number <= 5; ++number)
    chain = detail::chain_next(chain, Sequence(number), sealed(event_payload(number)));
  CHECK(journal.watermarks().chain == chain);
  fixture.reopen();
  CHECK(fixture.journal().watermarks().chain == chain);
}

void check_rows(JournalFixture& fixture) {
  Journal& journal = fixture.journal();
  const std::string absent = "(none)";
  CHECK(row(journal, Table::trials, "a") == absent);
  REQUIRE(journal.append(one(with_row("a", sealed("1")))));
  CHECK(row(journal, Table::trials, "a") == sealed("1"));
  CHECK(row(journal, Table::state, "a") == absent);
  REQUIRE(journal.append(one(with_row("a", sealed("2")))));
  CHECK(row(journal, Table::trials, "a") == sealed("2"));
  REQUIRE(journal.append(one(with_row("a", std::nullopt))));
  CHECK(row(journal, Table::trials, "a") == absent);
  REQUIRE(journal.append(one(with_row("never there", std::nullopt))));
}

void check_later_write_wins(JournalFixture& fixture) {
  Journal& journal = fixture.journal();
  WriteSet within = with_row("a", sealed("1"));
  within.rows.push_back({Table::trials, "a", sealed("2")});
  within.rows.push_back({Table::trials, "b", sealed("1")});
  std::vector<WriteSet> batch = one(std::move(within));
  batch.push_back(with_row("b", std::nullopt));
  REQUIRE(journal.append(batch));
  CHECK(row(journal, Table::trials, "a") == sealed("2"));
  CHECK(row(journal, Table::trials, "b") == "(none)");
}

void check_scan(JournalFixture& fixture) {
  Journal& journal = fixture.journal();
  WriteSet writes;
  writes.event = sealed("event");
  for (const auto& [trial, iteration] :
       {std::pair{2u, 256u}, {1u, 1u}, {2u, 3u}, {3u, 1u}, {2u, 255u}})
    writes.rows.push_back(
        {Table::results, keys::result_key(TrialId(trial), iteration), sealed("r")});
  writes.rows.push_back({Table::checkpoints, keys::checkpoint_key(TrialId(2), 1), sealed("c")});
  REQUIRE(journal.append(one(std::move(writes))));
  const std::vector<std::string> expected{keys::result_key(TrialId(2), 3),
                                          keys::result_key(TrialId(2), 255),
                                          keys::result_key(TrialId(2), 256)};
  CHECK(keys_with_prefix(journal, Table::results, keys::trial_key(TrialId(2))) == expected);
  CHECK(keys_with_prefix(journal, Table::results, "").size() == 5);
  CHECK(keys_with_prefix(journal, Table::trials, "").empty());
}

void check_refusals(JournalFixture& fixture) {
  Journal& journal = fixture.journal();
  const auto refused = [&](WriteSet writes) {
    std::vector<WriteSet> batch = write_sets(1, 1);
    batch.push_back(std::move(writes));
    const auto result = journal.append(batch);
    return !result && result.error().code() == ErrorCode::invalid_argument;
  };
  CHECK(refused({.event = "", .rows = {}}));
  CHECK(refused({.event = "not a record", .rows = {}}));
  CHECK(refused(with_row("", sealed("1"))));
  CHECK(refused(with_row(std::string(limits::max_key_bytes + 1, 'k'), sealed("1"))));
  CHECK(refused(with_row("a", "not a record")));
  CHECK(refused(with_row("a", sealed("1"), static_cast<Table>(0))));
  CHECK(refused(with_row("a", sealed("1"), static_cast<Table>(table_count + 1))));
  CHECK(event_numbers(journal).empty());
  CHECK(row(journal, Table::trials, keys::trial_key(TrialId(1))) == "(none)");
  CHECK(journal.append(one(with_row(std::string(limits::max_key_bytes, 'k'), sealed("1")))));
}

void check_bytes(JournalFixture& fixture) {
  Journal& journal = fixture.journal();
  const std::string key("\0\xff key\0", 7);
  std::string payload;
  for (int byte = 0; byte < 256; ++byte)
    payload.push_back(static_cast<char>(byte));
  REQUIRE(journal.append(one(with_row(key, sealed(payload)))));
  WriteSet large;
  large.event = sealed(std::string(limits::max_record_bytes, 'x'));
  REQUIRE(journal.append(one(large)));
  fixture.reopen();
  CHECK(row(fixture.journal(), Table::trials, key) == sealed(payload));
  CHECK(fixture.journal().event(Sequence(2)).value_or_throw() == large.event);
}

void check_watermarks(JournalFixture& fixture) {
  Journal& journal = fixture.journal();
  REQUIRE(journal.append(write_sets(1, 3)));
  CHECK(journal.watermarks().accepted == Sequence(3));
  CHECK(journal.watermarks().durable == Sequence(0));
  CHECK(journal.sync().value_or_throw() == Sequence(3));
  CHECK(journal.sync().value_or_throw() == Sequence(3));
  REQUIRE(journal.append(write_sets(4, 4)));
  CHECK(journal.watermarks().accepted == Sequence(4));
  CHECK(journal.watermarks().durable == Sequence(3));
}

void check_crash(JournalFixture& fixture) {
  const std::string id = fixture.journal().store_id();
  REQUIRE(fixture.journal().append(write_sets(1, 3)));
  REQUIRE(fixture.journal().sync());
  REQUIRE(fixture.journal().append(write_sets(4, 9)));
  const Watermarks before = fixture.journal().watermarks();
  fixture.crash();
  Journal& journal = fixture.journal();
  CHECK(journal.store_id() == id);
  CHECK(journal.watermarks().accepted == before.accepted);
  CHECK(journal.watermarks().durable == before.accepted);
  CHECK(journal.watermarks().chain == before.chain);
  CHECK(event_numbers(journal) == Numbers{1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(row(journal, Table::state, "loop") == sealed("loop at 9"));
  CHECK(journal.append(write_sets(10, 10)).value_or_throw() == Sequence(10));
}

void check_close(JournalFixture& fixture) {
  Journal& journal = fixture.journal();
  REQUIRE(journal.append(write_sets(1, 2)));
  REQUIRE(journal.close());
  const auto refused = [](const auto& result) {
    return !result && result.error().code() == ErrorCode::failed_precondition;
  };
  CHECK(refused(journal.append(write_sets(3, 3))));
  CHECK(refused(journal.sync()));
  CHECK(refused(journal.get(Table::trials, "a")));
  CHECK(refused(journal.event(Sequence(1))));
  CHECK(refused(journal.close()));
  CHECK(journal.watermarks().durable == Sequence(2));
}

void check_failed_write(JournalFixture& fixture, const char* point) {
  REQUIRE(fixture.journal().append(write_sets(1, 3)));
  {
    const ScopedFault fault(point, {.times = 1});
    CHECK_FALSE(fixture.journal().append(write_sets(4, 6)));
  }
  // With the error that it had, of which the caller may not know.
  const auto refused = [](const auto& result) {
    return !result && result.error().code() == ErrorCode::unavailable &&
           result.error().message().find("fault point") != std::string::npos;
  };
  CHECK(refused(fixture.journal().append(write_sets(4, 4))));
  CHECK(refused(fixture.journal().sync()));
  CHECK(row(fixture.journal(), Table::trials, keys::trial_key(TrialId(3))) == sealed("trial at 3"));
  fixture.crash();
  Journal& journal = fixture.journal();
  const Numbers numbers = event_numbers(journal);
  // As a whole or not at all.
  CHECK((numbers == Numbers{1, 2, 3} || numbers == Numbers{1, 2, 3, 4, 5, 6}));
  const std::uint64_t last = numbers.size();
  CHECK(row(journal, Table::state, "loop") == sealed("loop at " + std::to_string(last)));
  CHECK(journal.append(write_sets(last + 1, last + 1)).value_or_throw() == Sequence(last + 1));
}

void check_failed_sync(JournalFixture& fixture) {
  REQUIRE(fixture.journal().append(write_sets(1, 3)));
  {
    const ScopedFault fault("store.sync.before", {.times = 1});
    CHECK_FALSE(fixture.journal().sync());
  }
  CHECK(fixture.journal().watermarks().durable == Sequence(0));
  CHECK_FALSE(fixture.journal().append(write_sets(4, 4)));
  fixture.crash();
  CHECK(event_numbers(fixture.journal()) == Numbers{1, 2, 3});
  CHECK(fixture.journal().append(write_sets(4, 4)));
}

}  // namespace

void run_journal_suite(const MakeFixture& make) {
  const std::unique_ptr<JournalFixture> fixture = make();
  SUBCASE("events are numbered from 1 without a hole") {
    check_events(*fixture);
  }
  SUBCASE("a visitor ends the visit") {
    check_visitors_can_end(*fixture);
  }
  SUBCASE("the chain covers every event and survives reopening") {
    check_chain(*fixture);
  }
  SUBCASE("rows are put, replaced and erased") {
    check_rows(*fixture);
  }
  SUBCASE("the later write of a key wins") {
    check_later_write_wins(*fixture);
  }
  SUBCASE("a scan gives the rows of a prefix in order") {
    check_scan(*fixture);
  }
  SUBCASE("a batch that breaks a rule is refused whole") {
    check_refusals(*fixture);
  }
  SUBCASE("any bytes and the largest record come back as they were") {
    check_bytes(*fixture);
  }
  SUBCASE("durable follows accepted at sync") {
    check_watermarks(*fixture);
  }
  SUBCASE("a crash loses nothing accepted") {
    check_crash(*fixture);
  }
  SUBCASE("a closed journal refuses") {
    check_close(*fixture);
  }
  SUBCASE("a write that fails ends the writing") {
    check_failed_write(*fixture, "store.append.before_write");
  }
  SUBCASE("a write that fails late ends the writing") {
    check_failed_write(*fixture, "store.append.after_write");
  }
  SUBCASE("a sync that fails ends the writing") {
    check_failed_sync(*fixture);
  }
}

}  // namespace troupe::testing
