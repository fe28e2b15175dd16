#include <troupe/base/log.hpp>
#include <troupe/runtime/store/detail/rocks_journal.hpp>

#include <doctest/doctest.h>

#include "tests/support/faulty_file_system.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/store_files.hpp"

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t event_bytes = 300;

struct Written {
  std::uint64_t accepted = 0;
  std::uint64_t durable = 0;
  std::optional<Error> error;
};

/// Appends and syncs one after the other until something fails or `limit` is reached.
Written write_until_error(Journal& journal, std::uint64_t limit) {
  Written written;
  while (written.accepted < limit && !written.error) {
    const WriteSet next = write_set(written.accepted + 1, event_bytes);
    if (auto last = journal.append({&next, 1})) {
      written.accepted = last->value;
    } else {
      written.error = last.error();
      break;
    }
    if (auto durable = journal.sync()) {
      written.durable = durable->value;
    } else {
      written.error = durable.error();
    }
  }
  return written;
}

void check_refuses_writes(Journal& journal, std::uint64_t next, ErrorCode reason) {
  CHECK(journal.append(write_sets(next, next, event_bytes)).error().code() == reason);
  CHECK(journal.sync().error().code() == reason);
  CHECK_FALSE(journal.close());
}

/// What was durable is there after the process is started again, with or without the power gone
/// too.
void check_restart(const fs::path& dir, const Written& written, std::uint64_t at_least) {
  const auto opened = detail::open_store({.experiment_dir = dir}, {.env = FaultyEnv::sane().env()})
                          .value_or_throw();
  const std::uint64_t found = check_history(*opened.journal, event_bytes);
  CHECK(found >= at_least);
  CHECK(found <= written.accepted + 1);
}

}  // namespace

TEST_CASE("an fsync that fails once stops the writing and loses nothing durable") {
  const troupe::log::ScopedSink quiet([](const troupe::log::Record&) {});
  ScratchFolder scratch("eio");
  for (std::uint64_t n = 1; n <= 50; ++n) {
    for (const bool power_too : {false, true}) {
      CAPTURE(n);
      CAPTURE(power_too);
      const fs::path dir = scratch.path() / std::to_string(n);
      Random random(n, 0, RandomPurpose::test);
      FaultyEnv env;
      Written written;
      {
        const auto store = detail::open_store({.experiment_dir = dir, .mode = OpenMode::create},
                                              {.env = env.env()});
        REQUIRE(store);
        env.disk().fail_log_sync(n);
        written = write_until_error(*store->journal, 1000);
        REQUIRE(written.error);
        CHECK(written.error->code() == ErrorCode::io);
        CHECK(written.durable + 1 == written.accepted);
        check_refuses_writes(*store->journal, written.accepted + 1, ErrorCode::io);
        if (power_too)
          env.disk().cut_power();
      }
      if (power_too)
        env.disk().forget_unsynced(random, false);
      check_restart(dir, written, power_too ? written.durable : written.accepted);
      fs::remove_all(dir);
    }
  }
}

TEST_CASE("a full disk at any write stops the writing, says so and loses nothing accepted") {
  const troupe::log::ScopedSink quiet([](const troupe::log::Record&) {});
  ScratchFolder scratch("enospc");
  for (std::uint64_t n = 1; n <= 50; ++n) {
    CAPTURE(n);
    const fs::path dir = scratch.path() / std::to_string(n);
    FaultyEnv env;
    Written written;
    {
      // Small buffers: the disk fills up in the log, in a table file, in the manifest.
      const auto store = detail::open_store({.experiment_dir = dir, .mode = OpenMode::create},
                                            {env.env(), 64 << 10});
      REQUIRE(store);
      env.disk().fill_disk(1 + (n - 1) * 7);
      written = write_until_error(*store->journal, 5000);
      REQUIRE(written.error);
      CHECK(written.error->code() == ErrorCode::resource_exhausted);
      check_refuses_writes(*store->journal, written.accepted + 1, ErrorCode::resource_exhausted);
    }
    check_restart(dir, written, written.accepted);
    fs::remove_all(dir);
  }
}
