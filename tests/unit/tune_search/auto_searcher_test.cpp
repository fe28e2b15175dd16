#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/auto_searcher.hpp>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/unit/tune_search/ask_tell.hpp"

namespace troupe::tune {
namespace {

SearchContext context_of(std::size_t objectives) {
  SearchContext context{.space = {{"x", uniform(0, 1)}, {"k", choice({"a", "b"})}}, .seed = 5};
  for (std::size_t i = 0; i < objectives; ++i)
    context.objectives.push_back({"m" + std::to_string(i), Mode::min});
  return context;
}

std::string asked(const Searcher& searcher, std::uint32_t trial) {
  const Value note = searcher.suggest(TrialId(trial)).value_or_throw().note;
  return note.as_map().at("by").as_string();
}

/// A trial of another origin, which costs no suggestion: its loss is least at x = 0.25.
void add(Searcher& searcher, std::uint32_t trial, bool finish = true) {
  const double x = std::fmod(0.1 + 0.61803398875 * trial, 1.0);
  searcher.record(TrialId(trial), {{"x", x}, {"y", 0.001 * std::round(1000 * (1 - x))}, {"k", "a"}},
                  {});
  const Metrics metrics{{"m0", std::abs(x - 0.25)}, {"training_iteration", 1}};
  if (finish)
    searcher.on_complete(TrialId(trial), Ending::finished, &metrics);
}

SearchContext numbers_only() {
  SearchContext context = context_of(1);
  context.space = {{"x", uniform(0, 1)}, {"y", quniform(0, 1, 0.001)}};
  return context;
}

TEST_CASE("few trials are for the Gaussian process, many for who knows them all") {
  SearchContext constrained = numbers_only();
  constrained.constraints = {"m0"};
  SearchContext two = numbers_only();
  two.objectives.push_back({"m1", Mode::min});
  SearchContext conditional = numbers_only();
  conditional.space.add("z", when("y", {0.0}, uniform(0, 1)));
  struct Case {
    SearchContext context;
    std::string later;
  };
  for (const Case& it : {Case{context_of(1), "tpe"}, Case{numbers_only(), "cmaes"},
                         Case{constrained, "tpe"}, Case{two, "tpe"}, Case{conditional, "tpe"}}) {
    const auto searcher = auto_searcher();
    REQUIRE(searcher->setup(it.context));
    CHECK(asked(*searcher, 0) == "gp");
    for (std::uint32_t i = 0; i < 299; ++i)
      add(*searcher, i);
    add(*searcher, 299);
    CHECK(asked(*searcher, 300) == it.later);
    if (it.context.objectives.size() > 1 || !it.context.constraints.empty())
      continue;
    const Config next = searcher->suggest(TrialId(300)).value_or_throw().config;
    CHECK(std::abs(next.at("x").as_double() - 0.25) < 0.35);
  }
}

TEST_CASE("trials that run when the Gaussian process goes are not forgotten") {
  SearchContext context = numbers_only();
  context.num_samples = 303;
  const auto searcher = auto_searcher();
  REQUIRE(searcher->setup(context));
  for (std::uint32_t i = 0; i < 300; ++i)
    add(*searcher, i, i < 290);
  const auto twin = auto_searcher();
  REQUIRE(twin->setup(context));
  REQUIRE(twin->restore(searcher->save()));
  for (const auto& one : {searcher, twin}) {
    for (std::uint32_t i = 290; i < 300; ++i) {
      const Metrics metrics{{"m0", 0.01 * i}, {"training_iteration", 1}};
      one->on_complete(TrialId(i), Ending::finished, &metrics);
    }
    for (std::uint32_t i = 300; i < 303; ++i) {
      const Suggestion next = one->suggest(TrialId(i)).value_or_throw();
      REQUIRE(next.kind == Suggestion::Kind::config);
      one->record(TrialId(i), next.config, next.note);
    }
    CHECK(one->suggest(TrialId(303)).value_or_throw().kind == Suggestion::Kind::exhausted);
  }
  CHECK(searcher->save() == twin->save());
}

TEST_CASE("the searcher goes on alike after a restart at any moment of the change") {
  const SearchContext context = numbers_only();
  for (const std::uint32_t moment : {0U, 7U, 298U, 299U, 300U, 301U, 320U}) {
    CAPTURE(moment);
    auto searcher = auto_searcher();
    REQUIRE(searcher->setup(context));
    std::shared_ptr<Searcher> restored;
    for (std::uint32_t i = 0; i < 330; ++i) {
      if (i == moment) {
        restored = auto_searcher();
        REQUIRE(restored->setup(context));
        REQUIRE(restored->restore(searcher->save()));
      }
      for (const auto& one : {searcher, restored})
        if (one != nullptr)
          add(*one, i, i % 7 != 0);
    }
    CHECK(restored->save() == searcher->save());
    CHECK(restored->suggest(TrialId(330)).value_or_throw().config ==
          searcher->suggest(TrialId(330)).value_or_throw().config);
  }
}

TEST_CASE("many parameters, many objectives and many running trials are for TPE") {
  for (const int parameters : {60, 61}) {
    SearchContext wide = context_of(1);
    wide.space = {};
    for (int i = 0; i < parameters; ++i)
      wide.space.add("x" + std::to_string(i), uniform(0, 1));
    const auto searcher = auto_searcher();
    REQUIRE(searcher->setup(wide));
    CHECK(asked(*searcher, 0) == (parameters == 60 ? "gp" : "tpe"));
  }
  for (const std::size_t objectives : {3U, 4U}) {
    const auto searcher = auto_searcher();
    REQUIRE(searcher->setup(context_of(objectives)));
    CHECK(asked(*searcher, 0) == (objectives == 3 ? "gp" : "tpe"));
    CHECK_FALSE(searcher->instant());
  }
  const auto searcher = auto_searcher();
  const SearchContext context = context_of(1);
  REQUIRE(searcher->setup(context));
  AskTell loop(*searcher, context,
               [](const Config& c) { return std::vector{c.at("x").as_double()}; });
  for (int i = 0; i < 65; ++i)
    REQUIRE(loop.ask());
  CHECK(asked(*searcher, 65) == "tpe");
  loop.tell();
  CHECK(asked(*searcher, 65) == "gp");
}

TEST_CASE("a grid is tried completely, so often as samples are asked for, and the rest is drawn") {
  SearchContext context = context_of(1);
  context.space = {
      {"x", uniform(0, 1)}, {"a", grid_search({1, 2, 3})}, {"b", {{"c", grid_search({"u", "v"})}}}};
  context.num_samples = 2;
  const auto searcher = auto_searcher();
  REQUIRE(searcher->setup(context));
  CHECK(searcher->instant());
  CHECK(searcher->planned(context) == 12);
  CHECK(asked(*searcher, 0) == "basic_variant");
  AskTell loop(*searcher, context,
               [](const Config& c) { return std::vector{c.at("x").as_double()}; });
  loop.run(100);
  std::map<std::string, int> cells;
  std::set<double> drawn;
  for (const Config& config : loop.configs) {
    ++cells[to_json(config.at("a")) + to_json(config.at("b/c"))];
    drawn.insert(config.at("x").as_double());
  }
  CHECK(loop.configs.size() == 12);
  CHECK(cells.size() == 6);
  for (const auto& [cell, count] : cells)
    CHECK_MESSAGE(count == 2, cell);
  CHECK(drawn.size() == 12);
}

TEST_CASE("a finite space with fewer configurations than samples is tried completely, each once") {
  SearchContext context = context_of(1);
  context.space = {{"x", quniform(0, 1, 0.25)}, {"k", choice({"a", "b", "c"})}};
  context.num_samples = 50;
  const auto searcher = auto_searcher();
  REQUIRE(searcher->setup(context));
  AskTell loop(*searcher, context,
               [](const Config& c) { return std::vector{c.at("x").as_double()}; });
  loop.run(50);
  std::set<std::string> distinct;
  for (const Config& config : loop.configs)
    distinct.insert(to_json(config));
  CHECK(loop.configs.size() == 15);
  CHECK(distinct.size() == 15);
}

TEST_CASE("where nothing can be learned there are as many trials as were asked for") {
  SearchContext constant = context_of(1);
  constant.space = {{"x", 3}};
  SearchContext aimless = context_of(0);
  aimless.space = {{"k", choice({"a", "b"})}};
  for (SearchContext& context : std::vector{constant, aimless}) {
    context.num_samples = 7;
    const auto searcher = auto_searcher();
    REQUIRE(searcher->setup(context));
    for (std::uint32_t i = 0; i < 7; ++i) {
      const Suggestion next = searcher->suggest(TrialId(i)).value_or_throw();
      REQUIRE(next.kind == Suggestion::Kind::config);
      searcher->record(TrialId(i), next.config, next.note);
    }
    CHECK(searcher->suggest(TrialId(7)).value_or_throw().kind == Suggestion::Kind::exhausted);
  }
}

TEST_CASE("points to evaluate come first and once, whoever is asked afterwards") {
  SearchContext context = context_of(1);
  context.points_to_evaluate = {{{"x", 0.125}, {"k", "b"}}, {{"x", 0.25}, {"k", "a"}}};
  const auto searcher = auto_searcher();
  REQUIRE(searcher->setup(context));
  AskTell loop(*searcher, context,
               [](const Config& c) { return std::vector{c.at("x").as_double()}; });
  for (int i = 0; i < 70; ++i)
    REQUIRE(loop.ask());
  CHECK(loop.configs[0] == context.points_to_evaluate[0]);
  CHECK(loop.configs[1] == context.points_to_evaluate[1]);
  for (std::size_t i = 2; i < loop.configs.size(); ++i)
    CHECK(loop.configs[i].at("x").as_double() != 0.125);
}

TEST_CASE("a saved search goes on alike, and a damaged state changes nothing") {
  const SearchContext context = context_of(1);
  const auto searcher = auto_searcher();
  REQUIRE(searcher->setup(context));
  AskTell loop(*searcher, context,
               [](const Config& c) { return std::vector{c.at("x").as_double()}; });
  loop.run(15);
  REQUIRE(loop.ask());
  const auto copy = auto_searcher();
  REQUIRE(copy->setup(context));
  const Value fresh = copy->save();
  CHECK(copy->restore(Map{{"created", 3}}).error().code() == ErrorCode::corrupt);
  CHECK(copy->save() == fresh);
  REQUIRE(copy->restore(searcher->save()));
  CHECK(copy->save() == searcher->save());
  CHECK(copy->suggest(TrialId(16)).value_or_throw().config ==
        searcher->suggest(TrialId(16)).value_or_throw().config);
}

}  // namespace
}  // namespace troupe::tune
