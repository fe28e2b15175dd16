#include <troupe/tune/search/basic_variant.hpp>
#include <troupe/tune/search/quasi_random.hpp>
#include <troupe/tune/search/random_search.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "ask_tell.hpp"

namespace troupe::tune {
namespace {

SearchContext context(ParamSpace space, std::uint64_t seed = 1) {
  return {.space = std::move(space), .seed = seed};
}

std::vector<Config> asked(const SearchContext& context, std::size_t count,
                          QuasiRandomOptions options = {}) {
  const auto searcher = quasi_random(options);
  searcher->setup(context).value_or_throw();
  AskTell search(*searcher, context, {});
  while (search.configs.size() < count && search.ask()) {
  }
  return search.configs;
}

TEST_CASE("a power of two of Sobol points spreads over each parameter evenly") {
  const auto configs = asked(context({{"x", uniform(0, 64)},
                                      {"lr", loguniform(1, 16)},
                                      {"n", randint(0, 8)},
                                      {"c", choice({"a", "b", "c", "d"})}}),
                             64);
  std::map<int, int> x;
  std::map<int, int> lr;
  std::map<std::int64_t, int> n;
  std::map<std::string, int> c;
  for (const Config& config : configs) {
    ++x[static_cast<int>(config.at("x").as_double())];
    ++lr[static_cast<int>(std::log2(config.at("lr").as_double()))];
    ++n[config.at("n").as_int()];
    ++c[config.at("c").as_string()];
  }
  CHECK(x.size() == 64);
  CHECK(lr == std::map<int, int>{{0, 16}, {1, 16}, {2, 16}, {3, 16}});
  for (const auto& [value, count] : n)
    CHECK(count == 8);
  CHECK(c == std::map<std::string, int>{{"a", 16}, {"b", 16}, {"c", 16}, {"d", 16}});
}

TEST_CASE("points depend on the seed, and not on results or on the number of workers") {
  const ParamSpace space{{"x", uniform(0, 1)}, {"y", uniform(0, 1)}};
  const auto together = asked(context(space, 3), 20);
  const auto searcher = quasi_random();
  SearchContext with_metric = context(space, 3);
  with_metric.objectives = {{"loss", Mode::min}};
  searcher->setup(with_metric).value_or_throw();
  AskTell one(*searcher, with_metric, [](const Config&) { return std::vector<double>{1}; });
  one.run(20);
  CHECK(one.configs == together);
  CHECK(asked(context(space, 4), 20) != together);
  CHECK(asked(context(space, 4), 20, {.scramble = false}) ==
        asked(context(space, 3), 20, {.scramble = false}));
}

TEST_CASE("the plain sequences are those of the textbook") {
  const ParamSpace space{{"x", uniform(0, 1)}, {"y", uniform(0, 1)}};
  const auto sobol = asked(context(space), 3, {.scramble = false});
  CHECK(sobol[1] == Config{{"x", 0.75}, {"y", 0.25}});
  using Sequence = QuasiRandomOptions::Sequence;
  const auto halton = asked(context(space), 3, {.sequence = Sequence::halton, .scramble = false});
  CHECK(halton[1].at("x").as_double() == doctest::Approx(0.25));
  CHECK(halton[1].at("y").as_double() == doctest::Approx(2 / 3.0));
}

TEST_CASE("a finite space is exhausted without repeats") {
  const auto configs = asked(context({{"a", randint(0, 7)}, {"b", choice({1, 2, 3})}}), 100);
  CHECK(configs.size() == 21);
  CHECK(std::set<Config>(configs.begin(), configs.end()).size() == 21);
}

TEST_CASE("rules are kept, and what they leave is filled evenly") {
  SearchContext c = context({{"x", uniform(0, 1)}, {"y", uniform(0, 1)}});
  c.space.require(less("x", "y"));
  int below = 0;
  const auto configs = asked(c, 256);
  for (const Config& config : configs) {
    REQUIRE(config.at("x").as_double() < config.at("y").as_double());
    below += config.at("y").as_double() < 0.5 ? 1 : 0;
  }
  CHECK(std::abs(below - 64) <= 6);
}

TEST_CASE("more parameters than Sobol has dimensions") {
  ParamSpace space;
  for (int i = 0; i < 3700; ++i)
    space.add("x" + std::to_string(i), uniform(0, 1));
  const auto configs = asked(context(space), 4);
  CHECK(configs.size() == 4);
  CHECK(configs[0] != configs[1]);
}

TEST_CASE("it goes on where it was, also after points to evaluate") {
  SearchContext c = context({{"x", uniform(0, 1)}});
  c.points_to_evaluate = {{{"x", 0.125}}, {{"x", 0.25}}};
  const auto whole = asked(c, 30);
  CHECK(whole[1] == Config{{"x", 0.25}});
  const auto first = quasi_random();
  first->setup(c).value_or_throw();
  AskTell search(*first, c, {});
  for (int i = 0; i < 13; ++i)
    REQUIRE(search.ask());
  const auto second = quasi_random();
  second->setup(c).value_or_throw();
  second->restore(first->save()).value_or_throw();
  for (std::uint32_t i = 13; i < 30; ++i) {
    const Suggestion next = second->suggest(TrialId(i)).value_or_throw();
    CHECK(next.config == whole[i]);
    second->record(TrialId(i), next.config, next.note);
  }
}

TEST_CASE("who draws is asked on the spot only where few parameters are drawn once") {
  ParamSpace large;
  for (int i = 0; i < 200; ++i)
    large.add("x" + std::to_string(i), uniform(0, 1));
  const ParamSpace space{{"x", uniform(0, 1)}, {"y", uniform(0, 1)}};
  for (const auto& searcher : {quasi_random(), random_search()}) {
    const auto instant = [&](const ParamSpace& where) {
      searcher->setup(context(where)).value_or_throw();
      return searcher->instant();
    };
    CHECK(instant(space));
    CHECK(!instant(ParamSpace(space).require(less("x", "y"))));
    CHECK(!instant({{"n", randint(0, 9)}}));
    CHECK(!instant(large));
  }
  BasicVariant grids;
  grids.setup(context(space)).value_or_throw();
  CHECK(grids.instant());
  grids.setup(context(large)).value_or_throw();
  CHECK(!grids.instant());
}

TEST_CASE("options survive as data, and bad ones are refused by name") {
  const QuasiRandomOptions options{.sequence = QuasiRandomOptions::Sequence::halton,
                                   .scramble = false};
  CHECK(quasi_random_options(quasi_random(options)->options()).value_or_throw() == options);
  const auto bad = quasi_random_options(Map{{"sequence", "faure"}});
  REQUIRE(!bad.has_value());
  CHECK(bad.error().message().find("faure") != std::string::npos);
}

}  // namespace
}  // namespace troupe::tune
