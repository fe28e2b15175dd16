#include <troupe/runtime/store/detail/rocks.hpp>
#include <troupe/runtime/store/doctor.hpp>

#include <doctest/doctest.h>

#include "tests/support/scratch_folder.hpp"
#include "tests/support/store_files.hpp"

/// Repairs of a database that does not open at all.

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t events = 50;

/// Where the events of a store lie.
enum class Lies { in_log, in_files, in_both };

struct Fixture {
  ScratchFolder scratch{"salvage"};
  fs::path dir = scratch.path() / "experiment";
  fs::path store = store_folder(dir);

  explicit Fixture(Lies lies) {
    make_store(dir, lies == Lies::in_both ? events / 2 : events);
    if (lies == Lies::in_log)
      return;
    const auto journal = open_journal(dir);  // the log goes into table files
    if (lies == Lies::in_both)
      REQUIRE(journal->append(write_sets(events / 2 + 1, events)));
    REQUIRE(journal->close());
  }

  fs::path manifest() const {
    for (const auto& entry : fs::directory_iterator(store))
      if (entry.path().filename().string().starts_with("MANIFEST-"))
        return entry.path();
    throw Exception(ErrorCode::not_found, "no manifest");
  }

  /// Looks, changes nothing, and repairs with all events kept.
  Repair repair() const {
    const Files before = files_below(dir);
    const Files store_before = files_below(store);
    const DoctorReport seen = run_doctor(dir).value_or_throw();
    CHECK_FALSE(seen.healthy());
    CHECK(files_below(dir) == before);
    const DoctorReport report = run_doctor(dir, {.accept_loss = true}).value_or_throw();
    REQUIRE_MESSAGE(report.repair, report.to_text());
    CHECK(report.healthy());
    CHECK(report.repair->kept == Sequence(events));
    CHECK(report.repair->lost_events == 0);
    CHECK(files_below(report.repair->kept_aside) == store_before);
    CHECK(run_doctor(dir).value_or_throw().healthy());
    for (const auto& entry : fs::directory_iterator(dir))
      CHECK_FALSE(entry.path().filename().string().starts_with("store.salvage"));
    return *report.repair;
  }

  /// The events and the specification, and that it can go on.
  void check_goes_on() const {
    const auto journal = open_journal(dir);
    for (std::uint64_t number = 1; number <= events; ++number)
      CHECK(journal->event(Sequence(number)).value_or_throw() == sealed(event_payload(number)));
    CHECK(journal->get(Table::experiment, keys::experiment_spec).value_or_throw());
    CHECK(journal->append(write_sets(events + 1, events + 1)));
  }
};

constexpr Lies everywhere[] = {Lies::in_log, Lies::in_files, Lies::in_both};

}  // namespace

TEST_CASE("without CURRENT everything is kept") {
  for (const Lies lies : everywhere) {
    CAPTURE(static_cast<int>(lies));
    for (const char* content : {"", "MANIFEST-999999\n", "gone"}) {
      CAPTURE(content);
      const Fixture f(lies);
      fs::remove(f.store / "CURRENT");
      if (std::string_view(content) != "gone")
        write_all(f.store / "CURRENT", content);
      CHECK_FALSE(open_store({.experiment_dir = f.dir}));
      const Repair repair = f.repair();
      CHECK(repair.dropped_rows == 0);
      CHECK_FALSE(repair.replayed_from_start);
      CHECK(check_history(*open_journal(f.dir)) == events);
      f.check_goes_on();
    }
  }
}

TEST_CASE("with a damaged manifest all events are kept, wherever they lie") {
  for (const Lies lies : everywhere) {
    CAPTURE(static_cast<int>(lies));
    const Fixture f(lies);
    flip_bit(f.manifest(), 20);
    CHECK_FALSE(open_store({.experiment_dir = f.dir}));
    const Repair repair = f.repair();
    CHECK(repair.replayed_from_start);
    f.check_goes_on();
  }
}

TEST_CASE("without any manifest all events are kept, wherever they lie") {
  for (const Lies lies : everywhere) {
    CAPTURE(static_cast<int>(lies));
    const Fixture f(lies);
    fs::remove(f.manifest());
    CHECK_FALSE(open_store({.experiment_dir = f.dir}));
    (void)f.repair();
    f.check_goes_on();
  }
}

TEST_CASE("rows that were erased in the log do not come back") {
  Fixture f(Lies::in_files);
  const std::string key = keys::trial_key(TrialId(3));
  {
    const auto journal = open_journal(f.dir);
    WriteSet erase{sealed("one more"), {{Table::experiment, key, std::nullopt}}};
    WriteSet put{sealed("before"), {{Table::experiment, key, sealed("row")}}};
    REQUIRE(journal->append({&put, 1}));
    REQUIRE(journal->close());
    const auto again = open_journal(f.dir);  // the row goes into a table file
    REQUIRE(again->append({&erase, 1}));
    REQUIRE(again->close());
  }
  flip_bit(f.manifest(), 20);
  const DoctorReport report = run_doctor(f.dir, {.accept_loss = true}).value_or_throw();
  REQUIRE_MESSAGE(report.repair, report.to_text());
  CHECK(report.repair->kept == Sequence(events + 2));
  CHECK_FALSE(open_journal(f.dir)->get(Table::experiment, key).value_or_throw());
}

/// The logs name families by number: a repair without a manifest relies on them.
TEST_CASE("the families of a database have the numbers of their order") {
  const Fixture f(Lies::in_both);
  const auto database = detail::open_read_only(f.store, {}, detail::LogMode::tolerate_tail);
  REQUIRE(database);
  for (std::size_t i = 0; i < detail::family_count; ++i)
    CHECK(database->handle(i)->GetID() == i);
}
