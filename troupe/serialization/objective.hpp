#pragma once

#include <troupe/base/result.hpp>
#include <troupe/serialization/map.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What "better" means: a number out of the metrics, and the direction it should go.
namespace troupe {

/// Is less or more of a metric better?
enum class Mode : std::uint8_t { min, max };

constexpr Mode enum_last(Mode) noexcept {
  return Mode::max;
}

/// "min" or "max".
constexpr std::string_view to_string(Mode mode) noexcept {
  return mode == Mode::min ? "min" : "max";
}

/// How a trial ended, as far as searchers and schedulers care.
enum class Ending : std::uint8_t {
  finished,  ///< ran to its own end: done, or a stop criterion
  stopped,   ///< ended early by somebody else: the scheduler, the time budget
  failed,    ///< ended in an error
};

constexpr Ending enum_last(Ending) noexcept {
  return Ending::failed;
}

/// A metric as a number. `path` may be nested ("env/reward"). Booleans count as 0 and 1, null as
/// NaN. Errors: not_found naming close matches, invalid_argument for text, lists and maps.
Result<double> metric_number(const Metrics& metrics, std::string_view path);

/// How far a result is from being feasible: the sum of what the metrics `constraints` are above 0;
/// infinite where one is missing, NaN or no number. 0: feasible.
double constraint_violation(const Metrics& metrics, const std::vector<std::string>& constraints);

/// The value turned so that more is better. NaN stays NaN.
constexpr double score_of(double value, Mode mode) noexcept {
  return mode == Mode::max ? value : -value;
}

/// Is score `a` strictly better than score `b`? NaN is worse than everything, -inf included; two
/// NaN are equal. A strict weak order.
constexpr bool better_score(double a, double b) noexcept {
  const bool a_is_nan = a != a;
  const bool b_is_nan = b != b;
  if (a_is_nan || b_is_nan)
    return !a_is_nan && b_is_nan;
  return a > b;
}

}  // namespace troupe
