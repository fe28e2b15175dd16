#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/basic_variant.hpp>
#include <troupe/tune/search/bohb.hpp>
#include <troupe/tune/search/brute_force.hpp>
#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/gp.hpp>
#include <troupe/tune/search/nsga.hpp>
#include <troupe/tune/search/optimizer.hpp>
#include <troupe/tune/search/quasi_random.hpp>
#include <troupe/tune/search/random_search.hpp>
#include <troupe/tune/search/tpe.hpp>
#include <troupe/tune/search/wrappers.hpp>

#include <cmath>
#include <string>

#include <doctest/doctest.h>

namespace troupe::tune {
namespace {

SearchContext context(std::uint64_t samples = 50) {
  return {.space = {{"x", uniform(-1, 1)}, {"n", randint(0, 100)}},
          .objectives = {{"loss", Mode::min}},
          .constraints = {"memory"},
          .seed = 5,
          .num_samples = samples};
}

Metrics result_of(const Config& config) {
  const double x = config.at("x").as_double();
  return {{"loss", x * x}, {"memory", x > 0.5 ? 1 : -1}};
}

TEST_CASE("asked and told, an optimizer ends with the best feasible configuration") {
  Optimizer optimizer(*random_search(), context());
  std::size_t count = 0;
  while (const auto asked = optimizer.ask()) {
    optimizer.tell(asked->id, result_of(asked->config));
    ++count;
  }
  CHECK(count == 50);
  CHECK(optimizer.exhausted());
  for (const auto& [id, trial] : optimizer.trials())
    if (trial.metrics.at("memory") == Value(-1))
      CHECK(optimizer.best()->metrics.at("loss").as_double() <=
            trial.metrics.at("loss").as_double());
}

TEST_CASE("so many as are wanted come at once, and not more than there are") {
  Optimizer optimizer(*random_search(), context(10));
  CHECK(optimizer.ask(8).size() == 8);
  CHECK(!optimizer.exhausted());
  CHECK(optimizer.ask(8).size() == 2);
  CHECK(optimizer.exhausted());
}

TEST_CASE("half, saved, and the other half equal the whole") {
  Optimizer whole(*random_search(), context());
  Optimizer first(*random_search(), context());
  for (Optimizer* optimizer : {&whole, &first})
    for (int i = 0; i < 25; ++i) {
      const auto asked = optimizer->ask().value();
      optimizer->tell(asked.id, result_of(asked.config));
    }
  const auto text = to_json(first.save());
  Optimizer second(*random_search(), context());
  REQUIRE(second.restore(parse_json(text).value_or_throw()).has_value());
  CHECK(second.save() == first.save());
  while (const auto expected = whole.ask()) {
    const auto asked = second.ask().value();
    CHECK(asked.config == expected->config);
    CHECK(asked.id == expected->id);
    whole.tell(expected->id, result_of(expected->config));
    second.tell(asked.id, result_of(asked.config));
  }
  CHECK(!second.ask().has_value());
  const bool equal = second.save() == whole.save();
  CHECK(equal);
}

TEST_CASE("failed and pruned trials are not the best, and NaN never is") {
  Optimizer optimizer(*random_search(), context());
  const auto asked = optimizer.ask(5);
  optimizer.tell_failed(asked[0].id);
  optimizer.report(asked[1].id, 3, {{"loss", -5}, {"memory", 0}});
  optimizer.tell_pruned(asked[1].id);
  optimizer.tell(asked[2].id, {{"loss", std::nan("")}, {"memory", 0}});
  CHECK(!optimizer.best().has_value());
  optimizer.tell(asked[3].id, {{"loss", 7}, {"memory", 0}});
  optimizer.tell(asked[4].id, {{"loss", 1}, {"memory", 0.5}});
  CHECK(optimizer.best()->id == asked[3].id);
  CHECK(optimizer.trials().at(asked[1].id).metrics.at("training_iteration") == Value(3));
}

TEST_CASE("telling what is not pending is an error with the reason") {
  Optimizer optimizer(*random_search(), context());
  const auto asked = optimizer.ask().value();
  CHECK_THROWS_WITH_AS(optimizer.tell_failed(TrialId(9)),
                       doctest::Contains("it was never asked for"), Exception);
  optimizer.tell_failed(asked.id);
  CHECK_THROWS_WITH_AS(optimizer.tell_failed(asked.id), doctest::Contains("told how it ended"),
                       Exception);
  SearchContext two = context();
  two.objectives.push_back({"size", Mode::min});
  Optimizer more(*random_search(), two);
  CHECK_THROWS_WITH_AS(more.tell(more.ask()->id, 0.5), doctest::Contains("2 objectives"),
                       Exception);
}

TEST_CASE("what is enqueued is asked for next, in order, whatever the searcher") {
  const auto space = [](bool finite) {
    return ParamSpace{{"x", finite ? quniform(-1, 1, 0.25) : uniform(-1, 1)},
                      {"n", randint(0, 9)},
                      {"model", {{"kind", choice({"a", "b"})}, {"file", "data"}}}};
  };
  for (const auto& searcher :
       {basic_variant(), bohb(), brute_force(), cmaes(), gp(), nsga2(), quasi_random(),
        random_search(), tpe(), concurrency_limiter(tpe(), {.max_concurrent = 4}),
        repeater(tpe(), 2), switch_searcher(random_search(), tpe(), 5)}) {
    CAPTURE(searcher->name());
    const SearchContext finite{.space = space(searcher->name() == "brute_force"),
                               .objectives = {{"loss", Mode::min}},
                               .seed = 3};
    Optimizer whole(*searcher, finite);
    Optimizer half(*searcher, finite);
    const auto go_on = [&](Optimizer& optimizer, int count) {
      for (int i = 0; i < count; ++i) {
        const auto asked = optimizer.ask().value();
        CHECK(asked.config.at("model/file") == Value("data"));
        optimizer.tell(asked.id, std::abs(asked.config.at("x").as_double()));
      }
    };
    for (Optimizer* optimizer : {&whole, &half}) {
      go_on(*optimizer, 4);
      optimizer->add({.config = {{"x", 0.25}, {"n", 4}, {"model", Map{{"kind", "b"}}}},
                      .metrics = {{"loss", -1.0}}});
      optimizer->add({.config = {{"x", 0.5}, {"n", 4}, {"model", Map{{"kind", "b"}}}},
                      .ending = Ending::failed});
      optimizer->enqueue({{"n", 5}, {"model", Map{{"kind", "b"}}}});
      optimizer->enqueue({{"x", 0.75}});
    }
    Optimizer second(*searcher, finite);
    REQUIRE(second.restore(parse_json(to_json(half.save())).value_or_throw()).has_value());
    go_on(whole, 12);
    go_on(second, 12);
    CHECK(second.trials().at(TrialId(6)).config.at("n") == Value(5));
    CHECK(second.trials().at(TrialId(6)).config.at("model/kind") == Value("b"));
    CHECK(second.trials().at(TrialId(7)).config.at("x") == Value(0.75));
    CHECK(second.best()->id == TrialId(4));
    const bool equal = second.save() == whole.save();
    CHECK(equal);
  }
}

TEST_CASE("added results are learnt from like those that were told") {
  Optimizer told(*tpe(), context());
  Optimizer added(*tpe(), context());
  for (int i = 0; i < 30; ++i) {
    const auto asked = told.ask().value();
    told.tell(asked.id, result_of(asked.config));
    added.add({.config = asked.config, .metrics = result_of(asked.config)});
  }
  CHECK(added.best()->id == told.best()->id);
  CHECK(added.ask()->config == told.ask()->config);
}

TEST_CASE("an enqueued configuration comes though there are no others any more") {
  Optimizer optimizer(*random_search(), context(2));
  (void)optimizer.ask(3);
  CHECK(optimizer.exhausted());
  optimizer.enqueue({{"n", 7}});
  CHECK(!optimizer.exhausted());
  CHECK(optimizer.ask()->config.at("n") == Value(7));
  CHECK(!optimizer.ask().has_value());
  CHECK(optimizer.exhausted());
}

TEST_CASE("what is no configuration of the space is neither enqueued nor added") {
  Optimizer optimizer(*random_search(), context());
  const Value before = optimizer.save();
  CHECK_THROWS_WITH_AS(optimizer.enqueue({{"y", 1}}), doctest::Contains("'y'"), Exception);
  CHECK_THROWS_WITH_AS(optimizer.enqueue({{"n", 100}}), doctest::Contains("randint(0, 100)"),
                       Exception);
  CHECK_THROWS_WITH_AS(optimizer.add({.config = {{"n", 1}}, .metrics = {{"loss", 1.0}}}),
                       doctest::Contains("'x' is missing"), Exception);
  CHECK_THROWS_WITH_AS(optimizer.add({.config = {{"n", 1}, {"x", 2.5}}}),
                       doctest::Contains("uniform(-1, 1)"), Exception);
  CHECK(optimizer.save() == before);
}

TEST_CASE("a rule that is broken is named: by what is added, and by what can not be completed") {
  SearchContext ruled = context();
  ruled.space.add("m", randint(0, 100));
  ruled.space.require(less("n", "m"));
  Optimizer optimizer(*random_search(), ruled);
  CHECK_THROWS_WITH_AS(optimizer.add({.config = {{"x", 0}, {"n", 5}, {"m", 5}},
                                      .metrics = {{"loss", -1}, {"memory", 0}}}),
                       "invalid_argument: add: it breaks the rule 'n < m' of param_space",
                       Exception);
  CHECK_THROWS_WITH_AS(optimizer.enqueue({{"n", 99}}), doctest::Contains("enqueue: 10000 draws"),
                       Exception);
  CHECK(optimizer.trials().empty());
  // What a user wants to see tried is tried.
  optimizer.enqueue({{"n", 5}, {"m", 5}});
  CHECK(optimizer.ask()->config.at("m") == Value(5));
}

TEST_CASE("a value of a parameter that does not exist is refused, wherever it is given") {
  SearchContext conditional = context();
  conditional.constraints.clear();
  conditional.space = {{"kind", choice({"svm", "forest", "none"})},
                       {"one", choice({"only"})},
                       {"c", when("kind", {"svm"}, uniform(0, 1))},
                       {"fixed", when("kind", {"svm", "forest"}, 3)},
                       {"trees", when("kind", {"forest"}, randint(1, 10))},
                       {"deep", when("trees", {2, 3}, uniform(0, 1))},
                       {"always", when("one", {"only"}, randint(0, 5))}};
  Optimizer optimizer(*random_search(), conditional);
  const auto refusal = [&](const Config& config) -> std::string {
    std::string point, enqueued;
    SearchContext with = conditional;
    with.points_to_evaluate = {config};
    try {
      (void)Optimizer(*basic_variant(), with);
    } catch (const Exception& e) {
      point = e.error().message();
    }
    try {
      optimizer.enqueue(config);
    } catch (const Exception& e) {
      enqueued = e.error().message();
    }
    if (enqueued.empty() && point.empty())
      return "";
    CHECK(point.find("SearchContext.points_to_evaluate[0]: ") == 0);
    CHECK(enqueued.find("enqueue: ") == 0);
    CHECK(enqueued.substr(9) == point.substr(37));
    return enqueued.substr(9);
  };
  CHECK(refusal({{"kind", "svm"}, {"trees", 3}}) ==
        "'trees' exists only where 'kind' is \"forest\", and it is \"svm\": leave 'trees' out");
  CHECK(refusal({{"trees", 3}}) ==
        "'trees' exists only where 'kind' is \"forest\", which is not given: give 'kind', too");
  CHECK(refusal({{"kind", "none"}, {"fixed", 3}}).find("one of [\"svm\",\"forest\"]") !=
        std::string::npos);
  CHECK(refusal({{"kind", "forest"}, {"trees", 4}, {"deep", 0.5}}).find("one of [2,3], and it") !=
        std::string::npos);
  CHECK(refusal({{"kind", "forest"}, {"trees", 3}, {"deep", 0.5}, {"fixed", 3}}) == "");
  CHECK(refusal({{"always", 1}}) == "");
  const auto add = [&](const Config& config) {
    optimizer.add({.config = config, .metrics = {{"loss", 1.0}}});
  };
  CHECK_THROWS_WITH_AS(
      add({{"kind", "svm"}, {"one", "only"}, {"always", 1}, {"c", 0.5}, {"trees", 3}}),
      doctest::Contains("add: 'trees' exists only"), Exception);
  add({{"kind", "svm"}, {"one", "only"}, {"always", 1}, {"c", 0.5}});
  CHECK(optimizer.best()->config.at("fixed") == Value(3));
}

TEST_CASE("a result without an objective or a constraint is refused, and the trial stays pending") {
  SearchContext both = context();
  both.objectives.push_back({"net/size", Mode::min});
  Optimizer optimizer(*random_search(), both);
  const TrialId id = optimizer.ask()->id;
  const Value before = optimizer.save();
  const auto refused = [&](const Metrics& metrics, const char* why) {
    CHECK_THROWS_WITH_AS(optimizer.tell(id, metrics), doctest::Contains(why), Exception);
    CHECK_THROWS_WITH_AS(optimizer.report(id, 1, metrics), doctest::Contains(why), Exception);
    CHECK_THROWS_WITH_AS(optimizer.add({.config = {{"x", 0}, {"n", 0}}, .metrics = metrics}),
                         doctest::Contains(why), Exception);
    CHECK(optimizer.save() == before);
    CHECK(optimizer.trials().at(id).pending);
    CHECK(optimizer.trials().at(id).metrics.empty());
  };
  const Map net{{"size", 3}};
  refused({}, "objective: the metric 'loss' is not among");
  refused({{"los", 1}, {"memory", 0}, {"net", net}}, "did you mean 'los'?");
  refused({{"loss", "1"}, {"memory", 0}, {"net", net}}, "a string was reported");
  refused({{"loss", 1}, {"memory", 0}}, "objective: the metric 'net/size'");
  refused({{"loss", 1}, {"net", net}}, "constraint: the metric 'memory'");
  CHECK_THROWS_WITH_AS(optimizer.tell(id, {{"loss", 1}, {"memory", 0}}),
                       doctest::Contains("trial 0: objective"), Exception);
  // What could not be measured is said.
  optimizer.tell(id, {{"loss", nullptr}, {"memory", 0}, {"net", net}});
  CHECK(!optimizer.best().has_value());
  // What failed or was stopped may have none.
  optimizer.add({.config = {{"x", 0}, {"n", 0}}, .ending = Ending::stopped});
  optimizer.add(
      {.config = {{"x", 0}, {"n", 1}}, .metrics = {{"code", 3}}, .ending = Ending::failed});
  CHECK(optimizer.trials().size() == 3);
}

TEST_CASE("steps of a trial ascend, and a step that does not leaves no trace") {
  Optimizer optimizer(*random_search(), context());
  const TrialId id = optimizer.ask()->id;
  const auto result = [](double loss) { return Metrics{{"loss", loss}, {"memory", 0}}; };
  optimizer.report(id, 2, result(5));
  const Value before = optimizer.save();
  for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2},
                                   std::uint64_t{1} << 63U, UINT64_MAX}) {
    CHECK_THROWS_WITH_AS(optimizer.report(id, step, result(9)),
                         doctest::Contains("up to 2^63 - 1, and the last one of this trial was 2"),
                         Exception);
    CHECK(optimizer.save() == before);
    CHECK(optimizer.trials().at(id).metrics.at("loss") == Value(5.0));
  }
  optimizer.report(id, 7, result(4));
  for (const Value& step : {Value(6), Value(7.0), Value("7"), Value(-1)}) {
    Metrics last = result(3);
    last["training_iteration"] = step;
    CHECK_THROWS_WITH_AS(optimizer.tell(id, last), doctest::Contains("at least 7"), Exception);
  }
  optimizer.tell(id, result(3));
  CHECK(optimizer.best()->metrics.at("training_iteration") == Value(7));
}

TEST_CASE("points that do not fit are refused, known results that do not are told") {
  SearchContext given = context();
  given.points_to_evaluate = {{{"x", 0}}, {{"n", 100}}};
  CHECK_THROWS_WITH_AS(Optimizer(*random_search(), given),
                       doctest::Contains("points_to_evaluate[1]: n = 100"), Exception);
  given.points_to_evaluate = {{{"xx", 0.5}}};
  CHECK_THROWS_WITH_AS(Optimizer(*random_search(), given), doctest::Contains("no parameter 'xx'"),
                       Exception);
  given.points_to_evaluate.clear();
  given.space.forbid({{"n", 13}});
  const Metrics good{{"loss", 1}, {"memory", 0}};
  given.known_results = {
      {.config = {{"x", 0}, {"n", 5}}},
      {.config = {{"x", 0.5}}},
      {.config = {{"x", 0}, {"n", 6}, {"more", 1}}, .metrics = good},
      {.config = {{"x", 0}, {"n", 13}}, .metrics = good},
      {.config = {{"x", 0}, {"n", 7}}, .metrics = {{"los", 1}, {"memory", 0}}},
      {.config = {{"x", 0}, {"n", 8}}, .metrics = {{"los", 1}}, .ending = Ending::failed}};
  const auto warning = [&] {
    const Optimizer optimizer(*random_search(), given);
    REQUIRE(optimizer.warnings().size() == 1);
    return optimizer.warnings()[0];
  };
  CHECK(warning() ==
        "3 of 6 known results do not fit the search, and nothing is learned from them; the first "
        "is known_results[1]: 'n' is missing");
  given.known_results.erase(given.known_results.begin() + 1);
  CHECK(warning().find("[2]: it breaks the rule") != std::string::npos);
  given.known_results.erase(given.known_results.begin() + 2);
  CHECK(warning().find("[2]: objective: the metric 'loss'") != std::string::npos);
  CHECK(Optimizer(*random_search(), context()).warnings().empty());
}

TEST_CASE("objectives and constraints have names, each once") {
  const auto refusal = [](const auto& change) {
    SearchContext wrong = context();
    change(wrong);
    try {
      (void)Optimizer(*random_search(), wrong);
    } catch (const Exception& e) {
      return e.error().message();
    }
    return std::string();
  };
  CHECK(refusal([](SearchContext& c) {
          c.objectives.push_back({"loss", Mode::max});
        }).find("SearchContext.objectives: the metric 'loss' is an objective twice") == 0);
  CHECK(refusal([](SearchContext& c) { c.objectives.push_back({}); }).find("is empty") !=
        std::string::npos);
  CHECK(refusal([](SearchContext& c) { c.objectives[0].mode = static_cast<Mode>(2); }) ==
        "SearchContext.objectives: the mode of the metric 'loss' is 2; it must be Mode::min "
        "or Mode::max");
  CHECK(refusal([](SearchContext& c) {
          c.constraints.push_back("memory");
        }).find("SearchContext.constraints: the metric 'memory' is a constraint twice") == 0);
  CHECK(refusal([](SearchContext& c) { c.constraints = {""}; }).find("is empty") !=
        std::string::npos);
}

TEST_CASE("who needs an objective says where to name it, with a Tuner and without") {
  SearchContext none = context();
  none.objectives.clear();
  CHECK_THROWS_WITH_AS(Optimizer(*tpe(), none), doctest::Contains("SearchContext.objectives"),
                       Exception);
  CHECK_THROWS_WITH_AS(Optimizer(*tpe(), none), doctest::Contains("TuneConfig.metric"), Exception);
}

}  // namespace
}  // namespace troupe::tune
