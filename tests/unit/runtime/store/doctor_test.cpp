#include <troupe/runtime/store/detail/format.hpp>
#include <troupe/runtime/store/detail/rocks.hpp>
#include <troupe/runtime/store/doctor.hpp>

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/support/scratch_folder.hpp"
#include "tests/support/store_files.hpp"

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

namespace {

struct Fixture {
  ScratchFolder scratch{"doctor"};
  fs::path dir = scratch.path() / "experiment";

  DoctorReport look() const { return run_doctor(dir).value_or_throw(); }
  DoctorReport repair() const { return run_doctor(dir, {.accept_loss = true}).value_or_throw(); }
  /// Looks, checks that looking changed nothing and that damage was found in a place.
  DoctorReport look_at_damage(const std::string& place) const {
    const Files before = files_below(dir);
    DoctorReport report = look();
    CHECK(files_below(dir) == before);
    CHECK_FALSE(report.healthy());
    CHECK_MESSAGE(std::any_of(report.findings.begin(), report.findings.end(),
                              [&](const Finding& finding) {
                                return finding.severity == Severity::damage &&
                                       finding.place.find(place) != std::string::npos &&
                                       !finding.what.empty() && !finding.remedy.empty();
                              }),
                  report.to_text());
    return report;
  }
  detail::Database database() const {
    return detail::open_database(store_folder(dir), {}, detail::LogMode::tolerate_tail)
        .value_or_throw();
  }
};

/// Changes a stored value as if it had been written so.
void overwrite(const detail::Database& database, std::size_t family, const std::string& key,
               const std::string& value) {
  REQUIRE(database.db().Put(rocksdb::WriteOptions(), database.handle(family), key, value).ok());
}

std::string stored_value(const detail::Database& database, std::size_t family,
                         const std::string& key) {
  std::string value;
  REQUIRE(database.db().Get(rocksdb::ReadOptions(), database.handle(family), key, &value).ok());
  return value;
}

constexpr std::size_t events_family = static_cast<std::size_t>(detail::Family::events);

}  // namespace

TEST_CASE("a whole store is said to be whole") {
  Fixture f;
  make_store(f.dir, 30);
  const Files before = files_below(f.dir);
  for (const fs::path& path : {f.dir, store_folder(f.dir), f.dir / ""}) {
    const DoctorReport report = run_doctor(path).value_or_throw();
    CHECK(report.healthy());
    CHECK(report.findings.empty());
    CHECK(report.events == 30);
    CHECK(report.rows == 39);
    CHECK(report.accepted == Sequence(30));
    CHECK(report.witnessed == Sequence(30));
    CHECK(report.to_text().find("The store is whole") != std::string::npos);
  }
  CHECK_FALSE(f.repair().repair);
  CHECK(files_below(f.dir) == before);
}

TEST_CASE("where there is no store the doctor says so") {
  Fixture f;
  CHECK(run_doctor(f.dir).error().code() == ErrorCode::not_found);
}

TEST_CASE("no repair is advised where nothing is left, and trying one says so") {
  Fixture f;
  make_store(f.dir, 3);
  fs::remove_all(store_folder(f.dir));
  const Files before = files_below(f.dir);
  for (const bool accept_loss : {false, true}) {
    const DoctorReport report = run_doctor(f.dir, {.accept_loss = accept_loss}).value_or_throw();
    CHECK_FALSE(report.healthy());
    CHECK_FALSE(report.repair);
    const std::string text = report.to_text();
    CHECK_MESSAGE(text.find("backup") != std::string::npos, text);
    CHECK_MESSAGE(text.find("accept-loss") == std::string::npos, text);
    CHECK_MESSAGE(text.find("LOCK") == std::string::npos, text);
  }
  CHECK(files_below(f.dir) == before);
}

TEST_CASE("a store in use is looked at beside its writer and not repaired") {
  Fixture f;
  const auto journal = open_journal(f.dir, OpenMode::create);
  REQUIRE(journal->append(write_sets(1, 9)));
  const DoctorReport report = f.look();
  CHECK(report.in_use);
  CHECK(report.healthy());
  CHECK(report.accepted == Sequence(9));
  CHECK(run_doctor(f.dir, {.accept_loss = true}).error().code() == ErrorCode::unavailable);
  CHECK(journal->append(write_sets(10, 10)));
}

TEST_CASE("a lost end of the log is given up when told so") {
  Fixture f;
  make_store(f.dir, 20);
  const fs::path log = newest_log(f.dir);
  const std::string bytes = read_all(log);
  write_all(log, bytes.substr(0, bytes.size() / 2));
  const Files before = files_below(store_folder(f.dir));
  f.look_at_damage("high_water");
  const DoctorReport report = f.repair();
  REQUIRE(report.repair);
  CHECK(report.healthy());
  CHECK(report.repair->kept.value + report.repair->lost_events == 20);
  CHECK(report.repair->lost_events > 0);
  CHECK_FALSE(report.repair->replayed_from_start);
  CHECK(files_below(report.repair->kept_aside) == before);
  CHECK(check_history(*open_journal(f.dir)) == report.repair->kept.value);
  CHECK(f.look().healthy());
}

TEST_CASE("a flipped bit in the durable part of the log is cut off when told so") {
  Fixture f;
  make_store(f.dir, 20);
  const fs::path log = newest_log(f.dir);
  flip_bit(log, fs::file_size(log) / 2);
  f.look_at_damage("high_water");
  const DoctorReport report = f.repair();
  REQUIRE(report.repair);
  CHECK(report.repair->lost_events > 0);
  const auto journal = open_journal(f.dir);
  const std::uint64_t last = check_history(*journal);
  CHECK(last == report.repair->kept.value);
  CHECK(journal->append(write_sets(last + 1, last + 1)));
}

TEST_CASE("the damaged end of a log in which nothing was durable is cut off when told so") {
  Fixture f;
  make_store(f.dir, 20);
  const fs::path log = newest_log(f.dir);
  flip_bit(log, fs::file_size(log) - 10);
  fs::remove(witness_file(f.dir));  // nothing is known to have been durable
  const Files before = files_below(f.dir);
  const DoctorReport seen = f.look();
  CHECK(files_below(f.dir) == before);
  CHECK(seen.healthy());
  CHECK(seen.accepted == Sequence(19));
  CHECK_MESSAGE(seen.to_text().find("--repair") != std::string::npos, seen.to_text());
  const DoctorReport report = f.repair();
  REQUIRE(report.repair);
  CHECK(report.repair->kept == Sequence(19));
  CHECK(report.repair->lost_events == 0);
  CHECK(report.repair->dropped_rows == 0);
  CHECK(fs::exists(report.repair->kept_aside));
  const DoctorReport after = f.look();
  CHECK_MESSAGE(after.to_text().find("log of the database") == std::string::npos, after.to_text());
  CHECK(check_history(*open_journal(f.dir)) == 19);
}

TEST_CASE("a damaged event costs those behind it and the rows that came from them") {
  Fixture f;
  make_store(f.dir, 20);
  {
    const auto database = f.database();
    std::string value = stored_value(database, events_family, detail::event_key(Sequence(13)));
    value.back() ^= 1;
    overwrite(database, events_family, detail::event_key(Sequence(13)), value);
  }
  const DoctorReport seen = f.look_at_damage("event 13");
  CHECK(seen.accepted == Sequence(12));
  CHECK(seen.events == 20);
  const DoctorReport report = f.repair();
  REQUIRE(report.repair);
  CHECK(report.repair->kept == Sequence(12));
  CHECK(report.repair->lost_events == 8);
  CHECK(report.repair->replayed_from_start);
  CHECK(report.repair->dropped_rows == 7 + 8 + 1);  // trials, results, the snapshot
  CHECK(report.repair->dropped.size() == report.repair->dropped_rows);
  const auto journal = open_journal(f.dir);
  CHECK(journal->watermarks().accepted == Sequence(12));
  CHECK(journal->event(Sequence(12)).value_or_throw() == sealed(event_payload(12)));
  CHECK(journal->get(Table::state, keys::state_loop).value_or_throw() == std::nullopt);
  CHECK(journal->get(Table::results, keys::result_key(TrialId(5), 12)).value_or_throw());
  CHECK_FALSE(journal->get(Table::results, keys::result_key(TrialId(6), 13)).value_or_throw());
  CHECK(f.look().rows == 14);  // with the specification, and the mark that rows were dropped
  CHECK(journal->store_id() == report.store_id);
}

TEST_CASE("an event that is missing or in another place is found by the chain") {
  Fixture f;
  make_store(f.dir, 10);
  SUBCASE("missing") {
    const auto database = f.database();
    REQUIRE(database.db()
                .Delete(rocksdb::WriteOptions(), database.handle(events_family),
                        detail::event_key(Sequence(4)))
                .ok());
    REQUIRE(database.db().Flush(rocksdb::FlushOptions(), database.handle(events_family)).ok());
  }
  SUBCASE("exchanged") {
    const auto database = f.database();
    const std::string fifth = stored_value(database, events_family, detail::event_key(Sequence(5)));
    overwrite(database, events_family, detail::event_key(Sequence(4)), fifth);
    REQUIRE(database.db().Flush(rocksdb::FlushOptions(), database.handle(events_family)).ok());
  }
  const DoctorReport seen = f.look_at_damage("event");
  CHECK(seen.accepted == Sequence(3));
  CHECK_FALSE(open_store({.experiment_dir = f.dir}));
}

TEST_CASE("an event that is damaged inside its record is found") {
  Fixture f;
  make_store(f.dir, 3);
  {
    const auto database = f.database();
    overwrite(database, events_family, detail::event_key(Sequence(3)), "\1\2\3\4not a record");
  }
  f.look_at_damage("event 3");
}

TEST_CASE("a result that points at nothing and a damaged row are found and dropped") {
  Fixture f;
  make_store(f.dir, 10);
  const std::size_t results = detail::index_of(Table::results);
  const std::size_t trials = detail::index_of(Table::trials);
  std::string place;
  {
    const auto database = f.database();
    SUBCASE("pointer") {
      place = "table results";
      overwrite(database, results, keys::result_key(TrialId(3), 3),
                detail::row_prefix(Sequence(3)) + encode(EventPointer{Sequence(99)}));
    }
    SUBCASE("not a pointer") {
      place = "table results";
      overwrite(database, results, keys::result_key(TrialId(3), 3),
                detail::row_prefix(Sequence(3)) + sealed("something else"));
    }
    SUBCASE("damaged") {
      place = "table trials, key 0x00000003";
      overwrite(database, trials, keys::trial_key(TrialId(3)),
                detail::row_prefix(Sequence(3)) + "damaged");
    }
    SUBCASE("from an event that does not exist") {
      place = "table trials";
      overwrite(database, trials, keys::trial_key(TrialId(3)),
                detail::row_prefix(Sequence(11)) + sealed("row"));
    }
  }
  f.look_at_damage(place);
  const DoctorReport report = f.repair();
  REQUIRE(report.repair);
  CHECK(report.repair->lost_events == 0);
  CHECK(report.repair->dropped_rows == 1);
  CHECK_FALSE(report.repair->replayed_from_start);
  CHECK(f.look().healthy());
  const auto journal = open_journal(f.dir);
  CHECK(journal->watermarks().accepted == Sequence(10));
  // Whoever goes on is told to write it again.
  const auto mark = journal->get(Table::state, keys::state_dropped).value_or_throw();
  REQUIRE(mark.has_value());
  CHECK(decode<RowsDropped>(*mark).value_or_throw().events == Sequence(10));
}

TEST_CASE("a damaged table file is found with its place and what is before it is kept") {
  Fixture f;
  make_store(f.dir, 2000, 400);
  open_journal(f.dir)->close().value_or_throw();  // the log goes into table files
  auto files = store_files(f.dir, ".sst");
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return fs::file_size(a) < fs::file_size(b); });
  const fs::path largest = files.back();
  flip_bit(largest, fs::file_size(largest) / 2);
  f.look_at_damage("events");
  const DoctorReport report = f.repair();
  REQUIRE(report.repair);
  CHECK(report.repair->kept > Sequence(0));
  CHECK(report.repair->kept.value + report.repair->lost_events == 2000);
  CHECK(open_journal(f.dir)->watermarks().accepted == report.repair->kept);
  CHECK(f.look().healthy());
}

TEST_CASE("the witness: missing, damaged, of another store") {
  Fixture f;
  make_store(f.dir, 5);
  SUBCASE("missing is a warning") {
    fs::remove(witness_file(f.dir));
    const DoctorReport report = f.look();
    CHECK(report.healthy());
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings[0].severity == Severity::warning);
  }
  SUBCASE("damaged") {
    flip_bit(witness_file(f.dir), 20);
    f.look_at_damage("high_water");
    CHECK(f.repair().healthy());
    CHECK(check_history(*open_journal(f.dir)) == 5);
  }
  SUBCASE("of another store") {
    make_store(f.scratch.path() / "other", 7);
    fs::copy_file(witness_file(f.scratch.path() / "other"), witness_file(f.dir),
                  fs::copy_options::overwrite_existing);
    f.look_at_damage("high_water");
    CHECK(f.repair().healthy());
    CHECK(check_history(*open_journal(f.dir)) == 5);
    CHECK(fs::exists(f.dir / "high_water.before-repair-1"));
  }
}

TEST_CASE("what is left without first event or specification is not repaired") {
  Fixture f;
  make_store(f.dir, 8);
  SUBCASE("the log is gone") {
    fs::remove(newest_log(f.dir));
  }
  SUBCASE("the specification is gone") {
    const auto database = f.database();
    REQUIRE(database.db()
                .Delete(rocksdb::WriteOptions(),
                        database.handle(detail::index_of(Table::experiment)),
                        std::string(keys::experiment_spec))
                .ok());
    overwrite(database, events_family, detail::event_key(Sequence(8)), "damaged");
  }
  const Files before = files_below(f.dir);
  const DoctorReport report = f.repair();
  CHECK_FALSE(report.repair);
  CHECK_FALSE(report.healthy());
  CHECK_MESSAGE(report.to_text().find("specification") != std::string::npos, report.to_text());
  CHECK(files_below(f.dir) == before);
}

TEST_CASE("a store of a newer Troupe is not repaired") {
  Fixture f;
  make_store(f.dir, 5);
  overwrite(f.database(), 0, std::string(detail::schema_key),
            encode(detail::StoreSchema{9, 0, 9, "9.0.0"}));
  const Files before = files_below(f.dir);
  const DoctorReport report = f.repair();
  CHECK_FALSE(report.repair);
  CHECK_FALSE(report.healthy());
  CHECK(report.to_text().find("9.0.0") != std::string::npos);
  CHECK(files_below(f.dir) == before);
}

TEST_CASE("a thousand damages make a hundred findings and a count") {
  Fixture f;
  make_store(f.dir, 300);
  {
    const auto database = f.database();
    for (std::uint64_t number = 1; number <= 300; ++number)
      overwrite(database, detail::index_of(Table::results),
                keys::result_key(TrialId(static_cast<std::uint32_t>(number % 7)), number), "short");
  }
  const DoctorReport report = f.look();
  CHECK(report.findings.size() == 100);
  CHECK(report.findings.back().what.find("201 more") != std::string::npos);
}
