#include <troupe/base/log.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/gp.hpp>
#include <troupe/tune/search/nsga.hpp>
#include <troupe/tune/search/quasi_random.hpp>
#include <troupe/tune/search/random_search.hpp>
#include <troupe/tune/search/tpe.hpp>
#include <troupe/tune/study/study.hpp>

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

/// What a study is given from outside: values to try, and results.
namespace troupe::tune {
namespace {

double bowl(StudyTrial& trial) {
  const double x = trial.suggest_float("x", -10, 10);
  const auto n = trial.suggest_int("n", 0, 20);
  return std::pow(x - 2, 2) + std::abs(static_cast<double>(n) - 7);
}

TEST_CASE("what is enqueued comes next and in order, and what it leaves out is suggested") {
  for (const int before : {0, 20}) {
    Study study({.seed = 1});
    study.optimize(bowl, static_cast<std::size_t>(before));
    study.enqueue_trial({{"x", 2.5}, {"n", 7}});
    study.enqueue_trial({{"n", 3}});
    study.optimize(bowl, 3);
    const auto trials = study.trials();
    const std::size_t at = static_cast<std::size_t>(before);
    CHECK(trials[at].params == Config{{"x", 2.5}, {"n", 7}});
    CHECK(*trials[at].value == 0.25);
    CHECK(trials[at + 1].params.at("n") == Value(3));
    CHECK(trials[at + 1].params.contains("x"));
    CHECK(trials[at + 2].params.at("n") != Value(3));
  }
}

TEST_CASE("searchers of every kind learn from what was enqueued") {
  for (const auto& searcher : {tpe(), gp(), cmaes(), nsga2(), quasi_random(), random_search()}) {
    CAPTURE(searcher->name());
    Study study({.searcher = searcher, .seed = 1});
    study.optimize(bowl, 5);
    study.enqueue_trial({{"x", 2.0}, {"n", 7}});
    study.optimize(bowl, 10);
    CHECK(study.best_trial()->number == TrialId(5));
  }
}

TEST_CASE("an enqueued number is taken as the one of the range that it means") {
  Study study;
  study.enqueue_trial(
      {{"whole", 2}, {"real", 2}, {"tenth", 0.3}, {"end", 1.0}, {"log_end", 1}, {"choice", "b"}});
  StudyTrial trial = study.ask();
  CHECK(trial.suggest_int("whole", 0, 5) == 2);
  CHECK(trial.suggest_float("real", 0, 5) == 2.0);
  CHECK(trial.suggest_float("tenth", 0, 1, {.step = 0.1}) == doctest::Approx(0.3));
  CHECK(trial.suggest_float("end", 0, 1) == std::nextafter(1.0, 0.0));
  CHECK(trial.suggest_float("log_end", 0.5, 1, {.log = true}) == std::nextafter(1.0, 0.0));
  CHECK(trial.suggest_categorical("choice", {"a", "b"}) == Value("b"));
}

TEST_CASE("an enqueued value outside of the range is refused where it is asked for") {
  const List values{2.5, 2.0, 7, -1, std::nan(""), "1", Value(), true};
  for (const Value& value : values) {
    Study study;
    study.enqueue_trial({{"n", value}});
    CHECK_THROWS_WITH_AS(
        study.optimize([](StudyTrial& t) { return static_cast<double>(t.suggest_int("n", 0, 5)); },
                       1),
        doctest::Contains("parameter 'n': the value"), Exception);
    CHECK(study.trials()[0].ending == Ending::failed);
    study.optimize(bowl, 3);
    Study again;
    CHECK(again.restore(study.save()).has_value());
  }
}

TEST_CASE("what was enqueued and never asked for is said, once") {
  std::vector<std::string> said;
  const log::ScopedSink sink([&](const log::Record& record) {
    said.push_back(log::format_line(record, log::Format::text));
  });
  Study study;
  study.enqueue_trial({{"x", 1.0}, {"momentun", 0.9}});
  study.optimize(bowl, 2);
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("momentun") != std::string::npos);
  CHECK(study.trials()[0].unused == std::vector<std::string>{"momentun"});
  CHECK(study.trials()[1].unused.empty());
  Study again;
  REQUIRE(again.restore(study.save()).has_value());
  CHECK(said.size() == 1);
  CHECK(again.trials()[0].unused == std::vector<std::string>{"momentun"});
}

TEST_CASE("what an earlier study found is learnt from, and its best is ours") {
  Study earlier({.seed = 1});
  earlier.optimize(bowl, 60);
  double with = 0;
  double without = 0;
  for (std::uint64_t seed = 2; seed < 7; ++seed) {
    Study fresh({.seed = seed});
    Study later({.seed = seed});
    for (const auto& trial : earlier.trials())
      later.add_trial(trial);
    CHECK(later.trials().size() == 60);
    CHECK(later.best_trial()->params == earlier.best_trial()->params);
    fresh.optimize(bowl, 10);
    later.optimize(bowl, 10);
    const auto trials = later.trials();
    for (std::size_t i = 60; i < 70; ++i)
      with += *trials[i].value;
    for (const auto& trial : fresh.trials())
      without += *trial.value;
  }
  CHECK(with < 0.5 * without);
}

TEST_CASE("added results count whether their domains are known or not, and whenever they come") {
  for (const bool with_domains : {true, false})
    for (const std::size_t before : {std::size_t{0}, std::size_t{10}}) {
      Study study({.searcher = gp(), .seed = 3});
      study.optimize(bowl, before);
      for (int i = 0; i < 20; ++i) {
        const double x = i - 10.0;
        const int n = i * 8 % 21;
        Study::Trial trial{.params = {{"x", x}, {"n", n}},
                           .value = std::pow(x - 2, 2) + std::abs(n - 7.0)};
        if (with_domains)
          trial.domains = {{"x", uniform(-10, 10)}, {"n", randint(0, 21)}};
        study.add_trial(trial);
      }
      study.optimize(bowl, 5);
      CHECK(study.trials().size() == before + 25);
      // The model knows where the good ones are; without domains it begins with the second trial.
      for (const auto& trial : study.trials())
        if (trial.number.value >= before + 21)
          CHECK(*trial.value < 30);
    }
}

TEST_CASE("added failures and pruned trials are taken, and are never the best") {
  Study study({.seed = 1});
  study.add_trial({.params = {{"x", 1.0}}, .ending = Ending::failed});
  study.add_trial({.params = {{"x", 2.0}}, .value = -5.0, .step = 3, .ending = Ending::stopped});
  study.add_trial({.params = {{"x", 3.0}}, .value = std::nan("")});
  CHECK(!study.best_trial().has_value());
  study.optimize(bowl, 20);
  CHECK(study.best_trial()->number.value >= 3);
}

TEST_CASE("results that cannot be are refused with the reason and change nothing") {
  Study study({.constraints = {"memory"}});
  const auto refused = [&](const Study::Trial& trial, const char* why) {
    CHECK_THROWS_WITH_AS(study.add_trial(trial), doctest::Contains(why), Exception);
  };
  const Metrics fine{{"memory", -1.0}};
  refused({.value = 1.0, .constraints = fine, .pending = true}, "pending");
  refused({.constraints = fine}, "0 values");
  refused({.values = {1, 2}, .constraints = fine}, "`value`, not `values`");
  refused({.value = 1.0}, "'memory' has no value");
  refused({.value = 1.0, .constraints = {{"memory", "much"}}}, "is no number");
  refused({.value = 1.0, .constraints = {{"memory", 0.0}, {"memry", 1.0}}}, "'memry'");
  refused({.params = {{"x", 3.0}},
           .domains = {{"x", uniform(0, 1)}},
           .value = 1.0,
           .constraints = fine},
          "lie in uniform(0, 1)");
  refused({.params = {{"x", 3.0}},
           .domains = {{"x", uniform(2, 1)}},
           .value = 1.0,
           .constraints = fine},
          "parameter 'x'");
  CHECK(study.trials().empty());
  CHECK(study.save() == Study({.constraints = {"memory"}}).save());
  study.add_trial({.params = {{"x", 1}},
                   .domains = {{"x", uniform(0, 2)}},
                   .value = 1.0,
                   .constraints = {{"memory", -1}}});
  CHECK(study.best_trial()->params == Config{{"x", 1.0}});
  CHECK(study.best_trial()->constraints == fine);
}

TEST_CASE("half, saved, and the other half equal the whole, with all that comes from outside") {
  const log::ScopedSink quiet([](const log::Record&) {});
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto begin = [](Study& study) {
      study.enqueue_trial({{"x", 1}, {"y", 5}});
      study.add_trial(
          {.params = {{"x", 3.5}, {"n", 7}}, .domains = {{"x", uniform(-10, 10)}}, .value = 2.25});
      study.optimize(bowl, 8);
      study.add_trial({.params = {{"x", 9.0}}, .ending = Ending::failed});
      study.add_trial({.params = {{"x", 9.0}}, .value = std::nan("")});
      study.enqueue_trial({{"n", 12}});
      study.enqueue_trial({{"n", 13}, {"x", 0.5}});
    };
    Study whole({.seed = seed});
    Study first({.seed = seed});
    Study second({.seed = seed});
    begin(whole);
    begin(first);
    REQUIRE(second.restore(parse_json(to_json(first.save())).value_or_throw()).has_value());
    whole.optimize(bowl, 20);
    second.optimize(bowl, 20);
    const bool equal = second.save() == whole.save();
    CHECK(equal);
    CHECK(second.trials()[11].params.at("n") == Value(12));
  }
}

}  // namespace
}  // namespace troupe::tune
