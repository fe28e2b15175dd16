#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/space.hpp>

#include <cmath>
#include <limits>
#include <string>

#include <doctest/doctest.h>

namespace troupe::tune {
namespace {

ParamSpace example() {
  return {{"x", uniform(-10, 10)},
          {"lr", loguniform(1e-4, 1e-1)},
          {"layers", grid_search({1, 2, 3})},
          {"act", choice({"relu", "tanh"})},
          {"seed", 7},
          {"flag", true},
          {"data", {{"batch", randint(16, 129)}, {"path", "/data"}}},
          {"nested", ParamSpace{{"a", uniform(0, 1)}}}};
}

std::string error_of(const ParamSpace& space) {
  const Status status = space.check();
  return status ? "" : status.error().message();
}

TEST_CASE("a space is written as nested braces and sorted by name") {
  const ParamSpace space = example();
  REQUIRE(space.check().has_value());
  std::string paths;
  for (const auto& leaf : space.leaves())
    paths += leaf.path + ' ';
  CHECK(paths == "act data/batch data/path flag layers lr nested/a seed x ");
  CHECK(space.find("data/batch")->domain() != nullptr);
  CHECK(*space.find("data/path")->constant() == Value("/data"));
  CHECK(space.find("data/none") == nullptr);
  CHECK(space.find("seed/none") == nullptr);
}

TEST_CASE("a stored space reads back equal, also through JSON") {
  const ParamSpace space = example();
  const auto back = ParamSpace::from_value(space.to_value());
  REQUIRE(back.has_value());
  CHECK(*back == space);
  const auto text = parse_json(to_json(space.to_value()));
  REQUIRE(text.has_value());
  CHECK(ParamSpace::from_value(*text).value_or_throw() == space);
}

TEST_CASE("data that is no space is refused") {
  for (const Value& bad :
       {Value(3), Value(Map{{"x", 3}}), Value(Map{{"x", Map{{"uniform", List{1}}}}}),
        Value(Map{{"x", Map{{"normal", List{1, 2}}}}}),
        Value(Map{{"x", Map{{"randint", List{0.5, 2}}}}})}) {
    const auto space = ParamSpace::from_value(bad);
    REQUIRE(!space.has_value());
    CHECK(space.error().code() == ErrorCode::corrupt);
  }
}

TEST_CASE("the error of a bad domain names the path and the remedy") {
  CHECK(error_of({{"a", {{"b", uniform(2, 1)}}}}) ==
        "param_space, key 'a/b': uniform(2, 1): the lower bound must not be above the upper one");
  CHECK(error_of({{"lr", loguniform(0, 1)}}).find("key 'lr'") != std::string::npos);
  CHECK(error_of({{"lr", loguniform(0, 1)}}).find("above 0") != std::string::npos);
  CHECK(error_of({{"n", randint(3, 3)}}).find("plus 1") != std::string::npos);
  CHECK(error_of({{"c", choice({})}}).find("at least one") != std::string::npos);
  CHECK(error_of({{"g", grid_search({1, 1})}}).find("comes twice") != std::string::npos);
  CHECK(error_of({{"u", uniform(0, std::numeric_limits<double>::infinity())}}).find("finite") !=
        std::string::npos);
  CHECK(error_of({{"u", uniform(-1.7e308, 1.7e308)}}).find("too wide") != std::string::npos);
}

TEST_CASE("names that would be ambiguous are refused") {
  CHECK(error_of({{"a/b", 1}}).find("'/'") != std::string::npos);
  CHECK(error_of({{"", 1}}).find("empty") != std::string::npos);
  CHECK(error_of({{"a", 1}, {"a", 2}}).find("twice") != std::string::npos);
}

TEST_CASE("1 and 1.0 and true and \"1\" are four points of a grid") {
  CHECK(error_of({{"g", grid_search({1, 1.0, true, "1"})}}) == "");
}

TEST_CASE("draws stay inside half-open ranges, even the narrowest") {
  Random random(1, 2, RandomPurpose::test);
  const double next = std::nextafter(1.0, 2.0);
  for (int i = 0; i < 1000; ++i) {
    CHECK(uniform(1.0, next).sample(random) == Value(1.0));
    CHECK(loguniform(1.0, next).sample(random) == Value(1.0));
    CHECK(randint(4, 5).sample(random) == Value(4));
    CHECK(uniform(-3, 5).contains(uniform(-3, 5).sample(random)));
    CHECK(loguniform(1e-9, 1e9).contains(loguniform(1e-9, 1e9).sample(random)));
  }
}

TEST_CASE("loguniform is uniform in the logarithm") {
  Random random(1, 2, RandomPurpose::test);
  int below = 0;
  const int draws = 20'000;
  for (int i = 0; i < draws; ++i)
    below += loguniform(1e-4, 1).sample(random).as_double() < 1e-2;
  CHECK(std::abs(static_cast<double>(below) / draws - 0.5) < 0.02);
}

TEST_CASE("types count for membership") {
  CHECK(randint(0, 5).contains(Value(4)));
  CHECK(!randint(0, 5).contains(Value(5)));
  CHECK(!randint(0, 5).contains(Value(4.0)));
  CHECK(!uniform(0, 5).contains(Value(4)));
  CHECK(!choice({1, 2}).contains(Value(1.0)));
}

TEST_CASE("a grid can not be drawn") {
  Random random(1, 2, RandomPurpose::test);
  CHECK_THROWS_AS((void)grid_search({1}).sample(random), Exception);
}

}  // namespace
}  // namespace troupe::tune
