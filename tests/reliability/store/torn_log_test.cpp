#include <troupe/base/log.hpp>
#include <troupe/base/random.hpp>
#include <troupe/runtime/store/detail/rocks_journal.hpp>

#include <doctest/doctest.h>

#include "tests/support/faulty_file_system.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/store_files.hpp"

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t events = 40;
constexpr std::uint64_t witnessed_early = 20;

/// A store whose events are all in one log, with the length of the log after each of them.
struct Original {
  fs::path dir;
  Files files;
  std::string early_witness;  ///< as of event `witnessed_early`
  std::string log;
  std::vector<std::uint64_t> log_bytes;

  explicit Original(const fs::path& path) : dir(path) {
    const auto journal = open_journal(dir, OpenMode::create);
    for (std::uint64_t number = 1; number <= events; ++number) {
      journal->append(write_sets(number, number)).value_or_throw();
      log_bytes.push_back(fs::file_size(newest_log(dir)));
    }
    journal->close().value_or_throw();
    files = files_below(dir);
    log = fs::relative(newest_log(dir), dir).string();
    early_witness = witness_of_prefix();
  }

  /// The store with another end of its log, and the witness of then or of now.
  void damage(const std::string& log_content, bool early) const {
    Files damaged = files;
    damaged[log] = log_content;
    if (early)
      damaged["high_water"] = early_witness;
    restore_files(dir, damaged);
  }

private:
  /// The witness that a store of the first events writes when it is closed.
  std::string witness_of_prefix() const {
    Files prefix = files;
    prefix[log].resize(log_bytes[witnessed_early - 1]);
    prefix.erase("high_water");
    restore_files(dir, prefix);
    const troupe::log::ScopedSink quiet([](const troupe::log::Record&) {});
    open_journal(dir)->close().value_or_throw();
    return read_all(witness_file(dir));
  }
};

/// Opens a damaged store. Either a prefix is there, or the refusal names the loss and nothing was
/// touched. Returns what was found, nothing on a refusal.
std::optional<std::uint64_t> open_damaged(const fs::path& dir, std::uint64_t witnessed) {
  const Files before = files_below(dir);
  auto opened = detail::open_store({.experiment_dir = dir}, {.env = FaultyEnv::sane().env()});
  if (!opened) {
    CHECK(opened.error().code() == ErrorCode::data_loss);
    CHECK(opened.error().message().find("--accept-loss") != std::string::npos);
    CHECK(files_below(dir) == before);
    return std::nullopt;
  }
  const std::uint64_t found = check_history(*opened->journal);
  CHECK(found >= witnessed);
  return found;
}

}  // namespace

TEST_CASE("a log that is cut at any byte of its last two records") {
  const troupe::log::ScopedSink quiet([](const troupe::log::Record&) {});
  ScratchFolder scratch("torn");
  const Original original(scratch.path() / "experiment");
  const std::string& content = original.files.at(original.log);
  for (std::uint64_t size = original.log_bytes[events - 3]; size < content.size(); ++size) {
    CAPTURE(size);
    const std::uint64_t whole = events - (size < original.log_bytes[events - 2] ? 2 : 1);
    original.damage(content.substr(0, size), true);
    CHECK(open_damaged(original.dir, witnessed_early) == whole);
    original.damage(content.substr(0, size), false);
    CHECK(open_damaged(original.dir, events) == std::nullopt);
  }
}

TEST_CASE("a log with a flipped bit anywhere") {
  const troupe::log::ScopedSink quiet([](const troupe::log::Record&) {});
  ScratchFolder scratch("flip");
  const Original original(scratch.path() / "experiment");
  const std::string& content = original.files.at(original.log);
  std::uint64_t refused = 0, cut = 0, whole = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Random random(seed, 0, RandomPurpose::test);
    std::string damaged = content;
    const auto at = static_cast<std::size_t>(random.below(damaged.size()));
    damaged[at] =
        static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ (1u << random.below(8)));
    CAPTURE(at);
    original.damage(damaged, true);
    const auto found = open_damaged(original.dir, witnessed_early);
    if (!found) {
      ++refused;
      CHECK(at < original.log_bytes[witnessed_early - 1]);
    } else {
      ++(*found == events ? whole : cut);
    }
    // With a witness of now, anything less than everything is a refusal.
    original.damage(damaged, false);
    const auto all = open_damaged(original.dir, events);
    CHECK((!all || *all == events));
  }
  MESSAGE("flips: 200, refused: ", refused, ", cut: ", cut, ", without effect: ", whole);
}
