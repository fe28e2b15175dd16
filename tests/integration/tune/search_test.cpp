#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <tests/integration/tune/lab.hpp>
#include <tests/support/captured_log.hpp>

// Searchers that learn, in whole experiments.

using namespace troupe;
using namespace troupe::testing;

namespace {

/// Two objectives that pull apart, and a constraint: x <= 0.75.
Metrics two_sided(const Config& config) {
  const double x = config.at("x").as_double();
  return {{"left", x}, {"right", 1 - x}, {"over", x - 0.75}, {"gain", x}};
}
TROUPE_TRAINABLE_FUNCTION(two_sided);

/// Suggests a parameter that the space has not, for the third trial.
class Stranger : public tune::Searcher {
public:
  std::string name() const override { return "stranger"; }
  std::unique_ptr<Searcher> clone() const override { return std::make_unique<Stranger>(*this); }
  Status setup(const tune::SearchContext&) override { return ok(); }
  Result<tune::Suggestion> suggest(TrialId trial) const override {
    return tune::Suggestion::of({{trial.value < 2 ? "x" : "y", 0.5}});
  }
  void record(TrialId, const Config&, const Value&) override {}
  Value save() const override { return {}; }
  Status restore(const Value&) override { return ok(); }
};

/// A metric that grows with training, so that results of unequal length cannot be compared; best at
/// quality 1, where x is 0.3.
class Grows : public tune::Trainable {
public:
  void setup(const Config& config) override {
    quality_ = 1 - std::abs(config.at("x").as_double() - 0.3);
    steps_ = 0;
  }
  Metrics step() override { return {{"score", quality_ * static_cast<double>(++steps_)}}; }
  bool reset_config(const Config& config) override {
    setup(config);
    return true;
  }

private:
  double quality_ = 0;
  int steps_ = 0;
};
TROUPE_TRAINABLE(Grows);

}  // namespace

TEST_CASE("the best result keeps the constraints, unless there is none that does") {
  Lab lab;
  const auto run = [&](const std::string& name, std::vector<Config> points) {
    const auto count = static_cast<std::int64_t>(points.size());
    return tune::Tuner(lab.runtime, "two_sided",
                       {.param_space = {{"x", tune::uniform(0, 1)}},
                        .tune_config = {.metric = "gain",
                                        .mode = Mode::max,
                                        .constraints = {"over"},
                                        .points_to_evaluate = std::move(points),
                                        .num_samples = count,
                                        .search_alg = tune::tpe()},
                        .run_config = lab.run(Isolation::thread, name)})
        .fit();
  };
  const auto mixed = run("mixed", {{{"x", 0.9}}, {{"x", 0.5}}, {{"x", 0.6}}, {{"x", 0.8}}});
  CHECK(mixed.best_result().config.at("x") == Value(0.6));
  const auto none = run("none", {{{"x", 0.9}}, {{"x", 0.8}}, {{"x", 0.85}}});
  CHECK(none.best_result().config.at("x") == Value(0.8));
  const auto printed = [](const tune::ResultGrid& results) {
    return (std::ostringstream() << results.best_result()).str();
  };
  CHECK(mixed.best_result().feasible);
  CHECK(printed(mixed).find("breaks") == std::string::npos);
  CHECK(!none.best_result().feasible);
  CHECK(printed(none).find("(which breaks a constraint, as do all others)") != std::string::npos);
}

TEST_CASE("several objectives have a front and a volume instead of a best trial") {
  Lab lab;
  const std::vector<Config> points{{{"x", 0.25}}, {{"x", 0.5}}, {{"x", 0.9}}};
  const auto results = tune::Tuner(lab.runtime, "two_sided",
                                   {.param_space = {{"x", tune::uniform(0, 1)}},
                                    .tune_config = {.metric = "left",
                                                    .mode = Mode::min,
                                                    .more_objectives = {{"right", Mode::min}},
                                                    .constraints = {"over"},
                                                    .points_to_evaluate = points,
                                                    .num_samples = 3,
                                                    .search_alg = tune::nsga2()},
                                    .run_config = lab.run(Isolation::thread)})
                           .fit();
  CHECK(results.objectives().size() == 2);
  std::set<double> front;
  for (const auto& trial : results.pareto_front())
    front.insert(trial.config.at("x").as_double());
  CHECK(front == std::set<double>{0.25, 0.5});
  CHECK(results.hypervolume({1, 1}) == doctest::Approx(0.75 * 0.25 + 0.5 * 0.25));
}

TEST_CASE("an experiment learns from the results of an earlier one") {
  for (const auto& searcher : {tune::tpe(), tune::gp(), tune::cmaes()}) {
    CAPTURE(searcher->name());
    Lab lab;
    const auto run = [&](const std::string& name, std::int64_t samples,
                         std::vector<tune::KnownResult> known) {
      return tune::Tuner(lab.runtime, "Quadratic",
                         {.param_space = {{"x", tune::uniform(-100, 100)}, {"steps", 1}},
                          .tune_config = {.metric = "loss",
                                          .mode = Mode::min,
                                          .known_results = std::move(known),
                                          .num_samples = samples,
                                          .reuse_actors = true,
                                          .search_alg = searcher,
                                          .seed = 5},
                          .run_config = lab.run(Isolation::thread, name)})
          .fit();
    };
    const auto first = run("first", 40, {});
    const auto known = first.known_results();
    CHECK(known.size() == 40);
    // Of five random trials one in twenty experiments has one that is so near.
    const auto second = run("second", 5, known);
    CHECK(second.best_result().metrics.at("loss").as_double() < 1);
  }
}

TEST_CASE("with ASHA a trial that reaches max_t is finished, and searchers learn what is good") {
  for (const auto& searcher : {tune::auto_searcher(), tune::tpe()}) {
    CAPTURE(searcher->name());
    Lab lab;
    const auto results =
        tune::Tuner(lab.runtime, "Grows",
                    {.param_space = {{"x", tune::uniform(0, 1)}},
                     .tune_config = {.metric = "score",
                                     .mode = Mode::max,
                                     .num_samples = 60,
                                     .reuse_actors = true,
                                     .scheduler = tune::asha({.max_t = 9, .reduction_factor = 3}),
                                     .search_alg = searcher,
                                     .seed = 1,
                                     .deterministic = true},
                     .run_config = lab.run(Isolation::thread)})
            .fit();
    std::size_t finished = 0;
    for (const auto& trial : results) {
      CHECK((trial.ending == Ending::finished) == (trial.iteration == 9));
      finished += trial.ending == Ending::finished ? 1 : 0;
    }
    CHECK(finished > 0);
    CHECK(finished < 60);
    CHECK(std::abs(results.best_result().config.at("x").as_double() - 0.3) < 0.02);
  }
}

TEST_CASE("trials of many workers lie apart, whatever results come between their suggestions") {
  for (const auto& searcher : {tune::tpe(), tune::gp(), tune::cmaes()}) {
    CAPTURE(searcher->name());
    Lab lab;
    auto run_config = lab.run(Isolation::thread);
    run_config.resources_per_trial = {.cpus = 0.0001};
    const auto results =
        tune::Tuner(lab.runtime, "Quadratic",
                    {.param_space = {{"x", tune::uniform(-100, 100)}, {"steps", 2}},
                     .tune_config = {.metric = "loss",
                                     .mode = Mode::min,
                                     .num_samples = 60,
                                     .max_concurrent_trials = 16,
                                     .reuse_actors = true,
                                     .search_alg = searcher,
                                     .seed = 2},
                     .run_config = run_config})
            .fit();
    std::set<double> tried;
    for (const auto& trial : results)
      tried.insert(trial.config.at("x").as_double());
    REQUIRE(tried.size() == 60);
    double least = 200;
    for (auto it = std::next(tried.begin()); it != tried.end(); ++it)
      least = std::min(least, *it - *std::prev(it));
    CHECK(least > 1e-5);  // a ten-millionth of the range
  }
}

TEST_CASE("a searcher that suggests what the space has not ends the search, and that is told") {
  for (const Isolation isolation : isolations) {
    CAPTURE(static_cast<int>(isolation));
    Lab lab;
    const CapturedLog told;
    const auto results = tune::Tuner(lab.runtime, "two_sided",
                                     {.param_space = {{"x", tune::uniform(0, 1)}},
                                      .tune_config = {.metric = "gain",
                                                      .num_samples = 5,
                                                      .search_alg = std::make_shared<Stranger>()},
                                      .run_config = lab.run(isolation)})
                             .fit();
    CHECK(results.state() == tune::ExperimentState::failed);
    CHECK(results.size() == 2);
    CHECK(results.num_errors() == 0);
    for (const std::string& text : {results.message(), told.text()})
      for (const char* part :
           {"the searcher stranger", "trial 2", "no configuration of the space", "'x'"})
        CHECK_MESSAGE(has(text, part), text);
    CHECK_MESSAGE(has(told.text(), "Tuner::restore"), told.text());
  }
}

TEST_CASE("an experiment that nothing ends is told, for a stop criterion ends trials only") {
  const auto warned = [](tune::TuneConfig config) {
    Lab lab;
    auto run = lab.run(Isolation::thread);
    run.verbose = 1;
    run.stop = tune::max_iterations(1);
    const CapturedLog told;
    tune::Tuner tuner(lab.runtime, "two_sided",
                      {.param_space = {{"x", tune::uniform(0, 1)}},
                       .tune_config = std::move(config),
                       .run_config = run});
    tuner.request_stop("the test asks");
    (void)tuner.fit();
    return has(told.text(), "nothing ends this experiment");
  };
  CHECK(warned({.num_samples = -1}));
  CHECK_FALSE(warned({.num_samples = 1}));
  CHECK_FALSE(warned({.num_samples = -1, .time_budget = std::chrono::seconds(1)}));
}
