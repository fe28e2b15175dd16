#include <troupe/base/random.hpp>
#include <troupe/tune/schedule/asha.hpp>
#include <troupe/tune/search/brute_force.hpp>
#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/model_searcher.hpp>
#include <troupe/tune/search/random_search.hpp>
#include <troupe/tune/search/wrappers.hpp>

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "loop_driver.hpp"

// Searchers that take time are asked beside the loop.

namespace troupe::tune {
namespace {

/// Suggests ten times the number of results it has seen, those of trials that somebody stopped
/// tenfold, plus the number of the trial.
class Witness final : public ModelSearcher {
public:
  std::string name() const override { return "witness"; }
  std::unique_ptr<Searcher> clone() const override { return std::make_unique<Witness>(*this); }

protected:
  Result<Proposal> propose(TrialId trial, std::uint32_t) const override {
    std::uint64_t steps = 0;
    for (const auto& observation : history().all())
      steps +=
          observation.step * (observation.state == detail::Observation::State::pruned ? 10U : 1U);
    return Proposal{.point =
                        detail::Point{design().axes()[0].coordinate(10 * steps + trial.value)}};
  }
};

ExperimentDefinition witnessed(std::int64_t num_samples) {
  ExperimentDefinition definition;
  definition.param_space = {{"x", randint(0, 1000)}};
  definition.tune_config.metric = "loss";
  definition.tune_config.mode = Mode::min;
  definition.tune_config.num_samples = num_samples;
  definition.tune_config.search_alg = std::make_shared<Witness>();
  return definition;
}

TEST_CASE("events go on while a searcher thinks, and its answer starts the trial") {
  LoopDriver driver(witnessed(3), 2);
  CHECK(driver.running() == std::vector<std::uint32_t>{0, 1});
  driver.compute_at_once = false;
  driver.finish(0);
  CHECK(driver.running() == std::vector<std::uint32_t>{1});
  CHECK(driver.loop().is_asking());
  CHECK(driver.report(1, {{"loss", 0.5}})->verdict == Verdict::go_on);
  driver.compute();
  CHECK(driver.running() == std::vector<std::uint32_t>{1, 2});
  // It answered as of the moment of the question: the result of trial 1 came later.
  CHECK(driver.row(2).config.at("x") == Value(12));
}

TEST_CASE("what happened while it thought is told with the next question") {
  LoopDriver driver(witnessed(4), 2);
  driver.compute_at_once = false;
  driver.finish(0);
  driver.report(1, {{"loss", 0.5}});
  driver.compute();
  driver.finish(2);
  driver.compute();
  CHECK(driver.row(3).config.at("x") == Value(33));
}

TEST_CASE("at most one question is out") {
  LoopDriver driver(witnessed(10), 3);
  driver.compute_at_once = false;
  driver.commands.clear();
  driver.finish(0);
  driver.finish(1);
  driver.finish(2);
  CHECK(driver.all<Compute>().size() == 1);
  driver.compute();
  CHECK(driver.running().size() == 3);
}

TEST_CASE("a question that was out when the driver died is asked again") {
  LoopDriver driver(witnessed(2), 1);
  driver.compute_at_once = false;
  driver.finish(0);
  REQUIRE(driver.all<Compute>().size() == 2);
  const auto old = driver.all<Compute>().back().computation;
  driver.kill_and_restore();
  REQUIRE(driver.all<Compute>().size() == 1);
  old->run();
  driver.send(Computed{old});
  CHECK(driver.running().empty());
  CHECK(driver.loop().stale_events() == 1);
  driver.compute();
  CHECK(driver.running() == std::vector<std::uint32_t>{1});
  CHECK(driver.row(1).config.at("x") == Value(11));
}

TEST_CASE("an answer that comes when the experiment stops starts nothing") {
  LoopDriver driver(witnessed(5), 2);
  driver.compute_at_once = false;
  driver.finish(0);
  driver.send(StopRequested{"SIGINT"});
  driver.compute();
  CHECK(driver.running() == std::vector<std::uint32_t>{1});
  CHECK(driver.loop().status().created == 2);
}

TEST_CASE("an experiment that runs out of configurations says so at its end") {
  ExperimentDefinition definition = witnessed(5);
  definition.tune_config.search_alg = nullptr;
  definition.param_space = {{"x", choice({1, 2, 3})}};
  LoopDriver driver(definition, 1);
  for (std::uint32_t trial = 0; trial < 3; ++trial)
    driver.finish(trial);
  CHECK(driver.status().state == ExperimentState::finished);
  CHECK(driver.status().created == 3);
  CHECK(driver.status().message.find("allow_repeats") != std::string::npos);

  definition.tune_config.num_samples = 2;
  LoopDriver enough(definition, 1);
  enough.finish(0);
  enough.finish(1);
  CHECK(enough.status().state == ExperimentState::finished);
  CHECK(enough.status().message.empty());
}

TEST_CASE("no wrapper holds a run up, whatever becomes of its trials, also after kills") {
  const std::vector<std::shared_ptr<Searcher>> wrappers{
      concurrency_limiter(cmaes(), {.max_concurrent = 2}),
      concurrency_limiter(cmaes(),
                          {.max_concurrent = 7, .batch = true}),  // more than there are CPUs
      concurrency_limiter(repeater(cmaes(), 3), {.max_concurrent = 4, .batch = true}),
      repeater(concurrency_limiter(cmaes(), {.max_concurrent = 2, .batch = true}), 2),
      switch_searcher(random_search(), cmaes(), 9)};
  for (const auto& wrapper : wrappers)
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      CAPTURE(wrapper->name());
      CAPTURE(seed);
      Random random(seed, 0, RandomPurpose::test);
      ExperimentDefinition definition;
      definition.param_space = {{"x", uniform(0, 1)}};
      definition.tune_config.metric = "loss";
      definition.tune_config.mode = Mode::min;
      definition.tune_config.num_samples = 25;
      definition.tune_config.search_alg = wrapper;
      LoopDriver driver(definition, 3);
      while (!driver.running().empty()) {
        const auto running = driver.running();
        const std::uint32_t trial = random.pick(running);
        const std::uint64_t draw = random.below(20);
        if (draw == 0)
          driver.kill_and_restore(
              {.unfinished = random.chance(0.5) ? Resume::resume : Resume::skip});
        else if (draw < 3)
          driver.fail(trial, "a defect");
        else if (draw < 9)
          driver.finish(trial, {{"loss", random.uniform(0, 1)}});
        else
          driver.report(trial, {{"loss", random.uniform(0, 1)}});
      }
      CHECK(driver.status().state == ExperimentState::finished);
      CHECK(driver.status().created == 25);
    }
}

TEST_CASE("brute force goes through the space when nobody says how many samples there are") {
  ExperimentDefinition definition;
  definition.param_space = {{"x", choice({1, 2, 3})}};
  definition.tune_config.search_alg = brute_force();
  LoopDriver driver(definition, 1);
  for (std::uint32_t trial = 0; trial < 3; ++trial)
    driver.finish(trial);
  CHECK(driver.status().state == ExperimentState::finished);
  CHECK(driver.status().created == 3);
}

TEST_CASE("taking the decisions of a journal again gives the same, suggestions included") {
  LoopDriver driver(witnessed(4), 2);
  for (std::uint32_t trial = 0; trial < 4; ++trial)
    driver.finish(trial);
  const auto again =
      TrialLoop::verify_replay(driver.journal, driver.searcher(), driver.scheduler());
  CHECK(again.value_or_throw() == driver.loop().fingerprint());
}

TEST_CASE("what a scheduler stops is told to the searcher, with its last result") {
  auto definition = witnessed(3);
  definition.tune_config.scheduler = asha({.reduction_factor = 2});
  LoopDriver driver(definition, 2);
  CHECK(driver.report(0, {{"loss", 0.5}})->verdict == Verdict::go_on);
  CHECK(driver.report(1, {{"loss", 0.9}})->verdict == Verdict::stop);
  driver.end(1);
  CHECK(driver.row(2).config.at("x") == Value(10 * (1 + 10) + 2));
}

TEST_CASE("points to evaluate, known results and constraints reach the searcher") {
  auto definition = witnessed(2);
  definition.tune_config.constraints = {"memory"};
  definition.tune_config.points_to_evaluate = {{{"x", 17}}};
  definition.tune_config.known_results = {
      {{{"x", 900}}, {{"loss", 1.0}, {"memory", -1}, {"training_iteration", 5}}}};
  LoopDriver driver(definition);
  CHECK(driver.row(0).config.at("x") == Value(17));
  const auto refused = driver.report(0, {{"loss", 1.0}});
  CHECK(refused->verdict == Verdict::stop);
  driver.end(0);
  CHECK(driver.row(0).error.find("TuneConfig.constraints") != std::string::npos);
  CHECK(driver.row(1).config.at("x") == Value(51));
}

}  // namespace
}  // namespace troupe::tune
