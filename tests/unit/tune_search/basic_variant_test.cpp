#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/basic_variant.hpp>

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::tune {
namespace {

BasicVariant make(const ParamSpace& space, std::optional<std::uint64_t> samples,
                  std::uint64_t seed = 1) {
  BasicVariant searcher;
  searcher.setup({.space = space, .seed = seed, .num_samples = samples}).value_or_throw();
  return searcher;
}

std::vector<Config> all_of(BasicVariant& searcher, std::size_t limit = 1000) {
  std::vector<Config> configs;
  for (TrialId id; configs.size() < limit; id = id.next()) {
    const Suggestion next = searcher.suggest(id).value_or_throw();
    if (next.kind != Suggestion::Kind::config)
      break;
    searcher.record(id, next.config, next.note);
    configs.push_back(next.config);
  }
  return configs;
}

TEST_CASE("the first grid key by path varies fastest") {
  auto searcher = make({{"b", grid_search({"x", "y"})}, {"a", {{"z", grid_search({1, 2, 3})}}}}, 1);
  std::string cells;
  for (const Config& config : all_of(searcher))
    cells += to_json(config.at("a/z")) + config.at("b").as_string() + ' ';
  CHECK(cells == "1x 2x 3x 1y 2y 3y ");
}

TEST_CASE("there are num_samples times the product of the grids") {
  auto searcher = make({{"a", grid_search({1, 2})}, {"b", grid_search({1, 2, 3})}}, 4);
  CHECK(searcher.cells() == 6);
  CHECK(all_of(searcher).size() == 24);
  auto endless = make({{"a", grid_search({1, 2})}}, std::nullopt);
  CHECK(all_of(endless, 500).size() == 500);
}

TEST_CASE("random keys are drawn anew for each cell") {
  auto searcher = make({{"a", grid_search({1, 2, 3})}, {"x", uniform(0, 1)}}, 10);
  std::set<Value> drawn;
  for (const Config& config : all_of(searcher))
    drawn.insert(config.at("x"));
  CHECK(drawn.size() == 30);
}

TEST_CASE("a configuration depends on space, seed and index alone") {
  const ParamSpace space{{"x", uniform(0, 1)}, {"n", randint(0, 1000)}};
  auto one = make(space, 5);
  const auto configs = all_of(one);
  CHECK(make(space, 5).variant(3).value_or_throw() == configs[3]);
  CHECK(make(space, 50).variant(3).value_or_throw() == configs[3]);
  CHECK(make(space, 5, 2).variant(3).value_or_throw() != configs[3]);
}

TEST_CASE("another parameter does not change what the others draw") {
  const auto small = make({{"x", uniform(0, 1)}}, 5).variant(4).value_or_throw();
  const auto large =
      make({{"w", uniform(0, 1)}, {"x", uniform(0, 1)}}, 5).variant(4).value_or_throw();
  CHECK(small.at("x") == large.at("x"));
  CHECK(large.at("w") != large.at("x"));
}

TEST_CASE("constants and nesting are kept") {
  const Config config =
      make({{"data", {{"path", "/d"}, {"deep", {{"n", 3}}}}}, {"x", choice({5})}}, 1)
          .variant(0)
          .value_or_throw();
  CHECK(to_json(config) == R"({"data":{"deep":{"n":3},"path":"/d"},"x":5})");
}

TEST_CASE("cells that differ only in what does not exist are one cell") {
  auto searcher = make({{"kind", grid_search({"a", "b"})},
                        {"depth", when("kind", {"a"}, grid_search({1, 2, 3}))},
                        {"x", when("kind", {"b"}, uniform(0, 1))}},
                       2);
  CHECK(searcher.cells() == 4);
  std::multiset<std::string> tried;
  for (const Config& config : all_of(searcher)) {
    const bool is_b = config.at("kind") == Value("b");
    CHECK((config.find("x") != nullptr) == is_b);
    CHECK((config.find("depth") == nullptr) == is_b);
    tried.insert(is_b ? "b" : to_json(config));
  }
  CHECK(tried.size() == 8);
  CHECK(tried.count("b") == 2);
}

TEST_CASE("cells that break a constraint are left out, and draws are repeated until it holds") {
  ParamSpace space{{"a", grid_search({1, 2, 3})},
                   {"b", grid_search({1, 2, 3})},
                   {"x", uniform(0, 1)},
                   {"y", uniform(0, 1)}};
  space.require(less("a", "b")).require(sum_at_most({"x", "y"}, 0.2));
  auto searcher = make(space, 50);
  CHECK(searcher.cells() == 3);
  const auto configs = all_of(searcher);
  CHECK(configs.size() == 150);
  for (const Config& config : configs)
    CHECK(space.allows(config));
}

TEST_CASE("constraints that no draw satisfies end the search with their name") {
  ParamSpace space{{"x", uniform(0, 1)}, {"y", uniform(0, 1)}};
  space.require(less("y", "x")).require(less("x", "y"));
  const auto suggestion = make(space, 1).suggest(TrialId(0));
  REQUIRE(!suggestion.has_value());
  const std::string message = suggestion.error().message();
  CHECK((message.find("y < x") != std::string::npos || message.find("x < y") != std::string::npos));
}

TEST_CASE("points to evaluate come first, are completed, and take a sample each") {
  BasicVariant searcher;
  searcher
      .setup({.space = {{"g", grid_search({1, 2})}, {"x", uniform(0, 1)}},
              .num_samples = 3,
              .points_to_evaluate = {{{"x", 0.5}, {"g", 2}}, {{"g", 2}}}})
      .value_or_throw();
  const auto configs = all_of(searcher);
  REQUIRE(configs.size() == 4);
  CHECK(configs[0] == Config{{"x", 0.5}, {"g", 2}});
  CHECK(configs[1].at("g") == Value(2));
  CHECK(configs[1].at("x").is_double());
  CHECK(configs[2].at("g") == Value(1));
  CHECK(configs[3].at("g") == Value(2));
}

TEST_CASE("a trial of another origin takes no variant away") {
  auto searcher = make({{"g", grid_search({1, 2})}}, 1);
  searcher.record(TrialId(0), Config{{"g", 99}}, Value());
  CHECK(all_of(searcher).size() == 2);
}

TEST_CASE("a grid beyond 2^64 cells is refused") {
  List many;
  for (int i = 0; i < 2000; ++i)
    many.push_back(i);
  ParamSpace space;
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    space.add(name, grid_search(many));
  BasicVariant searcher;
  const Status status = searcher.setup({.space = space, .num_samples = 1});
  REQUIRE(!status.has_value());
  CHECK(status.error().code() == ErrorCode::invalid_argument);
}

TEST_CASE("only Troupe's own searchers are made by name") {
  CHECK(make_searcher("basic_variant", Value()).has_value());
  const auto unknown = make_searcher("mine", Value());
  REQUIRE(!unknown.has_value());
  CHECK(unknown.error().message().find("'mine'") != std::string::npos);
  // Programs without dlib: how to get it.
  const auto lipo = make_searcher("lipo", Value());
  REQUIRE(!lipo.has_value());
  CHECK(lipo.error().message().find("install libdlib-dev") != std::string::npos);
}

}  // namespace
}  // namespace troupe::tune
