#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <variant>

#include <doctest/doctest.h>

#include "loop_driver.hpp"

// Starting, judging and ending trials.

namespace troupe::tune {
namespace {

ExperimentDefinition samples(std::int64_t count) {
  ExperimentDefinition definition;
  definition.param_space = {{"x", uniform(0, 1)}};
  definition.tune_config.num_samples = count;
  return definition;
}

TEST_CASE("as many trials run as there are CPUs, and the searcher is asked only for those") {
  LoopDriver driver(samples(16), 8);
  CHECK(driver.running().size() == 8);
  CHECK(driver.status().created == 8);
  driver.finish(3);
  CHECK(driver.running().size() == 8);
  CHECK(driver.loop().status().created == 9);
}

TEST_CASE("max_concurrent_trials limits what runs, for any number of CPUs") {
  auto definition = samples(16);
  definition.tune_config.max_concurrent_trials = 3;
  LoopDriver driver(definition, 100);
  CHECK(driver.running().size() == 3);
}

TEST_CASE("memory is counted: trials run while theirs fits, and one that never would is refused") {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  auto definition = samples(16);
  definition.run_config.resources_per_trial = {.cpus = 1, .memory_bytes = 3 * gib};
  LoopDriver driver(definition, 8, 10 * gib);
  CHECK(driver.running().size() == 3);
  driver.finish(0);
  CHECK(driver.running() == std::vector<std::uint32_t>{1, 2, 3});
  driver.kill_and_restore();
  CHECK(driver.running().size() == 3);
  CHECK(TrialLoop::verify_replay(driver.journal, nullptr, nullptr).has_value());

  definition.name = "e";
  definition.trainable = "T";
  definition.run_config.resources_per_trial.memory_bytes = 11 * gib;
  const auto refused =
      TrialLoop::create(make_spec(definition).value_or_throw(), nullptr, nullptr,
                        {.experiment_dir = "/exp", .cpus = 8, .memory_bytes = 10 * gib});
  REQUIRE(!refused.has_value());
  CHECK(refused.error().message().find("11 GiB of memory, but there is a total of 10 GiB") !=
        std::string::npos);
}

TEST_CASE("fractions of CPUs add up exactly") {
  auto definition = samples(30);
  definition.run_config.resources_per_trial.cpus = 0.1;
  LoopDriver driver(definition, 2);
  CHECK(driver.running().size() == 20);
}

TEST_CASE("an impossible request is refused with resource, request and total") {
  auto definition = samples(1);
  definition.name = "e";
  definition.run_config.resources_per_trial.cpus = 5;
  const auto loop =
      TrialLoop::create(make_spec(definition).value_or_throw(), nullptr, nullptr, {"/exp", 2});
  REQUIRE(!loop.has_value());
  CHECK(loop.error().code() == ErrorCode::invalid_argument);
  for (const char* part : {"CPU", "5", "2"})
    CHECK(loop.error().message().find(part) != std::string::npos);
}

TEST_CASE("a trial that says done is over, and so is the experiment after the last") {
  LoopDriver driver(samples(1));
  const auto answer = driver.report(0, {{"loss", 0.5}}, true);
  CHECK(answer->verdict == Verdict::stop);
  CHECK(!answer->save);
  CHECK(driver.row(0).state == TrialState::running);
  driver.end(0);
  CHECK(driver.row(0).state == TrialState::terminated);
  CHECK(driver.row(0).stop_reason == "done");
  CHECK(driver.row(0).metrics.at("training_iteration") == Value(1));
  CHECK(driver.status().state == ExperimentState::finished);
  CHECK(!driver.loop().finished());  // the worker is still there
  driver.send(WorkerExited{driver.last_run(0).worker, FailureKind::user, "stopped"});
  CHECK(driver.loop().finished());
}

TEST_CASE("the stop criterion that was met is the reason") {
  auto definition = samples(1);
  definition.run_config.stop = {metric("loss") <= 0.1, max_iterations(3)};
  LoopDriver driver(definition);
  CHECK(driver.report(0, {{"loss", 100.0}})->verdict == Verdict::go_on);
  CHECK(driver.report(0, {{"loss", std::numeric_limits<double>::quiet_NaN()}})->verdict ==
        Verdict::go_on);
  CHECK(driver.report(0, {{"loss", 100.0}})->verdict == Verdict::stop);
  driver.end(0);
  CHECK(driver.row(0).stop_reason == "stop: training_iteration >= 3");
}

TEST_CASE("a function that returns is done") {
  auto definition = samples(1);
  definition.is_function = true;
  LoopDriver driver(definition);
  driver.report(0, {{"loss", 1.0}});
  driver.end(0, true);
  CHECK(driver.row(0).state == TrialState::terminated);
  CHECK(driver.row(0).stop_reason == "done");
}

ExperimentDefinition function_with_metric() {
  auto definition = samples(1);
  definition.is_function = true;
  definition.tune_config.metric = "accuracy";
  definition.run_config.failure_config.max_failures = 5;
  return definition;
}

TEST_CASE("a function that returns without any result fails for good where there is a metric") {
  LoopDriver driver(function_with_metric());
  driver.end(0, true);
  CHECK(driver.row(0).state == TrialState::error);
  CHECK(driver.row(0).ending == Ending::failed);
  CHECK(driver.row(0).error ==
        "the function ended without a result, but TuneConfig.metric is 'accuracy': call "
        "report({{\"accuracy\", value}}), or return {{\"accuracy\", value}} (with the return type "
        "Metrics)");
  CHECK(driver.row(0).error_kind == FailureKind::user);
  CHECK(driver.row(0).failures == 1);
  CHECK(driver.row(0).infrastructure_failures == 0);
  CHECK(TrialLoop::verify_replay(driver.journal, nullptr, nullptr).has_value());
}

TEST_CASE("a function without a metric to report may return without a result") {
  auto definition = function_with_metric();
  definition.tune_config.metric.clear();
  LoopDriver driver(definition);
  driver.end(0, true);
  CHECK(driver.row(0).state == TrialState::terminated);
  CHECK(driver.row(0).stop_reason == "done");
}

TEST_CASE("a function that had a result in an earlier attempt may return without one") {
  LoopDriver driver(function_with_metric());
  driver.report(0, {{"accuracy", 0.5}});
  driver.fail(0, "boom");
  driver.end(0, true);
  CHECK(driver.row(0).state == TrialState::terminated);
  CHECK(driver.row(0).metrics.at("accuracy") == Value(0.5));
}

TEST_CASE("a function that was told to stop owes no result") {
  LoopDriver driver(function_with_metric());
  driver.send(StopRequested{"SIGINT"});
  const auto halts = [](const auto& command) { return std::holds_alternative<StopTrial>(command); };
  while (std::none_of(driver.commands.begin(), driver.commands.end(), halts))
    REQUIRE(driver.pass_until_due());
  driver.end(0, true);
  CHECK(driver.row(0).state == TrialState::pending);  // no worker has it any more
  CHECK(driver.row(0).error.empty());
  CHECK(driver.row(0).failures == 0);
  CHECK(driver.status().state == ExperimentState::interrupted);
  driver.kill_and_restore();
  CHECK(driver.running() == std::vector<std::uint32_t>{0});
  driver.end(0, true);
  CHECK(driver.row(0).state == TrialState::error);  // now nobody told it to
}

TEST_CASE("a number that a function returned is named when it is not the metric") {
  LoopDriver driver(function_with_metric());
  driver.report(0, {{"_metric", 2.0}});
  CHECK(driver.row(0).state == TrialState::error);
  CHECK(driver.row(0).error ==
        "result 1: TuneConfig.metric is 'accuracy', but the function returned a number, which is "
        "the metric '_metric'; set TuneConfig.metric to \"_metric\", or return {{\"accuracy\", "
        "value}} (with the return type Metrics)");
}

TEST_CASE("a result without the metric fails its trial at once and no other") {
  auto definition = samples(2);
  definition.tune_config.metric = "accuracy";
  definition.run_config.failure_config.max_failures = 5;
  LoopDriver driver(definition, 2);
  driver.report(1, {{"accuracy", 0.5}});
  driver.report(0, {{"acuracy", 0.5}});
  CHECK(driver.row(0).state == TrialState::error);
  CHECK(driver.row(0).error ==
        "result 1: needed by TuneConfig.metric: the metric 'accuracy' is not among the reported "
        "metrics (did you mean 'acuracy'?)");
  CHECK(metric_number({{"a", 1}, {"b", Map{{"c", 2}}}}, "speed").error().message() ==
        "the metric 'speed' is not among the reported metrics; reported: a, b/c");
  CHECK(driver.results(0).empty());
  CHECK(driver.running() == std::vector<std::uint32_t>{1});
}

TEST_CASE("a stop criterion on a metric that is not there fails the trial too") {
  auto definition = samples(1);
  definition.run_config.stop = metric("reward") >= 1;
  LoopDriver driver(definition);
  driver.report(0, {{"rewards", 5}});
  CHECK(driver.row(0).error.find("stop criterion 'reward >= 1'") != std::string::npos);
}

TEST_CASE("metrics of the wrong type fail the trial, null counts as NaN") {
  auto definition = samples(2);
  definition.tune_config.metric = "m";
  LoopDriver driver(definition, 2);
  driver.report(0, {{"m", "high"}});
  CHECK(driver.row(0).error.find("must be a number") != std::string::npos);
  CHECK(driver.report(1, {{"m", nullptr}})->verdict == Verdict::go_on);
}

TEST_CASE("a result too large to store fails the trial, not the experiment") {
  LoopDriver driver(samples(1));
  driver.report(0, {{"blob", std::string(5'000'000, 'x')}});
  CHECK(driver.row(0).state == TrialState::error);
  CHECK(driver.row(0).error.find("at most 4194304 are possible") != std::string::npos);
}

TEST_CASE("with reuse there are as many worker starts as concurrent trials") {
  auto definition = samples(20);
  definition.tune_config.reuse_actors = true;
  LoopDriver driver(definition, 4);
  for (std::uint32_t trial = 0; trial < 20; ++trial)
    driver.finish(trial);
  CHECK(driver.all<StartWorker>().size() == 4);
  CHECK(driver.status().actor_starts == 4);
  CHECK(driver.status().actor_reuses == 16);
  CHECK(driver.all<StopWorker>().size() == 4);
  CHECK(driver.all<RunTrial>().back().reset);
}

TEST_CASE("without reuse each trial has a worker of its own") {
  LoopDriver driver(samples(5), 2);
  for (std::uint32_t trial = 0; trial < 5; ++trial)
    driver.finish(trial);
  CHECK(driver.all<StartWorker>().size() == 5);
  CHECK(driver.all<StopWorker>().size() == 5);
  CHECK(!driver.all<RunTrial>().back().reset);
}

TEST_CASE("a refused reset gets the trial a fresh worker and is no failure") {
  auto definition = samples(2);
  definition.tune_config.reuse_actors = true;
  LoopDriver driver(definition);
  driver.finish(0);
  const RunTrial used = driver.last_run(1);
  CHECK(used.reset);
  driver.send(ResetRefused{used.worker, used.key});
  const RunTrial fresh = driver.last_run(1);
  CHECK(!fresh.reset);
  CHECK(fresh.worker != used.worker);
  CHECK(fresh.key.attempt == used.key.attempt + 1);
  CHECK(driver.all<StopWorker>().back().worker == used.worker);
  driver.finish(1);
  CHECK(driver.row(1).failures == 0);
  CHECK(driver.row(1).infrastructure_failures == 0);
  CHECK(driver.row(1).note == "reset_config returned false: a fresh worker was started");
  CHECK(driver.status().resets_refused == 1);
}

TEST_CASE("what an old attempt still says is dropped and counted") {
  auto definition = samples(1);
  definition.run_config.failure_config.max_failures = 1;
  LoopDriver driver(definition);
  const RunTrial old = driver.last_run(0);
  driver.fail(0, "boom");
  const auto events = driver.journal.watermarks().accepted;
  driver.send(Reported{old.worker, old.key, 1, 1, {{"loss", 1}}, false, false, {}});
  driver.send(TrialEnded{old.worker, old.key, false, true});
  driver.send(CheckpointSaved{old.worker, old.key, LoopDriver::checkpoint(0, 1)});
  CHECK(driver.loop().stale_events() == 3);
  CHECK(driver.journal.watermarks().accepted == events);
}

TEST_CASE("trials have names, folders and equal configurations in journal and command") {
  ExperimentDefinition definition;
  definition.trainable = "Net";
  definition.param_space = {{"lr", grid_search({0.1, 0.2})}, {"fixed", 7}};
  LoopDriver driver(definition, 2);
  CHECK(driver.row(1).name == "Net_00001");
  CHECK(driver.row(1).dir == "Net_00001_lr=0.2");
  CHECK(driver.last_run(1).trial_dir == "/exp/Net_00001_lr=0.2");
  CHECK(driver.last_run(1).config == driver.row(1).config);
  CHECK(driver.row(1).config.at("fixed") == Value(7));
}

TEST_CASE("a gap in the results is a failure of the infrastructure") {
  LoopDriver driver(samples(1));
  driver.report_as(0, 3, {{"loss", 1}});
  CHECK(driver.results(0).empty());
  CHECK(driver.row(0).infrastructure_failures == 1);
  CHECK(driver.row(0).error.find("result 3 after result 0") != std::string::npos);
  REQUIRE(driver.pass_until_due());
  CHECK(driver.running().size() == 1);
}

}  // namespace
}  // namespace troupe::tune
