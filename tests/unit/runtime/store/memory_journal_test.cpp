#include <troupe/runtime/store/memory_journal.hpp>

#include <doctest/doctest.h>

#include "tests/support/journal_records.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

std::string loop_row(const MemoryJournal& journal) {
  return journal.get(Table::state, keys::state_loop).value_or_throw().value_or("(none)");
}

/// Events 1 to 3 durable, then the batches {4, 5}, {6}, {7, 8} accepted.
void fill(MemoryJournal& journal) {
  REQUIRE(journal.append(write_sets(1, 3)));
  REQUIRE(journal.sync());
  REQUIRE(journal.append(write_sets(4, 5)));
  REQUIRE(journal.append(write_sets(6, 6)));
  REQUIRE(journal.append(write_sets(7, 8)));
}

}  // namespace

TEST_CASE("a loss of power takes what was not durable, rows and all") {
  MemoryJournal journal;
  fill(journal);
  MemoryJournal undisturbed;
  REQUIRE(undisturbed.append(write_sets(1, 3)));
  journal.power_loss();
  CHECK(journal.watermarks().accepted == Sequence(3));
  CHECK(journal.watermarks().durable == Sequence(3));
  CHECK(journal.watermarks().chain == undisturbed.watermarks().chain);
  CHECK(loop_row(journal) == sealed("loop at 3"));
  CHECK(journal.event(Sequence(4)).error().code() == ErrorCode::not_found);
  CHECK(journal.get(Table::results, keys::result_key(TrialId(4), 4)).value_or_throw() ==
        std::nullopt);
  CHECK(journal.append(write_sets(4, 4)).value_or_throw() == Sequence(4));
}

TEST_CASE("a loss of power may spare whole batches") {
  MemoryJournal journal;
  fill(journal);
  CHECK(journal.undurable_batches() == 3);
  journal.power_loss(2);
  CHECK(journal.watermarks().accepted == Sequence(6));
  CHECK(journal.watermarks().durable == Sequence(6));
  CHECK(loop_row(journal) == sealed("loop at 6"));
}

TEST_CASE("a row that was erased and not durable comes back") {
  MemoryJournal journal;
  REQUIRE(journal.append(write_sets(1, 1)));
  REQUIRE(journal.sync());
  WriteSet erase{sealed("erase"), {{Table::state, std::string(keys::state_loop), std::nullopt}}};
  REQUIRE(journal.append({&erase, 1}));
  CHECK(loop_row(journal) == "(none)");
  journal.power_loss();
  CHECK(loop_row(journal) == sealed("loop at 1"));
}
