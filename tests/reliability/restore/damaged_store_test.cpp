#include <troupe/base/log.hpp>
#include <troupe/base/random.hpp>
#include <troupe/runtime/store/doctor.hpp>

#include <tests/integration/tune/lab.hpp>
#include <tests/support/store_files.hpp>

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

namespace {

/// A function of its configuration alone, so that a run that lost something ends as the undisturbed
/// one did.
class Steps : public tune::Trainable {
public:
  void setup(const Config& config) override { x_ = config.at("x").as_double(); }
  Metrics step() override {
    ++steps_;
    return {{"loss", x_ / static_cast<double>(steps_)}, {"done", steps_ == 4}};
  }

private:
  double x_ = 0;
  std::int64_t steps_ = 0;
};
TROUPE_TRAINABLE(Steps);

using Table = std::vector<std::string>;

Table table_of(const tune::ResultGrid& results) {
  Table table;
  for (const auto& trial : results) {
    std::string line = trial.name + ' ' + std::string(to_string(trial.state));
    for (const Metrics& metrics : results.metrics_history(trial.id))
      line += ' ' + std::to_string(metrics.at("loss").as_double());
    table.push_back(std::move(line));
  }
  return table;
}

/// An experiment that came to its end, all of it in one log, for damages of many kinds.
struct Original {
  Lab lab;
  const fs::path dir = lab.dir();
  const troupe::log::ScopedSink quiet{[](const troupe::log::Record&) {}};
  Table table;
  Files files;
  std::string log;            ///< path below `dir`
  std::string early_witness;  ///< as of the events in the first half of the log

  Original() {
    table = table_of(tune::Tuner(lab.runtime, "Steps",
                                 {.param_space = {{"x", tune::uniform(0, 1)}},
                                  .tune_config = {.num_samples = 3, .seed = 7},
                                  .run_config = lab.run(Isolation::thread)})
                         .fit());
    REQUIRE(table.size() == 3);
    files = files_below(dir);
    log = fs::relative(newest_log(dir), dir).string();
    Files half = files;
    half[log].resize(half[log].size() / 2);
    half.erase("high_water");
    restore_files(dir, half);
    open_journal(dir)->close().value_or_throw();
    early_witness = read_all(witness_file(dir));
  }

  const std::string& whole_log() const { return files.at(log); }

  void damage(const std::string& log_content, bool early) const {
    Files damaged = files;
    damaged[log] = log_content;
    if (early)
      damaged["high_water"] = early_witness;
    restore_files(dir, damaged);
  }

  /// Through the front door alone: either the experiment goes on and ends as the undisturbed one,
  /// or the loss is named with its remedy and nothing was touched. Returns whether it went on.
  bool take_up() {
    const Files before = files_below(dir);
    CHECK(tune::Tuner::can_restore(dir));
    try {
      auto tuner = tune::Tuner::restore(lab.runtime, dir, {.verbose = 0});
      CHECK(tuner.get_results().size() <= 3);
      CHECK(files_below(dir) == before);
      CHECK(table_of(tuner.fit()) == table);
      return true;
    } catch (const Exception& error) {
      CHECK_MESSAGE(error.code() == ErrorCode::data_loss, error.what());
      const std::string text = error.what();
      CHECK_MESSAGE((has(text, "--accept-loss") || has(text, "backup")), text);
      CHECK(files_below(dir) == before);
      return false;
    }
  }

  /// As an operator does it who accepts the loss. False: nothing is left to go on with, and the
  /// store is as it was.
  bool repair_and_take_up() {
    const Files before = files_below(dir);
    const DoctorReport report = run_doctor(dir, {.accept_loss = true}).value_or_throw();
    if (!report.healthy()) {
      CHECK_FALSE(report.repair);
      CHECK_MESSAGE(has(report.to_text(), "specification"), report.to_text());
      CHECK(files_below(dir) == before);
      return false;
    }
    CHECK(take_up());
    return true;
  }
};

constexpr std::size_t cuts = 6;
constexpr std::uint64_t flips = 16;

}  // namespace

TEST_CASE("an experiment whose log is cut at its end goes on, or says what is lost") {
  Original original;
  const std::string& log = original.whole_log();
  for (std::size_t i = 1; i <= cuts; ++i) {
    // The last quarter of the log holds several records.
    const std::size_t size = log.size() - i * (log.size() / 4) / cuts;
    CAPTURE(size);
    original.damage(log.substr(0, size), true);
    CHECK(original.take_up());
    original.damage(log.substr(0, size), false);
    CHECK_FALSE(original.take_up());
    CHECK(original.repair_and_take_up());
  }
}

TEST_CASE("an experiment with a flipped bit in its log goes on, or says what is lost") {
  Original original;
  std::size_t repaired = 0;
  for (std::uint64_t seed = 1; seed <= flips; ++seed) {
    CAPTURE(seed);
    Random random(seed, 0, RandomPurpose::test);
    std::string damaged = original.whole_log();
    const auto at = static_cast<std::size_t>(random.below(damaged.size()));
    CAPTURE(at);
    damaged[at] =
        static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ (1u << random.below(8)));
    original.damage(damaged, true);
    const bool went_on = original.take_up();
    if (at > damaged.size() / 2)
      CHECK(went_on);
    original.damage(damaged, false);
    CHECK_FALSE(original.take_up());
    if (original.repair_and_take_up())
      ++repaired;
  }
  CHECK(repaired > flips / 3);  // the others hit the specification, the first record of all
}

TEST_CASE("an experiment whose log or store is gone is one that lost something") {
  Original original;
  const auto check = [&](const std::string& named) {
    CHECK(tune::Tuner::can_restore(original.dir));
    check_throws(ErrorCode::data_loss, named,
                 [&] { (void)tune::Tuner::restore(original.lab.runtime, original.dir); });
    // The name is not free either.
    check_throws(ErrorCode::already_exists, "Tuner::restore", [&] {
      (void)tune::Tuner(original.lab.runtime, "Steps",
                        {.run_config = original.lab.run(Isolation::thread)})
          .fit();
    });
  };
  SUBCASE("the log") {
    original.damage({}, false);
    fs::remove(original.dir / original.log);
    check("were durable and are missing");
    CHECK_FALSE(original.repair_and_take_up());
  }
  SUBCASE("the store") {
    restore_files(original.dir, {{"high_water", original.files.at("high_water")}});
    check("the store is gone");
    check("events");
  }
}

TEST_CASE("what doctor says of the damaged end of a log is what happens") {
  Original original;
  std::string damaged = original.whole_log();
  damaged[damaged.size() - 10] = static_cast<char>(~damaged[damaged.size() - 10]);
  original.damage(damaged, true);
  const DoctorReport seen = run_doctor(original.dir).value_or_throw();
  CHECK(seen.healthy());
  CHECK_MESSAGE(has(seen.to_text(), "dropped at the next restore"), seen.to_text());
  SUBCASE("the next restore drops it") {
    CHECK(original.take_up());
  }
  SUBCASE("a repair drops it now") {
    const DoctorReport report = run_doctor(original.dir, {.accept_loss = true}).value_or_throw();
    REQUIRE(report.repair);
    CHECK(report.repair->kept == seen.accepted);
    CHECK_FALSE(has(run_doctor(original.dir).value_or_throw().to_text(), "log of the database"));
    CHECK(original.take_up());
  }
}
