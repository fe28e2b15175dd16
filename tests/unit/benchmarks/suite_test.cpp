#include "benchmarks/suite.hpp"

#include <troupe/base/error.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/design.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "benchmarks/suite_instance.hpp"

namespace troupe::bench {
namespace {

/// What benchmarks/peers/golden.py wrote from the Python functions.
const Value& golden() {
  static const Value value = [] {
    std::ifstream file(TROUPE_TESTS_DIR "/golden/benchmarks/suite.json");
    std::ostringstream text;
    text << file.rdbuf();
    return parse_json(text.str()).value_or_throw();
  }();
  return value;
}

Vector numbers(const Value& list) {
  Vector result;
  for (const Value& value : list.as_list())
    result.push_back(value.as_double());
  return result;
}

/// Rounded as by another libm at most: rotations go through log and cos.
void check_rotation(const Matrix& ours, const Value& theirs) {
  REQUIRE(ours.size() == theirs.as_list().size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const Vector row = numbers(theirs.as_list()[i]);
    for (std::size_t k = 0; k < row.size(); ++k)
      CHECK(std::abs(ours[i].at(k) - row[k]) <= 1e-15);
  }
}

TEST_CASE("every function has the values of the Python definition at five points") {
  std::map<std::string, int> points;
  for (const Value& point : golden().as_map().at("points").as_list()) {
    const std::string& name = point.as_map().at("function").as_string();
    const double expected = point.as_map().at("value").as_double();
    const double value = test_function(name).value(point.as_map().at("config").as_map());
    CAPTURE(name);
    CHECK(std::abs(value - expected) <= 1e-12 * std::max(1.0, std::abs(expected)));
    ++points[name];
  }
  for (const TestFunction& function : suite())
    CHECK(points[function.name] == 5);
  CHECK(points.size() == 23);
}

TEST_CASE("made-up data are those of the Python definition") {
  for (const Value& value : golden().as_map().at("instances").as_list()) {
    const Map& theirs = value.as_map();
    const Instance ours = make_instance(static_cast<std::uint64_t>(theirs.at("seed").as_int()), 5);
    CHECK(ours.optimum == numbers(theirs.at("optimum")));  // to the last bit
    check_rotation(ours.rotation, theirs.at("rotation"));
    check_rotation(ours.second_rotation, theirs.at("second_rotation"));
  }
}

TEST_CASE("the known optimum of shifted and rotated functions lies where their data say") {
  for (const auto& [name, seed] : {std::pair("ellipsoid5r", 111), std::pair("rosenbrock5r", 112),
                                   std::pair("rastrigin5r", 113), std::pair("schaffers5r", 114)}) {
    const Instance data = make_instance(static_cast<std::uint64_t>(seed), 5);
    Config config;
    for (std::size_t i = 0; i < 5; ++i)
      config.set("x" + std::to_string(i), data.optimum[i]);
    CHECK(test_function(name).value(config) == 0.0);
  }
}

TEST_CASE("a function that is not there is refused with the names of those that are") {
  try {
    (void)test_function("branin3");
    FAIL("not refused");
  } catch (const Exception& error) {
    CHECK(error.error().code() == ErrorCode::not_found);
    CHECK(std::string(error.what()).find("branin2, camel2") != std::string::npos);
  }
}

TEST_CASE("spaces are valid and no random point is better than the optimum") {
  for (const TestFunction& function : suite()) {
    CAPTURE(function.name);
    REQUIRE(function.space.check().has_value());
    const tune::detail::Design design(function.space);
    for (std::uint32_t i = 0; i < 200; ++i) {
      const Config config = design.sample(1, i, 0);
      CHECK(function.value(config) >= function.optimum - 1e-9);
    }
  }
}

}  // namespace
}  // namespace troupe::bench
