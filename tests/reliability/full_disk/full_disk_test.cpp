// A disk that fills up under a run: real writes fail, wherever they happen to.
#include <troupe/runtime/store/store.hpp>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/reliability/full_disk/small_disk.hpp"
#include "tests/reliability/kills/table.hpp"
#include "tests/reliability/kills/witness.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/store_files.hpp"

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

constexpr int exit_skipped = 77;  // CTest knows it: CMakeLists.txt

void troupe_test_start(int argc, char** argv);
void troupe_test_start(int, char**) {
  const std::string why_not = allow_mounts();
  if (why_not.empty())
    return;
  std::fprintf(stderr, "SKIPPED, nothing was tested: %s\n", why_not.c_str());
  std::exit(exit_skipped);
}

namespace {

/// The driver of the kill tests, on a disk; what it prints goes elsewhere.
struct Arena {
  fs::path storage;
  std::string scheduler;
  std::string isolation;
  ScratchFolder output{"full_disk"};

  fs::path experiment() const { return storage / "walk"; }
  std::string err() const {
    return read_file(output.path() / "err", 1 << 20).value_or(std::string());
  }
  std::unique_ptr<Program> start() const {
    fs::remove(output.path() / "err");
    return std::make_unique<Program>(
        "kill_driver", std::vector<std::string>{storage.string(), scheduler, isolation, "7"},
        output.path() / "out", output.path() / "err");
  }
};

/// Waits until so many results are accepted, or the driver has ended, as long as it moves.
void wait_for(const Arena& arena, Witness& witness, std::size_t results, Program& driver) {
  while (witness.results() < results && !driver.ended()) {
    const std::size_t before = witness.results();
    REQUIRE_MESSAGE(eventually([&] {
                      witness.look();
                      return witness.results() > before || driver.ended();
                    }),
                    arena.err());
  }
}

void finish(const Arena& arena) {
  Witness witness(arena.experiment());
  const auto driver = arena.start();
  wait_for(arena, witness, std::numeric_limits<std::size_t>::max(), *driver);
  REQUIRE_MESSAGE(driver->wait() == 0, arena.err());
}

/// One error, and whoever reads it knows where and what to do.
void check_message(const Arena& arena) {
  const std::string text = arena.err();
  std::istringstream lines(text);
  std::size_t errors = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("error: ") || line.find("Z error ") != std::string::npos)
      ++errors;
  CHECK_MESSAGE(errors == 1, text);
  for (const std::string& part :
       {std::string("resource_exhausted"), arena.experiment().string(), std::string("ree some"),
        std::string("Nothing that was accepted is lost"), std::string("Tuner::restore")})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part, " is missing in: ", text);
}

void expect_stop(const Arena& arena, Program& driver) {
  REQUIRE_MESSAGE(eventually([&] { return driver.ended(); }), "it does not stop: ", arena.err());
  const int status = driver.wait();
  REQUIRE_MESSAGE((WIFEXITED(status) && WEXITSTATUS(status) == 1), arena.err());
}

void run(const std::string& scheduler, const std::string& isolation) {
  std::string expected;
  std::size_t results = 0;
  {
    const ScratchFolder calm("calm");
    const Arena arena{calm.path(), scheduler, isolation};
    finish(arena);
    expected = final_table(arena.experiment());
    Witness witness(arena.experiment());
    REQUIRE(witness.look());
    results = witness.results();
  }

  const SmallDisk disk;
  const Arena arena{disk.path(), scheduler, isolation};
  Witness witness(arena.experiment());
  struct Moment {
    std::size_t percent;
    std::size_t leave_bytes;  // which the run uses up itself
  };
  for (const Moment moment : {Moment{20, 0}, Moment{45, 300 << 10}, Moment{70, 20 << 10}}) {
    CAPTURE(moment.percent);
    const auto driver = arena.start();
    wait_for(arena, witness, results * moment.percent / 100, *driver);
    REQUIRE_MESSAGE(!driver->ended(), arena.err());
    disk.fill(moment.leave_bytes);
    expect_stop(arena, *driver);
    check_message(arena);
    witness.check_nothing_lost();
    {
      disk.fill(0);
      const auto too_early = arena.start();
      expect_stop(arena, *too_early);
      CHECK_MESSAGE(arena.err().find("resource_exhausted") != std::string::npos, arena.err());
      witness.check_nothing_lost();
    }
    disk.free();
  }
  finish(arena);
  witness.check_nothing_lost();
  CHECK_MESSAGE(final_table(arena.experiment()) == expected, "the final tables differ");
}

}  // namespace

TEST_CASE("a full disk stops a run with one error, and with space it goes on: processes") {
  run("fifo", "process");
}

TEST_CASE("a full disk stops a run with one error, and with space it goes on: ASHA, threads") {
  run("asha", "thread");
}

TEST_CASE("a store that fills its disk itself keeps what it accepted") {
  for (const std::size_t bytes : {300, 3000, 30'000}) {
    CAPTURE(bytes);
    const SmallDisk disk;
    const fs::path dir = disk.path() / "experiment";
    disk.fill(25 << 20);
    std::uint64_t accepted = 0;
    {
      const auto journal = open_journal(dir, OpenMode::create);
      for (;;) {
        const WriteSet next = write_set(accepted + 1, bytes);
        const auto appended = journal->append({&next, 1});
        if (!appended) {
          CHECK(appended.error().code() == ErrorCode::resource_exhausted);
          const std::string& text = appended.error().message();
          CHECK_MESSAGE(text.find(dir.string()) != std::string::npos, text);
          CHECK_MESSAGE(text.find("Free some space") != std::string::npos, text);
          break;
        }
        accepted = appended->value;
      }
    }
    disk.free();
    const auto journal = open_journal(dir);
    CHECK(check_history(*journal, bytes) >= accepted);
    const WriteSet next = write_set(journal->watermarks().accepted.value + 1, bytes);
    CHECK(journal->append({&next, 1}));
  }
}
