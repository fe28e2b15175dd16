#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/design.hpp>

#include <cmath>
#include <set>
#include <string>

#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

ParamSpace conditional() {
  return {{"booster", choice({"tree", "linear", "dart"})},
          {"depth", when("booster", {"tree", "dart"}, randint(1, 13))},
          {"dart", when("booster", {"dart"}, {{"rate", uniform(0, 1)}, {"skip", 0.5}})},
          {"fixed", 7},
          {"one", choice({"only"})}};
}

TEST_CASE("values of discrete axes go to a coordinate and back, each inside of its own cell") {
  for (const Domain& domain :
       {randint(0, 7), randint(-5, 5), qrandint(3, 30, 9), lograndint(1, 40),
        quniform(-0.3, 0.5, 0.1), choice({"a", 1, 1.0}), quniform(0.8, 1.0, 0.1)}) {
    const Axis axis("x", domain);
    REQUIRE(axis.count() == *domain.last_index() + 1);
    double end = 0;
    for (std::uint64_t i = 0; i < axis.count(); ++i) {
      const Value value = domain.at(i);
      const double coordinate = axis.encode(value).value();
      CHECK(coordinate == axis.coordinate(i));
      CHECK(axis.index(coordinate) == i);
      CHECK(axis.decode(coordinate) == value);
      CHECK(axis.snap(coordinate) == coordinate);
      if (axis.categorical())
        continue;
      const auto [low, high] = axis.cell(coordinate);
      CHECK(low == doctest::Approx(end));
      CHECK(low < coordinate);
      CHECK(coordinate < high);
      end = high;
    }
    if (!axis.categorical())
      CHECK(end == doctest::Approx(1));
  }
}

TEST_CASE("values of continuous axes survive the way to the unit interval and back") {
  Random random(1, 0, RandomPurpose::test);
  for (const Domain& domain : {uniform(-3, 9), loguniform(1e-8, 10)}) {
    const Axis axis("x", domain);
    CHECK(axis.continuous());
    for (int i = 0; i < 1000; ++i) {
      const double value = domain.sample(random).as_double();
      const double back = axis.decode(axis.encode(Value(value)).value()).as_double();
      CHECK(back == doctest::Approx(value).epsilon(1e-12));
    }
    CHECK(!axis.encode(Value(100.0)).has_value());
    CHECK(!axis.encode(Value("text")).has_value());
  }
}

TEST_CASE("numbers out of [0, 1) reach every category and every integer alike") {
  const Axis axis("x", choice({1, 2, 3, 4, 5}));
  std::multiset<double> seen;
  for (int i = 0; i < 1000; ++i)
    seen.insert(axis.from_uniform(i / 1000.0));
  for (int category = 0; category < 5; ++category)
    CHECK(seen.count(category) == 200);
}

TEST_CASE("parameters with one value are no axes, but part of the configuration") {
  const Design design(conditional());
  CHECK(design.size() == 3);
  CHECK(design.conditional());
  const Config config = design.decode(design.canonical({1, 0.5, 0.5}));
  CHECK(to_json(config) == R"({"booster":"linear","fixed":7,"one":"only"})");
}

TEST_CASE("a parameter exists exactly where its conditions hold") {
  const Design design(conditional());
  Random random(2, 0, RandomPurpose::test);
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Config config = design.sample(1, i, 0);
    const std::string booster = config.at("booster").as_string();
    CHECK(config.contains("depth") == (booster != "linear"));
    CHECK(config.contains("dart/rate") == (booster == "dart"));
    CHECK(config.contains("dart/skip") == (booster == "dart"));
    const Point point = design.encode(config).value();
    CHECK(design.decode(point) == config);
    CHECK(fingerprint(design.decode(point)) == fingerprint(config));
    Point other = point;
    for (double& coordinate : other)
      if (!exists(coordinate))
        coordinate = 0.25;
    CHECK(design.decode(design.canonical(other)) == config);
  }
}

TEST_CASE("a condition on a constant is decided once and for all") {
  const Design design(ParamSpace{{"mode", "fast"},
                                 {"a", when("mode", {"fast"}, uniform(0, 1))},
                                 {"n", choice({1})},
                                 {"b", when("n", {1}, uniform(0, 1))}});
  CHECK(design.size() == 2);
  CHECK(!design.conditional());
}

TEST_CASE("a condition that every value keeps is none, unless its parameter may be missing") {
  const ParamSpace space{{"kind", choice({"a", "b"})},
                         {"part", when("kind", {"b"}, choice({1, 2}))},
                         {"x", when("kind", {"a", "b"}, uniform(0, 1))},
                         {"y", when("part", {1, 2}, uniform(0, 1))}};
  const Design design(space);
  CHECK(design.check_conditions({{"x", 0.5}}).has_value());
  CHECK(design.complete_point({{"x", 0.5}}, 1, 0).value_or_throw().at("x") == Value(0.5));
  CHECK(!design.check_conditions({{"y", 0.5}}).has_value());
  CHECK(!design.check_conditions({{"kind", "a"}, {"y", 0.5}}).has_value());
  for (std::uint64_t i = 0; i < 50; ++i) {
    const Config config = design.sample(1, i, 0);
    CHECK(config.contains("x"));
    CHECK(config.contains("y") == (config.at("kind") == Value("b")));
  }
}

TEST_CASE("configurations that lack a value or have a wrong one are not encoded") {
  const Design design(conditional());
  CHECK(!design.encode({{"booster", "tree"}}).has_value());
  CHECK(!design.encode({{"booster", "tree"}, {"depth", 99}}).has_value());
  CHECK(!design.encode({{"booster", "forest"}, {"depth", 3}}).has_value());
  CHECK(design.encode({{"booster", "linear"}, {"more", 3}}).has_value());
}

TEST_CASE("the draw of one parameter does not depend on the others") {
  const Config small = Design(ParamSpace{{"x", uniform(0, 1)}}).sample(3, 4, 5);
  const Config large =
      Design(ParamSpace{{"w", uniform(0, 1)}, {"x", uniform(0, 1)}}).sample(3, 4, 5);
  CHECK(small.at("x") == large.at("x"));
  CHECK(large.at("w") != large.at("x"));
}

TEST_CASE("every cell of a finite space is a point of it") {
  const Design design(ParamSpace{{"a", choice({1, 2})}, {"b", randint(0, 3)}});
  REQUIRE(design.cells() == 6);
  std::set<Config> all;
  for (std::uint64_t i = 0; i < 6; ++i)
    all.insert(design.decode(design.cell(i)));
  CHECK(all.size() == 6);
  CHECK(!Design(ParamSpace{{"x", uniform(0, 1)}}).cells().has_value());
}

TEST_CASE("equal configurations alone share a fingerprint") {
  CHECK(fingerprint({{"a", 1}}) != fingerprint({{"a", 1.0}}));
  CHECK(fingerprint({{"a", 1}}) != fingerprint({{"a", true}}));
  CHECK(fingerprint({{"a", "1"}}) != fingerprint({{"a", 1}}));
  CHECK(fingerprint({{"ab", "c"}}) != fingerprint({{"a", "bc"}}));
  CHECK(fingerprint({{"a", List{1, 2}}}) != fingerprint({{"a", List{2, 1}}}));
  CHECK(fingerprint({{"a", std::nan("")}}) == fingerprint({{"a", -std::nan("1")}}));
  CHECK(fingerprint({{"x", 1}, {"y", 2}}) == fingerprint({{"y", 2}, {"x", 1}}));
}

}  // namespace
}  // namespace troupe::tune::detail
