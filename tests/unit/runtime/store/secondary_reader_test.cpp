#include <troupe/runtime/store/detail/format.hpp>
#include <troupe/runtime/store/detail/rocks.hpp>
#include <troupe/runtime/store/detail/rocks_journal.hpp>
#include <troupe/runtime/store/detail/witness.hpp>
#include <troupe/runtime/store/secondary_reader.hpp>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <thread>

#include <doctest/doctest.h>

#include "tests/support/scratch_folder.hpp"
#include "tests/support/store_files.hpp"

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

namespace {

struct Fixture {
  ScratchFolder scratch{"secondary"};
  fs::path dir = scratch.path() / "experiment";
};

/// The system's folder for temporary files is this one as long as it lives.
class TemporaryFolder {
public:
  explicit TemporaryFolder(const fs::path& folder) {
    fs::create_directories(folder);
    const char* before = std::getenv("TMPDIR");
    if (before != nullptr)
      before_ = before;
    ::setenv("TMPDIR", folder.c_str(), 1);
  }
  ~TemporaryFolder() {
    if (before_) {
      ::setenv("TMPDIR", before_->c_str(), 1);
    } else {
      ::unsetenv("TMPDIR");
    }
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

private:
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("a reader sees a store that nobody writes, and changes nothing") {
  Fixture f;
  make_store(f.dir, 12);
  const Files before = files_below(f.dir);
  {
    const auto reader = open_secondary(f.dir).value_or_throw();
    CHECK(check_history(*reader) == 12);
    CHECK(reader->watermarks().durable == Sequence(12));
    CHECK(reader->event(Sequence(3)).value_or_throw() == sealed(event_payload(3)));
    CHECK(reader->event(Sequence(13)).error().code() == ErrorCode::not_found);
    CHECK(reader->refresh());
  }
  CHECK(files_below(f.dir) == before);
}

TEST_CASE("a reader makes nothing outside either, so that nothing is left when it is killed") {
  Fixture f;
  make_store(f.dir, 1);
  const fs::path temporary = f.scratch.path() / "tmp";
  const TemporaryFolder instead(temporary);
  const auto reader = open_secondary(f.dir).value_or_throw();
  REQUIRE(reader->refresh());
  CHECK(check_history(*reader) == 1);
  CHECK(fs::is_empty(temporary));
}

TEST_CASE("a log with a damaged end is read as the next opening will find it") {
  Fixture f;
  make_store(f.dir, 20);
  const fs::path log = newest_log(f.dir);
  const std::string whole = read_all(log);
  SUBCASE("nothing durable is lost") {
    // The witness is as of event 3.
    make_store(f.scratch.path() / "other", 3);
    const auto id = open_secondary(f.dir).value_or_throw()->store_id();
    const auto chain = open_secondary(f.scratch.path() / "other").value_or_throw()->watermarks();
    REQUIRE(detail::write_witness(witness_file(f.dir), {id, {Sequence(3), chain.chain}}));
    flip_bit(log, whole.size() - 10);
    const Files before = files_below(f.dir);
    for (const bool refuse : {false, true}) {
      const auto reader = open_secondary(f.dir, {.refuse_loss = refuse}).value_or_throw();
      CHECK(check_history(*reader) == 19);
      REQUIRE(reader->notes().size() == 1);
      CHECK(reader->notes()[0].find("end of the log is damaged") != std::string::npos);
      CHECK(reader->refresh());
      CHECK(check_history(*reader) == 19);
      CHECK(reader->notes().size() == 1);
    }
    CHECK(files_below(f.dir) == before);
    // Mended, a reader that was open goes on without a note.
    const auto reader = open_secondary(f.dir).value_or_throw();
    CHECK(check_history(*open_journal(f.dir)) == 19);
    REQUIRE(reader->refresh());
    CHECK(check_history(*reader) == 19);
    CHECK(reader->notes().empty());
  }
  SUBCASE("durable events are lost") {
    SUBCASE("to a flipped bit") {
      flip_bit(log, whole.size() - 10);
    }
    SUBCASE("to a cut") {
      write_all(log, whole.substr(0, whole.size() - 10));
    }
    const auto reader = open_secondary(f.dir).value_or_throw();
    CHECK(check_history(*reader) == 19);
    REQUIRE_FALSE(reader->notes().empty());
    CHECK(reader->notes().back().find("events 20 to 20 were durable and are missing") !=
          std::string::npos);
    const auto refused = open_secondary(f.dir, {.refuse_loss = true});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == ErrorCode::data_loss);
    // Put back, it is whole again for the same reader.
    write_all(log, whole);
    REQUIRE(reader->refresh());
    CHECK(check_history(*reader) == 20);
    CHECK(reader->notes().empty());
  }
}

TEST_CASE("a store that is gone while its witness is there is a loss, not a store that never was") {
  Fixture f;
  make_store(f.dir, 8);
  fs::remove_all(store_folder(f.dir));
  for (const bool refuse : {false, true}) {
    const auto refused = open_secondary(f.dir, {.refuse_loss = refuse});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == ErrorCode::data_loss);
    CHECK(refused.error().message().find("8 events") != std::string::npos);
  }
}

TEST_CASE("a damaged witness is a note to those who look and stops those who go on") {
  Fixture f;
  make_store(f.dir, 2);
  flip_bit(witness_file(f.dir), 20);
  const auto reader = open_secondary(f.dir).value_or_throw();
  CHECK(check_history(*reader) == 2);
  CHECK(reader->watermarks().durable == Sequence(0));
  REQUIRE(reader->notes().size() == 1);
  CHECK(reader->notes()[0].find("witness of the store is damaged") != std::string::npos);
  CHECK(open_secondary(f.dir, {.refuse_loss = true}).error().code() == ErrorCode::corrupt);
}

TEST_CASE("a store that can not be read is refused with the remedy") {
  Fixture f;
  make_store(f.dir, 2000, 400);
  open_journal(f.dir)->close().value_or_throw();  // the log goes into table files
  for (const auto& file : store_files(f.dir, ".sst"))
    fs::remove(file);
  const auto refused = open_secondary(f.dir);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::corrupt);
  CHECK(refused.error().message().find("troupe doctor") != std::string::npos);
}

TEST_CASE("a reader follows the writer at each refresh") {
  Fixture f;
  const auto journal = open_journal(f.dir, OpenMode::create);
  const auto reader = open_secondary(f.dir).value_or_throw();
  CHECK(reader->store_id() == journal->store_id());
  CHECK(reader->watermarks().accepted == Sequence(0));
  REQUIRE(journal->append(write_sets(1, 7)));
  CHECK(reader->watermarks().accepted == Sequence(0));
  REQUIRE(reader->refresh());
  CHECK(check_history(*reader) == 7);
  CHECK(reader->watermarks().chain == journal->watermarks().chain);
  CHECK(reader->watermarks().durable == Sequence(0));
}

TEST_CASE("a reader never sees half a decision while the writer flushes and compacts") {
  Fixture f;
  // Small buffers: table files come and go all the time.
  const auto store = detail::open_store({.experiment_dir = f.dir, .mode = OpenMode::create},
                                        {.write_buffer_bytes = 64 << 10})
                         .value_or_throw();
  const auto reader = open_secondary(f.dir).value_or_throw();
  std::atomic<bool> done{false};
  std::jthread writer([&] {
    for (std::uint64_t number = 1; number <= 6000 && !done; number += 20)
      store.journal->append(write_sets(number, number + 19, 400)).value_or_throw();
    done = true;
  });
  std::uint64_t seen = 0;
  for (int round = 0; round < 25; ++round) {
    std::string wrong;
    std::uint64_t last = seen;
    try {
      reader->refresh().value_or_throw();
      last = check_history(*reader, 400);
    } catch (const Exception& error) {
      wrong = error.what();
    }
    CHECK_MESSAGE(wrong.empty(), wrong);
    CHECK(last % 20 == 0);
    CHECK(last >= seen);
    seen = last;
  }
  done = true;
}

TEST_CASE("a reader goes on when the writer is replaced") {
  Fixture f;
  make_store(f.dir, 3);
  const auto reader = open_secondary(f.dir).value_or_throw();
  for (std::uint64_t number = 4; number <= 8; ++number) {
    const auto journal = open_journal(f.dir);
    REQUIRE(journal->append(write_sets(number, number)));
    REQUIRE(journal->close());
    REQUIRE(reader->refresh());
    CHECK(check_history(*reader) == number);
  }
}

TEST_CASE("a reader refuses what is not a store or is too new") {
  Fixture f;
  CHECK(open_secondary(f.dir).error().code() == ErrorCode::not_found);
  CHECK_FALSE(fs::exists(f.dir));
  fs::create_directories(store_folder(f.dir));
  write_all(store_folder(f.dir) / "notes.txt", "mine");
  CHECK(open_secondary(f.dir).error().code() == ErrorCode::failed_precondition);
  fs::remove_all(f.dir);
  make_store(f.dir, 1);
  {
    auto database = detail::open_database(store_folder(f.dir), {}, detail::LogMode::tolerate_tail)
                        .value_or_throw();
    const detail::StoreSchema newer{3, 0, 2, "4.0.0"};
    REQUIRE(database.db()
                .Put(rocksdb::WriteOptions(), std::string(detail::schema_key), encode(newer))
                .ok());
  }
  CHECK(open_secondary(f.dir).error().code() == ErrorCode::version_mismatch);
}
