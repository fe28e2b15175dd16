#include <troupe/runtime/store/doctor.hpp>
#include <troupe/runtime/store/secondary_reader.hpp>

#include <cstdlib>

#include <doctest/doctest.h>

#include "tests/support/scratch_folder.hpp"
#include "tests/support/store_files.hpp"

/// Stores of every released format, opened for ever. A new one is written by running this test
/// with TROUPE_WRITE_GOLDEN=1; one that is there is never changed.

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t events_in_files = 30;
constexpr std::uint64_t events_in_all = 40;

fs::path golden(const std::string& name) {
  return fs::path(TROUPE_TESTS_DIR) / "golden" / "store" / name;
}

/// Some events in table files, some only in the log.
void write_golden(const fs::path& dir) {
  make_store(dir, events_in_files);
  {
    const auto journal = open_journal(dir);
    for (std::uint64_t number = events_in_files + 1; number <= events_in_all; ++number)
      REQUIRE(journal->append(write_sets(number, number)));
    REQUIRE(journal->close());
  }
  // What RocksDB notes for people is not needed to open a database, and is long.
  for (const auto& entry : fs::directory_iterator(store_folder(dir)))
    if (const auto name = entry.path().filename().string();
        name == "LOCK" || name.starts_with("OPTIONS"))
      fs::remove(entry.path());
}

}  // namespace

TEST_CASE("a store of format 1.0 is read, examined, opened and continued") {
  const fs::path original = golden("v1.0");
  if (std::getenv("TROUPE_WRITE_GOLDEN") != nullptr && !fs::exists(original))
    write_golden(original);
  ScratchFolder scratch("golden");
  const fs::path dir = scratch.path() / "experiment";
  fs::copy(original, dir, fs::copy_options::recursive);
  CHECK(check_history(*open_secondary(dir).value_or_throw()) == events_in_all);
  const DoctorReport report = run_doctor(dir).value_or_throw();
  CHECK_MESSAGE(report.healthy(), report.to_text());
  CHECK(report.findings.empty());
  const auto journal = open_journal(dir);
  CHECK(check_history(*journal) == events_in_all);
  CHECK(journal->watermarks().chain == 3805093404u);
  REQUIRE(journal->append(write_sets(events_in_all + 1, events_in_all + 1)));
  CHECK(check_history(*journal) == events_in_all + 1);
}
