#include <troupe/tune/search/brute_force.hpp>
#include <troupe/tune/search/random_search.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "ask_tell.hpp"

namespace troupe::tune {
namespace {

std::vector<Config> asked(const SearchContext& context, std::size_t most = 10'000,
                          BruteForceOptions options = {}) {
  const auto searcher = brute_force(options);
  searcher->setup(context).value_or_throw();
  AskTell search(*searcher, context, {});
  while (search.configs.size() < most && search.ask()) {
  }
  return search.configs;
}

const ParamSpace small{{"a", randint(0, 5)}, {"b", choice({"x", "y"})}, {"c", quniform(0, 1, 0.5)}};

TEST_CASE("every configuration of a finite space comes once, then it is exhausted") {
  const auto configs = asked({.space = small, .seed = 3});
  CHECK(configs.size() == 30);
  CHECK(std::set<Config>(configs.begin(), configs.end()).size() == 30);
}

TEST_CASE("the order is drawn from the seed, or that of the values") {
  CHECK(asked({.space = small, .seed = 3}) == asked({.space = small, .seed = 3}));
  CHECK(asked({.space = small, .seed = 3}) != asked({.space = small, .seed = 4}));
  const BruteForceOptions sorted{.order = BruteForceOptions::Order::lexicographic};
  const auto configs = asked({.space = small, .seed = 3}, 10'000, sorted);
  CHECK(configs.size() == 30);
  CHECK(configs[0] == Config{{"a", 0}, {"b", "x"}, {"c", 0.0}});
  CHECK(configs[1] == Config{{"a", 1}, {"b", "x"}, {"c", 0.0}});
  CHECK(configs[29] == Config{{"a", 4}, {"b", "y"}, {"c", 1.0}});
}

TEST_CASE("the first configurations are a random sample of the space") {
  // Which value comes first is as likely for each: chi squared at 4 degrees of freedom, p = 0.001.
  std::map<std::int64_t, int> first;
  for (std::uint64_t seed = 0; seed < 1000; ++seed)
    ++first[asked({.space = small, .seed = seed}, 1).at(0).at("a").as_int()];
  double chi2 = 0;
  for (std::int64_t a = 0; a < 5; ++a)
    chi2 += (first[a] - 200.0) * (first[a] - 200.0) / 200.0;
  CHECK(chi2 < 18.5);
}

TEST_CASE("what conditions and rules exclude is passed over") {
  SearchContext c{.space = {{"kind", choice({"none", "some"})},
                            {"depth", when("kind", {"some"}, randint(0, 4))},
                            {"low", randint(0, 4)},
                            {"high", randint(0, 4)}}};
  c.space.require(less("low", "high"));
  const auto configs = asked(c);
  CHECK(configs.size() == 5 * 6);
  CHECK(std::set<Config>(configs.begin(), configs.end()).size() == configs.size());
}

TEST_CASE("the few configurations that rules leave are all found, and then it is exhausted") {
  SearchContext c{.seed = 5};
  for (const char* name : {"a", "b", "c", "d"})
    c.space.add(name, randint(0, 24));
  c.space.require(sum_at_most({"a", "b", "c", "d"}, 3));
  const auto configs = asked(c);
  CHECK(configs.size() == 35);
  CHECK(std::set<Config>(configs.begin(), configs.end()).size() == 35);
  const BruteForceOptions sorted{.order = BruteForceOptions::Order::lexicographic};
  CHECK(asked(c, 10'000, sorted).size() == 35);
  // The same configurations are known before: nothing is left.
  for (const Config& config : configs)
    c.known_results.push_back({.config = config});
  CHECK(asked(c).empty());
}

TEST_CASE("rules that nothing satisfies are an error, not an end") {
  SearchContext c{.space = {{"a", randint(0, 4)}, {"b", randint(0, 4)}}};
  c.space.require(less("b", "a")).require(less("a", "b"));
  for (const auto& searcher : {brute_force(), random_search()}) {
    searcher->setup(c).value_or_throw();
    const auto suggestion = searcher->suggest(TrialId(0));
    REQUIRE(!suggestion.has_value());
    CHECK(suggestion.error().message().find("keeps all of its rules") != std::string::npos);
  }
}

TEST_CASE("repeats go on among those that were tried, however few these are") {
  SearchContext c{.seed = 5, .allow_repeats = true};
  for (const char* name : {"a", "b", "c"})
    c.space.add(name, randint(0, 64));
  c.space.require(sum_at_most({"a", "b", "c"}, 1));
  const auto configs = asked(c, 12);
  CHECK(configs.size() == 12);
  CHECK(std::set<Config>(configs.begin(), configs.end()).size() == 4);
}

TEST_CASE("a space too large to be stored is no obstacle") {
  ParamSpace space;
  for (int i = 0; i < 6; ++i)
    space.add("n" + std::to_string(i), randint(0, 1000));
  const auto configs = asked({.space = space}, 200);
  CHECK(configs.size() == 200);
  CHECK(std::set<Config>(configs.begin(), configs.end()).size() == 200);
}

TEST_CASE("a space that is not finite is refused by the name of the parameter") {
  const Status status = brute_force()->setup({.space = {{"x", uniform(0, 1)}}});
  REQUIRE(!status.has_value());
  CHECK(status.error().message().find("'x' = uniform(0, 1)") != std::string::npos);
}

TEST_CASE("brute force goes on where it was") {
  const SearchContext c{.space = small, .seed = 9};
  const auto whole = asked(c);
  for (std::uint32_t stop = 0; stop < 30; stop += 7) {
    const auto first = brute_force();
    first->setup(c).value_or_throw();
    AskTell search(*first, c, {});
    for (std::uint32_t i = 0; i < stop; ++i)
      REQUIRE(search.ask());
    const auto second = brute_force();
    second->setup(c).value_or_throw();
    second->restore(first->save()).value_or_throw();
    CHECK(second->suggest(TrialId(stop)).value_or_throw().config == whole[stop]);
  }
}

}  // namespace
}  // namespace troupe::tune
