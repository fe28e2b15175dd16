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
  Value damaged = before;
  damaged.as_map()["queue"].as_list().push_back(Map{{"n", 100}});
  CHECK(!optimizer.restore(damaged).has_value());
  CHECK(optimizer.save() == before);
}

TEST_CASE("the state of another setting is refused by the name of what differs") {
  Optimizer optimizer(*tpe(), context());
  (void)optimizer.ask(3);
  const Value state = optimizer.save();
  const auto refusal = [&](const SearchContext& other, const TpeOptions& options = {}) {
    Optimizer restored(*tpe(options), other);
    const Status status = restored.restore(state);
    CHECK((status || restored.trials().empty()));
    CHECK((status || status.error().code() == ErrorCode::corrupt));
    return status ? std::string() : status.error().message();
  };
  CHECK(refusal(context()) == "");
  CHECK(refusal(context(7)) == "");  // more or fewer samples are the same search
  SearchContext other = context();
  other.space.add("y", uniform(0, 1));
  CHECK(refusal(other).find("other space") != std::string::npos);
  other = context();
  other.objectives[0].mode = Mode::max;
  CHECK(refusal(other).find("other objectives") != std::string::npos);
  other = context();
  other.constraints.clear();
  CHECK(refusal(other).find("other constraints") != std::string::npos);
  other = context();
  other.seed = 6;
  CHECK(refusal(other).find("other seed") != std::string::npos);
  CHECK(refusal(context(), {.candidates = 3}).find("other options") != std::string::npos);
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
  given.known_results = {{.config = {{"x", 0}, {"n", 5}}}, {.config = {{"x", 0.5}}}};
  const Optimizer optimizer(*random_search(), given);
  REQUIRE(optimizer.warnings().size() == 1);
  CHECK(optimizer.warnings()[0] ==
        "1 of 2 known results do not fit param_space, and nothing is learned from them; the first "
        "is known_results[1]: 'n' is missing");
  CHECK(Optimizer(*random_search(), context()).warnings().empty());
}

TEST_CASE("a metric is an objective once") {
  SearchContext twice = context();
  twice.objectives.push_back({"loss", Mode::max});
  CHECK_THROWS_WITH_AS(Optimizer(*random_search(), twice),
                       doctest::Contains("'loss' is an objective twice"), Exception);
}

TEST_CASE("states of something else are refused and change nothing") {
  Optimizer optimizer(*random_search(), context());
  (void)optimizer.ask(3);
  const Value state = optimizer.save();
  Optimizer other(BasicVariant(), context());
  CHECK(!other.restore(state).has_value());
  for (const Value& bad : {Value(), Value(3), Value(Map{{"searcher", "random"}})})
    CHECK(!optimizer.restore(bad).has_value());
  Value damaged = state;
  damaged.as_map()["trials"].as_list()[0] = 7;
  CHECK(!optimizer.restore(damaged).has_value());
  CHECK(optimizer.save() == state);
}

}  // namespace
}  // namespace troupe::tune
