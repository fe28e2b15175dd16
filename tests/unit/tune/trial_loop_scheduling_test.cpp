#include <troupe/base/random.hpp>
#include <troupe/tune/schedule/asha.hpp>
#include <troupe/tune/search/random_search.hpp>

#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <tests/support/instrumented.hpp>

#include "loop_driver.hpp"

// Schedulers, searchers, budgets, clean ends, turns, replay.

namespace troupe::tune {
namespace {

ExperimentDefinition samples(std::int64_t count, std::int64_t frequency = 0) {
  ExperimentDefinition definition;
  definition.param_space = {{"x", uniform(0, 1)}};
  definition.tune_config.num_samples = count;
  definition.run_config.checkpoint_config.checkpoint_frequency = frequency;
  return definition;
}

/// Pauses after every `n`-th result, fails or stops where it is told to.
class Scripted final : public Scheduler {
public:
  std::uint64_t pause_every = 0;
  std::uint64_t stop_at = 0;
  bool fails = false;
  bool refuses_paused = false;
  std::int64_t orders = -1;  ///< a trial to stop once any trial has reported
  std::string reason = "scripted: stop";

  std::string name() const override { return "scripted"; }
  std::unique_ptr<Scheduler> clone() const override { return std::make_unique<Scripted>(*this); }
  Status setup(const ScheduleContext&) override {
    results_ = 0;
    return ok();
  }
  Result<ScheduleDecision> decide(TrialId, const Metrics& metrics) const override {
    if (fails)
      throw std::runtime_error("a defect");
    const auto n = static_cast<std::uint64_t>(metrics.at("training_iteration").as_int());
    if (stop_at != 0 && n >= stop_at)
      return ScheduleDecision{ScheduleAction::stop, reason, {}};
    if (pause_every != 0 && n % pause_every == 0)
      return ScheduleDecision{ScheduleAction::pause, "scripted: pause", {}};
    return ScheduleDecision{};
  }
  void record(TrialId, const Metrics&, const ScheduleDecision&) override { ++results_; }
  std::optional<StopOrder> next_stop() const override {
    if (orders < 0 || results_ == 0 || obeyed_)
      return std::nullopt;
    return StopOrder{TrialId(static_cast<std::uint32_t>(orders)), "scripted: order"};
  }
  void on_complete(TrialId trial, Ending, const Metrics*) override {
    obeyed_ = obeyed_ || static_cast<std::int64_t>(trial.value) == orders;
  }
  std::optional<TrialId> choose_trial_to_run(const WaitingTrials& waiting) const override {
    if (refuses_paused)
      return waiting.first_pending();
    return Scheduler::choose_trial_to_run(waiting);
  }
  Value save() const override { return Map{{"results", results_}, {"obeyed", obeyed_}}; }
  Status restore(const Value& state) override {
    results_ = static_cast<std::uint64_t>(state.as_map().at("results").as_int());
    obeyed_ = state.as_map().at("obeyed").as_bool();
    return ok();
  }

private:
  std::uint64_t results_ = 0;
  bool obeyed_ = false;
};

/// Gives what it is told to.
class Moody final : public Searcher {
public:
  enum class Mood { fails, throws, nothing, lonely };
  explicit Moody(Mood mood) : mood_(mood) {}
  std::string name() const override { return "moody"; }
  std::unique_ptr<Searcher> clone() const override {
    if (mood_ == Mood::lonely && recorded_ == 2)
      throw std::runtime_error("no more of us");
    return std::make_unique<Moody>(*this);
  }
  Status setup(const SearchContext&) override { return ok(); }
  Result<Suggestion> suggest(TrialId trial) const override {
    if (trial.value < 2)
      return Suggestion::of(Config{{"x", 0.5}});
    if (mood_ == Mood::throws)
      throw std::runtime_error("a defect");
    if (mood_ == Mood::fails)
      return Error(ErrorCode::internal, "singular matrix");
    return Suggestion::nothing_now();
  }
  void record(TrialId, const Config&, const Value&) override { ++recorded_; }
  Value save() const override { return recorded_; }
  Status restore(const Value& state) override {
    recorded_ = state.as_int();
    return ok();
  }

private:
  Mood mood_;
  std::int64_t recorded_ = 0;
};

/// Two trials, each of which is told to pause by its first result.
ExperimentDefinition pausing(bool is_function) {
  auto script = std::make_shared<Scripted>();
  script->pause_every = 1;
  auto definition = samples(2);
  definition.is_function = is_function;
  definition.tune_config.scheduler = script;
  definition.run_config.failure_config.max_failures = 1;
  return definition;
}

/// Has no copy, or throws in setup.
class Unusable final : public Scheduler {
public:
  explicit Unusable(bool throws) : throws_(throws) {}

  std::string name() const override { return "unusable"; }
  std::unique_ptr<Scheduler> clone() const override {
    return throws_ ? std::make_unique<Unusable>(*this) : nullptr;
  }
  Status setup(const ScheduleContext&) override { throw std::runtime_error("a defect"); }
  Result<ScheduleDecision> decide(TrialId, const Metrics&) const override {
    return ScheduleDecision{};
  }
  void record(TrialId, const Metrics&, const ScheduleDecision&) override {}
  Value save() const override { return {}; }
  Status restore(const Value&) override { return ok(); }

private:
  bool throws_;
};

TEST_CASE("a scheduler that cannot be made ready is refused with its name and the call") {
  for (const bool throws : {false, true}) {
    auto definition = samples(1);
    definition.tune_config.scheduler = std::make_shared<Unusable>(throws);
    const char* why = throws ? "the scheduler unusable failed: its setup() throws: a defect"
                             : "the scheduler unusable failed: its clone() gives null";
    CHECK_THROWS_WITH_AS(LoopDriver{definition}, doctest::Contains(why), Exception);
  }
}

TEST_CASE("a paused trial saves, gives its place away, and goes on later from there") {
  LoopDriver driver(pausing(false));
  const auto answer = driver.report(0, {{"loss", 1}});
  CHECK(answer->verdict == Verdict::pause);
  driver.save(0, answer->save.value());
  driver.end(0);
  CHECK(driver.row(0).state == TrialState::paused);
  CHECK(driver.running() == std::vector<std::uint32_t>{1});
  driver.finish(1);
  CHECK(driver.running() == std::vector<std::uint32_t>{0});
  CHECK(driver.last_run(0).checkpoints.front().iteration == 1);
  driver.finish(0);
  CHECK(driver.status().state == ExperimentState::finished);
}

/// Trial 0 reports; a function saves with that, a class afterwards, if it does.
void report_and_save(LoopDriver& driver, bool is_function, bool saves) {
  if (is_function) {
    const RunTrial run = driver.last_run(0);
    driver.send(Reported{
        run.worker, run.key, 1, 1, {{"loss", 1}}, false, false, LoopDriver::checkpoint(1, 1)});
    return;
  }
  const auto answer = driver.report(0, {{"loss", 1}});
  if (saves)
    driver.save(0, answer->save.value());
}

using End = void (*)(LoopDriver&);
constexpr End failing_ends[] = {
    [](LoopDriver& driver) { driver.fail(0, "a destructor throws"); },
    [](LoopDriver& driver) { driver.worker_exits(0, FailureKind::user, "killed in cleanup"); }};

TEST_CASE("what fails after the checkpoint of a pause leaves the trial paused") {
  for (const End end : failing_ends)
    for (const bool is_function : {false, true}) {
      CAPTURE(is_function);
      LoopDriver driver(pausing(is_function));
      report_and_save(driver, is_function, true);
      end(driver);
      CHECK(driver.row(0).state == TrialState::paused);
      CHECK(driver.row(0).failures == 0);
      CHECK(driver.row(0).note.empty());
      CHECK(driver.running() == std::vector<std::uint32_t>{1});
      driver.finish(1);
      CHECK(driver.running() == std::vector<std::uint32_t>{0});
      CHECK(driver.last_run(0).checkpoints.front().iteration == 1);
      driver.finish(0);
      CHECK(driver.status().state == ExperimentState::finished);
    }
}

TEST_CASE("what fails before the checkpoint of a pause is a failure of the trial") {
  for (const End end : failing_ends) {
    LoopDriver driver(pausing(false));
    report_and_save(driver, false, false);
    end(driver);
    CHECK(driver.row(0).failures == 1);
    CHECK(driver.last_run(0).key.attempt == 1);  // tried again, from the beginning
    CHECK(driver.last_run(0).checkpoints.empty());
  }
}

TEST_CASE("one slot with trials that pause all the time: all of them finish") {
  auto script = std::make_shared<Scripted>();
  script->pause_every = 1;
  script->stop_at = 6;
  auto definition = samples(5);
  definition.tune_config.scheduler = script;
  definition.tune_config.reuse_actors = true;
  LoopDriver driver(definition);
  for (int i = 0; i < 100 && !driver.running().empty(); ++i) {
    const std::uint32_t trial = driver.running().front();
    const auto answer = driver.report(trial, {{"loss", 1}});
    if (answer->save)
      driver.save(trial, *answer->save);
    driver.end(trial);
  }
  CHECK(driver.status().state == ExperimentState::finished);
  CHECK(driver.status().terminated == 5);
  CHECK(driver.status().actor_starts == 1);
}

TEST_CASE("a scheduler that never resumes leaves no trial paused for ever") {
  auto script = std::make_shared<Scripted>();
  script->pause_every = 1;
  script->refuses_paused = true;
  auto definition = samples(2);
  definition.tune_config.scheduler = script;
  LoopDriver driver(definition);
  for (const std::uint32_t trial : {0U, 1U}) {
    driver.save(trial, driver.report(trial, {{"loss", 1}})->save.value());
    driver.end(trial);
  }
  CHECK(driver.row(0).state == TrialState::terminated);
  CHECK(driver.row(1).stop_reason == "not resumed by the scheduler scripted");
  CHECK(driver.status().state == ExperimentState::finished);
}

TEST_CASE("a run with ASHA ends, whatever its rungs and workers, and however its trials report") {
  // ray #6780, #14500, #9245, #37605: trials waited for each other, with unequal steps above all.
  for (std::uint64_t seed = 0; seed < 100 / testing::fewer; ++seed) {
    CAPTURE(seed);
    Random random(seed, 0, RandomPurpose::test);
    const double max_t = static_cast<double>(random.uniform_int(1, 200));
    auto definition = samples(random.uniform_int(1, 60));
    definition.tune_config.metric = "loss";
    definition.tune_config.mode = Mode::min;
    definition.tune_config.search_alg = random_search();
    definition.tune_config.scheduler =
        asha({.time_attr = "time",
              .max_t = max_t,
              .reduction_factor = static_cast<double>(random.uniform_int(2, 5)),
              .brackets = max_t > 25 ? static_cast<std::uint32_t>(random.uniform_int(1, 2)) : 1,
              .strict = random.chance(0.5)});
    LoopDriver driver(definition, static_cast<double>(random.uniform_int(1, 8)));
    std::map<std::uint32_t, double> time;
    std::map<std::uint32_t, std::int64_t> stride;
    while (!driver.running().empty()) {
      const auto running = driver.running();
      const std::uint32_t trial = random.pick(running);
      if (random.chance(0.01)) {
        driver.fail(trial, "a defect");
        continue;
      }
      stride.try_emplace(trial, random.uniform_int(1, 7));
      time[trial] += static_cast<double>(stride[trial]);
      REQUIRE(time[trial] < max_t + 7);
      const double loss = random.chance(0.1) ? std::nan("") : random.uniform(0, 1);
      const auto answer = driver.report(trial, {{"time", time[trial]}, {"loss", loss}});
      REQUIRE(answer.has_value());
      if (answer->verdict != Verdict::go_on)
        driver.end(trial);
    }
    const ExperimentRow status = driver.status();
    CHECK(status.state == ExperimentState::finished);
    CHECK(status.created == static_cast<std::uint64_t>(*definition.tune_config.num_samples));
    CHECK(status.terminated + status.errored == status.created);
  }
}

TEST_CASE("10,000 pauses leave the state as small as the first") {
  auto script = std::make_shared<Scripted>();
  script->pause_every = 1;
  auto definition = samples(2);
  definition.tune_config.scheduler = script;
  definition.run_config.checkpoint_config.num_to_keep = 1;
  LoopDriver driver(definition);
  std::size_t early = 0;
  for (int i = 0; i < 10'000; ++i) {
    driver.pass(std::chrono::milliseconds(100));
    const std::uint32_t trial = driver.running().front();
    driver.save(trial, driver.report(trial, {{"loss", 1}})->save.value());
    driver.end(trial);
    driver.commands.clear();
    if (i == 500)
      early = driver.loop().fingerprint().size();
  }
  CHECK(driver.loop().fingerprint().size() <= early + early / 20);
}

TEST_CASE("a scheduler may stop another trial: a waiting one at once, a running one soon") {
  auto script = std::make_shared<Scripted>();
  script->orders = 1;
  auto definition = samples(2);
  definition.tune_config.scheduler = script;
  LoopDriver driver(definition, 2);
  driver.report(0, {{"loss", 1}});
  REQUIRE(driver.all<StopTrial>().size() == 1);
  CHECK(driver.all<StopTrial>()[0].key.trial == TrialId(1));
  // What it still reports is answered and does not count.
  CHECK(driver.report(1, {{"loss", 1}})->verdict == Verdict::stop);
  CHECK(driver.results(1).empty());
  driver.end(1);
  CHECK(driver.row(1).stop_reason == "scripted: order");
}

TEST_CASE("a scheduler that fails stops the experiment and loses nothing") {
  auto script = std::make_shared<Scripted>();
  script->fails = true;
  auto definition = samples(2);
  definition.tune_config.scheduler = script;
  LoopDriver driver(definition, 2);
  CHECK(driver.report(0, {{"loss", 1}})->verdict == Verdict::stop);
  driver.end(0);
  CHECK(driver.report(1, {{"loss", 1}})->verdict == Verdict::stop);
  driver.end(1);
  CHECK(driver.status().state == ExperimentState::failed);
  CHECK(driver.status().message == "the scheduler scripted failed: a defect");
  CHECK(driver.row(0).state == TrialState::pending);
}

TEST_CASE("a searcher that fails ends the search; what runs goes on") {
  const std::pair<Moody::Mood, const char*> moods[] = {
      {Moody::Mood::fails, "the searcher moody failed: singular matrix"},
      {Moody::Mood::throws,
       "the searcher moody failed: its suggest() throws: a defect; mend it there, or catch it"},
      {Moody::Mood::lonely,
       "the searcher moody failed: its clone() throws: no more of us; mend it there, or catch it"},
      {Moody::Mood::nothing, "the searcher moody has nothing to suggest although no trial runs"}};
  for (const auto& [mood, message] : moods) {
    auto definition = samples(10);
    definition.tune_config.search_alg = std::make_shared<Moody>(mood);
    LoopDriver driver(definition, 2);
    if (mood == Moody::Mood::lonely)
      driver.kill_and_restore();  // now the searcher is copied to be asked
    driver.finish(0);
    driver.finish(1);
    CHECK(driver.status().state == ExperimentState::failed);
    CHECK(driver.status().message == message);
    CHECK(driver.status().terminated == 2);
  }
}

TEST_CASE("a clean stop takes the next result with a checkpoint and leaves trials unfinished") {
  LoopDriver driver(samples(5, 3), 2);
  driver.report(0, {{"loss", 1}});
  driver.send(StopRequested{"SIGINT"});
  const auto answer = driver.report(0, {{"loss", 1}});
  CHECK(answer->verdict == Verdict::stop);
  driver.save(0, answer->save.value());
  driver.end(0);
  CHECK(driver.row(0).state == TrialState::pending);
  CHECK(driver.row(0).iteration == 2);
  CHECK(driver.all<StopTrial>().empty());
  // The other one takes too long.
  CHECK(driver.loop().next_deadline() == driver.clock().now() + std::chrono::seconds(20));
  driver.pass(std::chrono::seconds(20));
  driver.send(Tick{});
  REQUIRE(driver.all<StopTrial>().size() == 1);
  driver.end(1);
  CHECK(driver.status().state == ExperimentState::interrupted);
  CHECK(driver.status().message == "SIGINT");
  driver.kill_and_restore();
  CHECK(driver.running() == std::vector<std::uint32_t>{0, 1});
  CHECK(driver.last_run(0).checkpoints.front().iteration == 2);
  CHECK(driver.last_run(0).key.attempt == 1);
}

TEST_CASE("a clean stop waits as long as it was told, and longer where a checkpoint comes of it") {
  using std::chrono::seconds;
  const auto patience = [](ExperimentDefinition definition) {
    LoopDriver driver(std::move(definition));
    driver.send(StopRequested{"SIGINT"});
    driver.pass(seconds(3));
    return *driver.loop().next_deadline() - driver.clock().now() + seconds(3);
  };
  CHECK(patience(samples(1)) == seconds(5));
  CHECK(patience(samples(1, 3)) == seconds(20));
  auto at_end = samples(1);
  at_end.run_config.checkpoint_config.checkpoint_at_end = true;
  CHECK(patience(at_end) == seconds(20));
  auto told = samples(1, 3);
  told.run_config.stop_patience = seconds(90);
  CHECK(patience(told) == seconds(90));
}

TEST_CASE(
    "a result that comes within the patience of a clean stop is saved, with at_end alone too") {
  auto definition = samples(1);
  definition.run_config.checkpoint_config.checkpoint_at_end = true;
  LoopDriver driver(definition);
  driver.report(0, {{"loss", 1}});
  driver.send(StopRequested{"SIGTERM"});
  driver.pass(std::chrono::seconds(19));
  driver.send(Tick{});
  CHECK(driver.all<StopTrial>().empty());
  const auto answer = driver.report(0, {{"loss", 1}});
  CHECK(answer->verdict == Verdict::stop);
  driver.save(0, answer->save.value());
  driver.end(0);
  driver.kill_and_restore();
  CHECK(driver.last_run(0).checkpoints.at(0).iteration == 2);
}

TEST_CASE("the time budget ends all trials, and a restore goes on with what is left of it") {
  auto definition = samples(-1);
  definition.tune_config.time_budget = std::chrono::seconds(60);
  LoopDriver driver(definition, 2);
  driver.pass(std::chrono::seconds(40));
  driver.report(0, {{"loss", 1}});
  driver.pass(std::chrono::hours(5));  // nobody runs
  driver.kill_and_restore();
  CHECK(driver.loop().next_deadline() == driver.clock().now() + std::chrono::seconds(20));
  driver.pass(std::chrono::seconds(21));
  CHECK(driver.report(0, {{"loss", 1}})->verdict == Verdict::go_on);  // known already
  driver.send(Tick{});
  CHECK(driver.report(0, {{"loss", 1}})->verdict == Verdict::stop);
  driver.end(0);
  CHECK(driver.row(0).stop_reason == "time budget");
  driver.pass(std::chrono::seconds(6));
  driver.send(Tick{});
  REQUIRE(driver.all<StopTrial>().size() == 1);
  driver.end(1);
  CHECK(driver.row(1).stop_reason == "time budget");
  CHECK(driver.status().state == ExperimentState::finished);
  CHECK(driver.status().created == 2);
}

TEST_CASE("how a trial ended is what happened, not what the reason says") {
  auto script = std::make_shared<Scripted>();
  script->stop_at = 2;
  script->reason = "done";
  auto definition = samples(4);
  definition.tune_config.scheduler = script;
  definition.tune_config.time_budget = std::chrono::seconds(60);
  definition.run_config.stop = metric("loss") <= 0;
  LoopDriver driver(definition, 4);
  const auto ending = [&](std::uint32_t trial) {
    driver.end(trial);
    return driver.row(trial).ending;
  };
  driver.report(0, {{"loss", 1}}, true);
  CHECK(ending(0) == Ending::finished);
  driver.report(1, {{"loss", 0}});
  CHECK(ending(1) == Ending::finished);
  driver.report(2, {{"loss", 1}});
  driver.report(2, {{"loss", 1}});
  CHECK(ending(2) == Ending::stopped);
  CHECK(driver.row(2).stop_reason == "done");
  driver.pass(std::chrono::seconds(61));
  driver.send(Tick{});
  driver.report(3, {{"loss", 1}});
  CHECK(ending(3) == Ending::stopped);
}

TEST_CASE("a deterministic run holds back who is early") {
  auto definition = samples(4);
  definition.tune_config.deterministic = true;
  LoopDriver driver(definition, 2);
  CHECK(!driver.report(1, {{"loss", 1}}));
  CHECK(driver.results(1).empty());
  const std::size_t before = driver.all<Answer>().size();
  driver.report(0, {{"loss", 1}});
  CHECK(driver.all<Answer>().size() == before + 2);
  CHECK(driver.results(1).size() == 1);
  // The next turn is that of trial 0 again.
  CHECK(!driver.report(1, {{"loss", 1}}));
  CHECK(driver.report(0, {{"loss", 1}}));
}

TEST_CASE("who waits for its turn is answered when the experiment stops") {
  auto definition = samples(4);
  definition.tune_config.deterministic = true;
  LoopDriver driver(definition, 2);
  CHECK(!driver.report(1, {{"loss", 1}}));
  driver.send(StopRequested{"SIGTERM"});
  CHECK(driver.all<StopTrial>().size() == 1);
  CHECK(driver.all<Answer>().size() == 1);
  CHECK(driver.all<Answer>()[0].verdict == Verdict::stop);
  driver.end(0);
  driver.end(1);
  CHECK(driver.status().state == ExperimentState::interrupted);
  CHECK(driver.results(1).empty());
}

TEST_CASE("a replay that decides otherwise is found, with its event") {
  auto script = std::make_shared<Scripted>();
  script->stop_at = 3;
  auto definition = samples(1);
  definition.tune_config.scheduler = script;
  LoopDriver driver(definition);
  for (int i = 0; i < 3; ++i)
    driver.report(0, {{"loss", 1}});
  driver.end(0);
  CHECK(TrialLoop::verify_replay(driver.journal, nullptr, script.get()).has_value());
  script->stop_at = 2;
  const auto replay = TrialLoop::verify_replay(driver.journal, nullptr, script.get());
  REQUIRE(!replay.has_value());
  CHECK(replay.error().message().find("event 3") != std::string::npos);
  // A restore does not decide again, and so does not mind.
  CHECK(TrialLoop::restore(driver.journal, nullptr, script.get(), {"/exp", 1}).has_value());
}

TEST_CASE("a scheduler of the user must be passed again for a restore") {
  auto definition = samples(1);
  definition.tune_config.scheduler = std::make_shared<Scripted>();
  LoopDriver driver(definition);
  const auto loop = TrialLoop::restore(driver.journal, nullptr, nullptr, {"/exp", 1});
  REQUIRE(!loop.has_value());
  CHECK(loop.error().message().find("'scripted'") != std::string::npos);
}

TEST_CASE("the state does not grow with the number of trials that are over") {
  auto definition = samples(3000);
  definition.tune_config.reuse_actors = true;
  LoopDriver driver(definition, 4);
  std::size_t early = 0;
  for (std::uint32_t trial = 0; trial < 3000; ++trial) {
    driver.finish(trial);
    driver.commands.clear();
    if (trial == 100)
      early = driver.loop().fingerprint().size();
    if (trial == 2900)
      CHECK(driver.loop().fingerprint().size() <= early + 64);
  }
  CHECK(driver.status().terminated == 3000);
}

}  // namespace
}  // namespace troupe::tune
