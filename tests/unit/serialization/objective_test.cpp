#include <troupe/serialization/objective.hpp>
#include <troupe/serialization/value.hpp>

#include <limits>

#include <doctest/doctest.h>

namespace troupe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_CASE("a violation is the sum of what constraints exceed 0 by") {
  const Metrics metrics{{"a", -3}, {"b", 0.5}, {"c", 2}, {"d", 0}};
  CHECK(constraint_violation(metrics, {}) == 0);
  CHECK(constraint_violation(metrics, {"a", "d"}) == 0);
  CHECK(constraint_violation(metrics, {"a", "b", "c"}) == 2.5);
}

TEST_CASE("a constraint that is missing, no number, or NaN is broken as far as can be") {
  const Metrics metrics{{"nan", std::numeric_limits<double>::quiet_NaN()},
                        {"null", nullptr},
                        {"text", "low"},
                        {"minus", -infinity}};
  for (const char* name : {"nan", "null", "text", "missing"})
    CHECK(constraint_violation(metrics, {name, "minus"}) == infinity);
  CHECK(constraint_violation(metrics, {"minus"}) == 0);
}

TEST_CASE("NaN is worse than everything, and no better than itself") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(better_score(-infinity, nan));
  CHECK_FALSE(better_score(nan, -infinity));
  CHECK_FALSE(better_score(nan, nan));
  CHECK(score_of(2, Mode::min) == -2);
}

}  // namespace
}  // namespace troupe
