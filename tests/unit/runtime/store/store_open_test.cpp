#include <troupe/base/fault_point.hpp>
#include <troupe/runtime/store/detail/format.hpp>
#include <troupe/runtime/store/detail/rocks.hpp>
#include <troupe/runtime/store/detail/witness.hpp>

#include <thread>

#include <doctest/doctest.h>
#include <rocksdb/db.h>
#include <sys/resource.h>

#include "tests/support/eventually.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/store_files.hpp"

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

namespace {

struct Fixture {
  ScratchFolder scratch{"open"};
  fs::path dir = scratch.path() / "experiment";

  Error refusal(OpenMode mode = OpenMode::existing) const {
    auto opened = open_store({.experiment_dir = dir, .mode = mode});
    REQUIRE_FALSE(opened);
    return opened.error();
  }
  std::vector<std::string> notes() const {
    return open_store({.experiment_dir = dir}).value_or_throw().notes;
  }
};

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The files are the same before and after a refusal.
class Untouched {
public:
  explicit Untouched(fs::path folder) : folder_(std::move(folder)), before_(files_below(folder_)) {}
  ~Untouched() { CHECK(files_below(folder_) == before_); }

private:
  fs::path folder_;
  Files before_;
};

void put_meta(const fs::path& dir, std::string_view key, const std::string& value) {
  auto database =
      detail::open_database(store_folder(dir), {}, detail::LogMode::tolerate_tail).value_or_throw();
  REQUIRE(database.db()
              .Put(rocksdb::WriteOptions(), rocksdb::Slice(key.data(), key.size()), value)
              .ok());
}

}  // namespace

TEST_CASE("a store is created once and opened as often as wanted") {
  Fixture f;
  CHECK_FALSE(store_exists(f.dir));
  make_store(f.dir, 3);
  CHECK(store_exists(f.dir));
  CHECK(f.refusal(OpenMode::create).code() == ErrorCode::already_exists);
  CHECK(check_history(*open_journal(f.dir)) == 3);
  CHECK(f.notes().empty());
}

TEST_CASE("opening a store that is not there creates nothing") {
  Fixture f;
  CHECK(f.refusal().code() == ErrorCode::not_found);
  CHECK_FALSE(fs::exists(f.dir));
}

TEST_CASE("a creation that failed leaves no trace of a store") {
  Fixture f;
  for (const char* point : {"store.create.before_identity", "store.create.before_rename"}) {
    const ScopedFault fault(point, {.times = 1});
    CHECK(f.refusal(OpenMode::create).code() == ErrorCode::unavailable);
    CHECK_FALSE(store_exists(f.dir));
  }
  make_store(f.dir, 1);
}

TEST_CASE("a store without any event is as good as a new one") {
  Fixture f;
  open_journal(f.dir, OpenMode::create);
  fs::remove(witness_file(f.dir));  // its creator died before it was written
  const auto journal = open_journal(f.dir, OpenMode::create);
  CHECK(f.refusal(OpenMode::create).code() == ErrorCode::unavailable);
  REQUIRE(journal->append(write_sets(1, 1)));
  REQUIRE(journal->close());
  CHECK(f.refusal(OpenMode::create).code() == ErrorCode::already_exists);
}

TEST_CASE("a folder with other files is refused and left alone") {
  Fixture f;
  fs::create_directories(store_folder(f.dir));
  write_all(store_folder(f.dir) / "holiday.jpg", "picture");
  const Untouched untouched(f.dir);
  for (const OpenMode mode : {OpenMode::existing, OpenMode::create}) {
    const Error error = f.refusal(mode);
    CHECK(error.code() == ErrorCode::failed_precondition);
    CHECK(mentions(error.message(), store_folder(f.dir).string()));
  }
}

TEST_CASE("a database of somebody else is refused and left alone") {
  Fixture f;
  fs::create_directories(store_folder(f.dir));
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* db = nullptr;
  REQUIRE(rocksdb::DB::Open(options, store_folder(f.dir).string(), &db).ok());
  delete db;
  const Untouched untouched(f.dir);
  CHECK(f.refusal().code() == ErrorCode::failed_precondition);
  CHECK(f.refusal(OpenMode::create).code() == ErrorCode::failed_precondition);
}

TEST_CASE("a store that this process has open is refused and stays usable") {
  Fixture f;
  make_store(f.dir, 1);
  const auto journal = open_journal(f.dir);
  CHECK(f.refusal().code() == ErrorCode::unavailable);
  CHECK(journal->append(write_sets(2, 2)));
  CHECK(f.refusal().code() == ErrorCode::unavailable);
}

TEST_CASE("a store that can not be locked for another reason is not said to be in use") {
  Fixture f;
  make_store(f.dir, 1);
  SUBCASE("the lock file is none") {
    fs::remove(store_folder(f.dir) / "LOCK");
    fs::create_directory(store_folder(f.dir) / "LOCK");
    const Untouched untouched(f.dir);
    const Error error = f.refusal();
    CHECK(error.code() == ErrorCode::io);
    CHECK_MESSAGE(mentions(error.message(), "Is a directory"), error.message());
    CHECK_FALSE(mentions(error.message(), "another run"));
  }
  SUBCASE("there is no file descriptor left") {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit none{0, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    const auto lock = detail::FolderLock::acquire(store_folder(f.dir), {});
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    REQUIRE_FALSE(lock);
    CHECK(lock.error().code() == ErrorCode::resource_exhausted);
    CHECK_MESSAGE(mentions(lock.error().message(), "ulimit -n"), lock.error().message());
    CHECK_FALSE(mentions(lock.error().message(), "another run"));
  }
}

TEST_CASE("a store of a newer Troupe is refused with the version that wrote it") {
  Fixture f;
  make_store(f.dir, 2);
  SUBCASE("by its schema") {
    detail::StoreSchema schema{7, 1, 6, "9.8.7"};
    put_meta(f.dir, detail::schema_key, encode(schema));
    const Untouched untouched(f.dir);
    const Error error = f.refusal();
    CHECK(error.code() == ErrorCode::version_mismatch);
    CHECK(mentions(error.message(), "9.8.7"));
  }
  SUBCASE("by an unknown column family") {
    {
      auto database = detail::open_database(store_folder(f.dir), {}, detail::LogMode::tolerate_tail)
                          .value_or_throw();
      rocksdb::ColumnFamilyHandle* handle = nullptr;
      REQUIRE(database.db().CreateColumnFamily({}, "hologram", &handle).ok());
      REQUIRE(database.db().DestroyColumnFamilyHandle(handle).ok());
    }
    const Untouched untouched(f.dir);
    const Error error = f.refusal();
    CHECK(error.code() == ErrorCode::version_mismatch);
    CHECK(mentions(error.message(), "hologram"));
  }
  SUBCASE("but one that says that we can read it is opened") {
    put_meta(f.dir, detail::schema_key, encode(detail::StoreSchema{7, 1, 1, "9.8.7"}));
    CHECK(check_history(*open_journal(f.dir)) == 2);
  }
}

TEST_CASE("a log that was deleted is a loss that is named") {
  Fixture f;
  make_store(f.dir, 20);
  fs::remove(newest_log(f.dir));
  const Untouched untouched(f.dir);
  const Error error = f.refusal();
  CHECK(error.code() == ErrorCode::data_loss);
  CHECK(mentions(error.message(), "events 1 to 20"));
  CHECK(mentions(error.message(), "--accept-loss"));
  CHECK(f.refusal(OpenMode::create).code() == ErrorCode::already_exists);
}

TEST_CASE("a store that is gone is a loss, not a reason to begin anew") {
  Fixture f;
  make_store(f.dir, 5);
  fs::remove_all(store_folder(f.dir));
  const Untouched untouched(f.dir);
  for (const OpenMode mode : {OpenMode::existing, OpenMode::create})
    CHECK(f.refusal(mode).code() == ErrorCode::data_loss);
}

TEST_CASE("damage in the part of the log that was durable is refused") {
  Fixture f;
  make_store(f.dir, 20);
  const fs::path log = newest_log(f.dir);
  flip_bit(log, fs::file_size(log) / 2);
  const Untouched untouched(f.dir);
  const Error error = f.refusal();
  CHECK(error.code() == ErrorCode::data_loss);
  CHECK(mentions(error.message(), "to 20"));
}

TEST_CASE("damage behind what was durable is cut off, said, and the folder is kept aside") {
  Fixture f;
  make_store(f.dir, 10);
  {
    const auto journal = open_journal(f.dir);
    for (std::uint64_t number = 11; number <= 30; ++number)
      REQUIRE(journal->append(write_sets(number, number)));
  }  // as a crash: the witness stays at 10
  const fs::path log = newest_log(f.dir);
  flip_bit(log, fs::file_size(log) / 2);
  const Files before = files_below(store_folder(f.dir));
  const auto notes = f.notes();
  REQUIRE(notes.size() == 1);
  CHECK(mentions(notes[0], "before-recovery-1"));
  CHECK(files_below(store_folder(f.dir).string() + ".before-recovery-1") == before);
  const std::uint64_t last = check_history(*open_journal(f.dir));
  CHECK(last >= 10);
  CHECK(last < 30);
  CHECK(mentions(notes[0], std::to_string(last) + " events are kept"));
}

TEST_CASE("an older log that is missing shows as a hole") {
  Fixture f;
  make_store(f.dir, 3);
  std::vector<fs::path> logs;
  {
    const auto journal = open_journal(f.dir);
    REQUIRE(journal->append(write_sets(4, 6)));
  }
  const Files first = files_below(store_folder(f.dir));
  const fs::path older = newest_log(f.dir);
  {
    const auto journal = open_journal(f.dir);
    REQUIRE(journal->append(write_sets(7, 9)));
    journal->close().value_or_throw();
  }
  // A newer log beside table files that know nothing of events 4 to 6.
  const std::string newer_bytes = read_all(newest_log(f.dir));
  const std::string newer_name = newest_log(f.dir).filename().string();
  restore_files(store_folder(f.dir), first);
  fs::remove(older);
  write_all(store_folder(f.dir) / newer_name, newer_bytes);
  const Error error = f.refusal();
  CHECK((error.code() == ErrorCode::data_loss || error.code() == ErrorCode::corrupt));
}

TEST_CASE("a missing witness is made anew after everything was verified, and it is said") {
  Fixture f;
  make_store(f.dir, 5);
  fs::remove(witness_file(f.dir));
  const auto notes = f.notes();
  REQUIRE(notes.size() == 1);
  CHECK(mentions(notes[0], "high_water is missing"));
  CHECK(f.notes().empty());
}

TEST_CASE("a damaged witness stops the opening") {
  Fixture f;
  make_store(f.dir, 5);
  flip_bit(witness_file(f.dir), fs::file_size(witness_file(f.dir)) - 1);
  const Untouched untouched(f.dir);
  const Error error = f.refusal();
  CHECK(error.code() == ErrorCode::corrupt);
  CHECK(mentions(error.message(), "high_water"));
}

TEST_CASE("the witness of another store is refused") {
  Fixture f;
  make_store(f.dir, 5);
  make_store(f.scratch.path() / "other", 5);
  fs::copy_file(witness_file(f.scratch.path() / "other"), witness_file(f.dir),
                fs::copy_options::overwrite_existing);
  const Untouched untouched(f.dir);
  CHECK(f.refusal().code() == ErrorCode::failed_precondition);
}

TEST_CASE("an older copy that was run again is another history") {
  Fixture f;
  make_store(f.dir, 5);
  const Files old = files_below(store_folder(f.dir));
  {
    const auto journal = open_journal(f.dir);
    REQUIRE(journal->append(write_sets(6, 9)));
    REQUIRE(journal->close());
  }
  const std::string witness = read_all(witness_file(f.dir));
  restore_files(store_folder(f.dir), old);
  CHECK(f.refusal().code() == ErrorCode::data_loss);
  fs::remove(witness_file(f.dir));
  {
    const auto journal = open_journal(f.dir);
    REQUIRE(journal->append(write_sets(16, 25)));  // other events under the numbers 6 to 15
    REQUIRE(journal->close());
  }
  write_all(witness_file(f.dir), witness);
  const Error error = f.refusal();
  CHECK(error.code() == ErrorCode::data_loss);
  CHECK(mentions(error.message(), "another history"));
}

namespace {

std::unique_ptr<Journal> create_with_interval(const fs::path& dir, Duration witness_interval) {
  return std::move(
      open_store(
          {.experiment_dir = dir, .mode = OpenMode::create, .witness_interval = witness_interval})
          .value_or_throw()
          .journal);
}

Sequence witnessed(const fs::path& dir) {
  return detail::read_witness(witness_file(dir)).value_or_throw()->mark.sequence;
}

}  // namespace

TEST_CASE("the witness follows a sync without closing") {
  Fixture f;
  const auto journal = create_with_interval(f.dir, std::chrono::milliseconds(1));
  REQUIRE(journal->append(write_sets(1, 4)));
  REQUIRE(journal->sync());
  CHECK(eventually([&] { return witnessed(f.dir) == Sequence(4); }));
}

TEST_CASE("without an interval a sync returns with the witness written") {
  Fixture f;
  const auto journal = create_with_interval(f.dir, Duration::zero());
  for (const std::uint64_t last : {4, 8}) {
    REQUIRE(journal->append(write_sets(last - 3, last)));
    REQUIRE(journal->sync());
    CHECK(witnessed(f.dir) == Sequence(last));
  }
}

TEST_CASE("without an interval, too, a witness that can not be written stops the next write") {
  Fixture f;
  const auto journal = create_with_interval(f.dir, Duration::zero());
  REQUIRE(journal->append(write_sets(1, 4)));
  {
    const ScopedFault fault("file.write_atomically.before_rename", {});
    CHECK(*journal->sync() == Sequence(4));
  }
  const auto refused = journal->append(write_sets(5, 6));
  REQUIRE_FALSE(refused);
  CHECK(mentions(refused.error().message(), "witness"));
  CHECK(witnessed(f.dir) == Sequence());
  CHECK(journal->watermarks().durable == Sequence(4));
}
