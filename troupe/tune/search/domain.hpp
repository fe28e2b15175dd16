#pragma once

#include <troupe/base/random.hpp>
#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

/// Where the value of one hyperparameter comes from.
namespace troupe::tune {

/// Real numbers in [low, high), each as likely; `low` always when both are equal. With a step: low,
/// low + step, low + 2 step, ... up to `high`, which is included, to the last bit, when it lies on
/// that grid.
struct Uniform {
  double low = 0;
  double high = 1;
  double step = 0;  ///< 0: none
  friend bool operator==(const Uniform&, const Uniform&) = default;
};

/// Real numbers in [low, high) whose logarithm is uniform; low > 0. `low` when both are equal.
struct LogUniform {
  double low = 0;
  double high = 1;
  friend bool operator==(const LogUniform&, const LogUniform&) = default;
};

/// Whole numbers from `low` to `high`, both included.
struct RandInt {
  std::int64_t low = 0;
  std::int64_t high = 1;
  std::int64_t step = 1;  ///< low, low + step, ...
  /// The logarithm is uniform: a number n owns [n - 1/2, n + 1/2] of the line. Then low >= 1,
  /// step 1.
  bool log = false;
  friend bool operator==(const RandInt&, const RandInt&) = default;
};

/// One of the values, each as likely. Values keep their type: 1, 1.0, true and "1" are four of
/// them. None comes twice.
struct Choice {
  List values;
  friend bool operator==(const Choice&, const Choice&) = default;
};

/// Every value, systematically: multiplies the number of trials. None comes twice.
struct Grid {
  List values;
  friend bool operator==(const Grid&, const Grid&) = default;
};

/// One of the above. A plain value; made by the functions below, checked when the space is checked
/// (so that the error can name the parameter).
class Domain {
public:
  using Kind = std::variant<Uniform, LogUniform, RandInt, Choice, Grid>;

  template <class T>
  requires std::is_constructible_v<Kind, T> && std::is_same_v<T, std::remove_cvref_t<T>> Domain(
      T kind)
      : kind_(std::move(kind)) {}

  [[nodiscard]] const Kind& kind() const { return kind_; }
  [[nodiscard]] bool is_grid() const { return std::holds_alternative<Grid>(kind_); }

  /// Ok, or invalid_argument saying what is wrong with the range and what a right one looks like.
  [[nodiscard]] Status check() const;

  /// Draws a value. A grid has nothing to draw: failed_precondition is thrown. `check()` is ok.
  [[nodiscard]] Value sample(Random& random) const;

  /// Could `value` have been drawn? Types count: 1.0 is not in randint(0, 5). Numbers on a grid
  /// must be on it to the last bit.
  [[nodiscard]] bool contains(const Value& value) const;

  /// The value of this domain that `given`, by a person or in a file, means: itself; a whole number
  /// as a real one where those are wanted; the value of a grid that it is within a billionth of a
  /// step of; for the upper end of [low, high), the last number before it. invalid_argument saying
  /// why there is none.
  [[nodiscard]] Result<Value> adopt(const Value& given) const;

  /// The number of the last of its values, counted from 0; nothing: a continuum.
  [[nodiscard]] std::optional<std::uint64_t> last_index() const;
  /// Value number `index` <= last_index(): numbers in ascending order, others as they were given.
  [[nodiscard]] Value at(std::uint64_t index) const;

  /// "uniform(-10, 10)", "choice(["relu", "tanh"])".
  [[nodiscard]] std::string to_string() const;

  /// As data, and back: corrupt when the data is not a domain.
  [[nodiscard]] Value to_value() const;
  static Result<Domain> from_value(const Value& value);

  friend bool operator==(const Domain&, const Domain&) = default;

private:
  Kind kind_;
};

/// Real numbers in [low, high); low == high: always that number.
inline Domain uniform(double low, double high) {
  return Uniform{low, high};
}
/// Real numbers in [low, high), uniform in their logarithm: for learning rates and the like.
inline Domain loguniform(double low, double high) {
  return LogUniform{low, high};
}
/// Real numbers low, low + q, low + 2 q, ... up to `high`, included when it lies on that grid.
Domain quniform(double low, double high, double q);
/// Whole numbers from `low` to `high - 1`.
Domain randint(std::int64_t low, std::int64_t high);
/// Whole numbers low, low + q, ... up to `high`, which is included when it lies on that grid.
inline Domain qrandint(std::int64_t low, std::int64_t high, std::int64_t q) {
  return RandInt{low, high, q};
}
/// Whole numbers from `low` >= 1 to `high - 1`, uniform in their logarithm: for sizes and counts.
Domain lograndint(std::int64_t low, std::int64_t high);
/// One of the values.
inline Domain choice(List values) {
  return Choice{std::move(values)};
}
/// Each of the values in turn, in combination with the other grids.
inline Domain grid_search(List values) {
  return Grid{std::move(values)};
}

}  // namespace troupe::tune
