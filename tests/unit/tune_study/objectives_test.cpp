#include <troupe/serialization/json.hpp>
#include <troupe/tune/schedule/asha.hpp>
#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/gp.hpp>
#include <troupe/tune/search/nsga.hpp>
#include <troupe/tune/search/random_search.hpp>
#include <troupe/tune/search/tpe.hpp>
#include <troupe/tune/study/study.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

/// Several objectives, and constraints.
namespace troupe::tune {
namespace {

/// The front: 0 <= x <= 2, y = 0. The second value is to become large.
std::vector<double> two(StudyTrial& trial) {
  const double x = trial.suggest_float("x", -10, 10);
  const double y = trial.suggest_float("y", 0, 5);
  return {x * x + y, -(x - 2) * (x - 2) - y};
}

/// Without its constraint the best were x = 3.
double limited(StudyTrial& trial) {
  const double x = trial.suggest_float("x", -10, 10);
  trial.set_constraint("memory", x - 1);
  return std::pow(x - 3, 2);
}

const StudyOptions two_options{.modes = {Mode::min, Mode::max}, .seed = 1};

TEST_CASE("a study of several objectives finds their front") {
  for (const auto& searcher : {tpe(), gp(), nsga2(), random_search()}) {
    CAPTURE(searcher->name());
    StudyOptions options = two_options;
    options.searcher = searcher;
    Study study(options);
    study.optimize(two, 60);
    const auto front = study.best_trials();
    CHECK(front.size() >= 2);
    CHECK(front.size() < 60);
    for (const auto& best : front)
      for (const auto& trial : study.trials())
        CHECK(!(trial.values[0] < best.values[0] && trial.values[1] > best.values[1]));
    CHECK_THROWS_WITH_AS((void)study.best_trial(), doctest::Contains("best_trials"), Exception);
  }
}

TEST_CASE("with one objective the best trials are all that are as good as the best") {
  Study study;
  for (const double value : {3.0, 1.0, 2.0, 1.0, std::nan("")})
    study.tell(study.ask(), value);
  const auto best = study.best_trials();
  REQUIRE(best.size() == 2);
  CHECK(best[0].number == TrialId(1));
  CHECK(best[1].number == TrialId(3));
  CHECK(Study().best_trials().empty());
}

TEST_CASE("so many values as there are objectives, or an error that says how many") {
  Study study(two_options);
  StudyTrial trial = study.ask();
  CHECK_THROWS_WITH_AS(study.tell(trial, 1.0), doctest::Contains("1 values"), Exception);
  CHECK_THROWS_WITH_AS(study.tell(trial, {1.0, 2.0, 3.0}), doctest::Contains("3 values"),
                       Exception);
  CHECK_THROWS_WITH_AS(trial.report(1, 1), doctest::Contains("2 objectives"), Exception);
  study.tell(trial, {1.0, 2.0});
  CHECK(study.trials()[0].values == std::vector<double>{1, 2});
  Study one;
  CHECK_THROWS_WITH_AS(one.optimize(two, 1), doctest::Contains("StudyOptions::modes"), Exception);
  CHECK(one.trials()[0].ending == Ending::failed);
}

TEST_CASE("a mode that is none is refused when the study is made") {
  const auto none = static_cast<Mode>(2);
  CHECK_THROWS_WITH_AS(Study({.mode = none}),
                       doctest::Contains("StudyOptions::mode: the mode of the metric 'value' is 2"),
                       Exception);
  CHECK_THROWS_WITH_AS(Study({.modes = {Mode::min, none}}),
                       doctest::Contains("StudyOptions::modes: the mode of the metric 'value_1'"),
                       Exception);
}

TEST_CASE("what cannot serve several objectives is refused with the reason") {
  StudyOptions options = two_options;
  options.scheduler = asha();
  CHECK_THROWS_WITH_AS(Study{options}, doctest::Contains("StudyOptions::scheduler"), Exception);
  Study study({.searcher = cmaes(), .modes = {Mode::min, Mode::min}});
  CHECK_THROWS_WITH_AS(study.optimize(two, 3),
                       doctest::Contains("at most 1 objective, and there are 2: take gp, tpe"),
                       Exception);
}

TEST_CASE("the best trial is feasible, and searchers keep to where trials are") {
  for (const auto& searcher : {tpe(), gp()}) {
    CAPTURE(searcher->name());
    Study study({.searcher = searcher, .constraints = {"memory"}, .seed = 2});
    study.optimize(limited, 60);
    const auto best = study.best_trial();
    CHECK(best->constraints.at("memory").as_double() <= 0);
    CHECK(*best->value == doctest::Approx(4).epsilon(0.1));
    int feasible = 0;
    for (const auto& trial : study.trials())
      feasible += trial.number.value >= 30 && trial.constraints.at("memory").as_double() <= 0;
    CHECK(feasible >= 10);
  }
}

TEST_CASE("a front has feasible trials only") {
  Study study({.modes = {Mode::min, Mode::min}, .constraints = {"a/b", "c"}});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double limit : {1.0, nan, 0.0, -1.0}) {
    StudyTrial trial = study.ask();
    trial.set_constraint("a/b", limit);
    trial.set_constraint("c", 0);
    study.tell(trial, {static_cast<double>(trial.number().value), 1.0});
  }
  const auto front = study.best_trials();
  REQUIRE(front.size() == 1);
  CHECK(front[0].number == TrialId(2));
}

TEST_CASE("a constraint that is unknown or left out is an error that names it") {
  Study study({.constraints = {"memory", "time"}});
  StudyTrial trial = study.ask();
  CHECK_THROWS_WITH_AS(trial.set_constraint("memry", 1), doctest::Contains("'memory', 'time'"),
                       Exception);
  trial.set_constraint("memory", 1);
  trial.set_constraint("memory", -1);
  CHECK_THROWS_WITH_AS(study.tell(trial, 1.0), doctest::Contains("constraint 'time'"), Exception);
  trial.set_constraint("time", 0);
  study.tell(trial, 1.0);
  CHECK(study.best_trial()->constraints == Metrics{{"memory", -1.0}, {"time", 0.0}});
  CHECK_THROWS_AS(trial.set_constraint("time", 1), Exception);
  CHECK_THROWS_WITH_AS(Study({.constraints = {"a", "a"}}), doctest::Contains("'a'"), Exception);
}

TEST_CASE("half, saved, and the other half equal the whole, with objectives and constraints") {
  const auto objective = [](StudyTrial& trial) {
    const auto values = two(trial);
    trial.set_constraint("sum", values[0] + values[1]);
    return values;
  };
  for (const auto& searcher : {tpe(), gp(), nsga2()}) {
    StudyOptions options = two_options;
    options.searcher = searcher;
    options.constraints = {"sum"};
    Study whole(options);
    Study first(options);
    Study second(options);
    whole.optimize(objective, 30);
    first.optimize(objective, 15);
    REQUIRE(second.restore(parse_json(to_json(first.save())).value_or_throw()).has_value());
    second.add_trial({.params = {{"x", 1.0}}, .values = {1, 2}, .constraints = {{"sum", 3.0}}});
    CHECK(second.trials().size() == 16);
    REQUIRE(second.restore(first.save()).has_value());
    second.optimize(objective, 15);
    const bool equal = second.save() == whole.save();
    CHECK(equal);
    CHECK(second.best_trials().size() == whole.best_trials().size());
  }
}

}  // namespace
}  // namespace troupe::tune
