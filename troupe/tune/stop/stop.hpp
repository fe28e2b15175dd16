#pragma once

#include <troupe/base/clock.hpp>
#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// When a trial has done enough: explicit comparisons, as data.
///
///     .stop = tune::metric("loss") <= 0.1
///     .stop = {tune::metric("accuracy") >= 0.99, tune::max_iterations(50), tune::max_time(10min)}
namespace troupe::tune {

enum class Comparison : std::uint8_t { less, less_equal, greater, greater_equal };

constexpr Comparison enum_last(Comparison) noexcept {
  return Comparison::greater_equal;
}

/// "<", "<=", ">", ">=".
std::string_view to_string(Comparison comparison) noexcept;

/// One comparison of a metric with a number. NaN satisfies none.
struct StopCriterion {
  std::string metric{};  ///< a path: "env/reward"
  Comparison comparison = Comparison::greater_equal;
  double threshold = 0;

  [[nodiscard]] bool satisfied_by(double value) const noexcept;
  /// "loss <= 0.1".
  [[nodiscard]] std::string to_string() const;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& metric& comparison& threshold;
  }
  friend bool operator==(const StopCriterion&, const StopCriterion&) = default;
};

/// The name of a metric, to compare with a number.
struct MetricName {
  std::string path{};
};

/// Begins a comparison: `tune::metric("loss") <= 0.1`.
inline MetricName metric(std::string path) {
  return {std::move(path)};
}

inline StopCriterion operator<(MetricName name, double threshold) {
  return {std::move(name.path), Comparison::less, threshold};
}
inline StopCriterion operator<=(MetricName name, double threshold) {
  return {std::move(name.path), Comparison::less_equal, threshold};
}
inline StopCriterion operator>(MetricName name, double threshold) {
  return {std::move(name.path), Comparison::greater, threshold};
}
inline StopCriterion operator>=(MetricName name, double threshold) {
  return {std::move(name.path), Comparison::greater_equal, threshold};
}

/// Stops a trial after `count` results.
StopCriterion max_iterations(std::uint64_t count);
/// Stops a trial after so much time of training, earlier attempts included. A step that runs is not
/// interrupted.
StopCriterion max_time(Duration time);

/// Any of the criteria ends a trial. Empty: a trial ends by itself.
struct StopCriteria {
  std::vector<StopCriterion> any_of{};

  StopCriteria() = default;
  StopCriteria(StopCriterion criterion) { any_of.push_back(std::move(criterion)); }
  StopCriteria(std::initializer_list<StopCriterion> criteria) : any_of(criteria) {}

  [[nodiscard]] bool empty() const { return any_of.empty(); }

  /// Ok, or invalid_argument naming the criterion that can never be right.
  [[nodiscard]] Status check() const;

  /// The first criterion that the result satisfies. A result that lacks a metric of any criterion
  /// is an error that names close matches: a misspelt criterion must not go unnoticed.
  [[nodiscard]] Result<std::optional<StopCriterion>> match(const Metrics& metrics) const;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& any_of;
  }
  friend bool operator==(const StopCriteria&, const StopCriteria&) = default;
};

}  // namespace troupe::tune
