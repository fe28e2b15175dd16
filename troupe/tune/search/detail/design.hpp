#pragma once

#include <troupe/base/random.hpp>
#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>
#include <troupe/tune/search/space.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// The search space as algorithms see it: numbered axes and points of numbers.
namespace troupe::tune::detail {

/// A configuration as numbers, one an axis: numeric axes in the unit interval (after the logarithm
/// where the domain is logarithmic), categories as their index 0, 1, 2, ... NaN: the parameter does
/// not exist, because its condition does not hold.
using Point = std::vector<double>;

/// A value that is there. NaN marks those that are not.
inline bool exists(double coordinate) noexcept {
  return coordinate == coordinate;
}

/// One parameter with more than one possible value.
///
/// Discrete numbers own a cell of the unit interval: its box reaches half a step beyond the first
/// and the last value (half a unit before the logarithm), so that all have their share.
class Axis {
public:
  Axis(std::string path, Domain domain);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const Domain& domain() const { return domain_; }
  [[nodiscard]] bool categorical() const { return categorical_; }
  /// Different values; 0: a continuum. A range of more than 2^53 integers counts as one.
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] bool continuous() const { return count_ == 0; }

  /// The coordinate of a value of the domain. Nothing when the domain does not contain it.
  [[nodiscard]] std::optional<double> encode(const Value& value) const;
  /// The value at a coordinate, rounded to the grid and clamped into the domain.
  [[nodiscard]] Value decode(double coordinate) const;
  /// The coordinate of the value at `coordinate`: itself (clamped) on a continuous axis, the middle
  /// of the value in linear grids.
  [[nodiscard]] double snap(double coordinate) const;
  /// The ends of the cell that belongs to the discrete number at `coordinate`.
  [[nodiscard]] std::pair<double, double> cell(double coordinate) const;
  /// The coordinate of discrete value number `index` < count(), in ascending order.
  [[nodiscard]] double coordinate(std::uint64_t index) const;
  /// The number of the discrete value at `coordinate`. Categories: the coordinate.
  [[nodiscard]] std::uint64_t index(double coordinate) const;
  /// A uniform number out of [0, 1) as a coordinate of this axis: each category as likely.
  [[nodiscard]] double from_uniform(double u) const;
  /// Drawn from the domain's own distribution, exact for integers of any range; a grid like a
  /// choice.
  [[nodiscard]] Value sample(Random& random) const {
    return domain_.is_grid() ? random.pick(values_) : domain_.sample(random);
  }

private:
  double grid_value(std::uint64_t index) const;
  double unit_of(std::uint64_t index) const;

  std::string path_;
  Domain domain_;
  List values_;  ///< categories
  bool categorical_ = false;
  bool log_ = false;
  std::uint64_t count_ = 0;
  double low_ = 0;  ///< of a logarithmic box, after the logarithm
  double width_ = 1;
};

/// The whole space. Parameters with a single value are not axes.
class Design {
public:
  Design() = default;
  /// The space is checked. A grid is an axis like a choice.
  explicit Design(const ParamSpace& space);

  [[nodiscard]] const ParamSpace& space() const { return space_; }
  [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
  [[nodiscard]] std::size_t size() const { return axes_.size(); }
  /// Does the existence of any parameter depend on another one?
  [[nodiscard]] bool conditional() const { return conditional_; }
  /// Are there constraints between parameters or forbidden combinations?
  [[nodiscard]] bool constrained() const { return space_.constrained(); }
  /// Are all axes discrete (nothing can be closer than a step)?
  [[nodiscard]] bool discrete() const;
  /// Points of the grid, counting those that conditions or constraints exclude; nothing when an
  /// axis is continuous or the product exceeds 2^63.
  [[nodiscard]] std::optional<std::uint64_t> cells() const { return cells_; }

  /// Nothing when a value that should be there is missing or lies outside of its domain. Entries
  /// that the space has not are ignored.
  [[nodiscard]] std::optional<Point> encode(const Config& config) const;
  /// Snapped, with NaN where conditions say that the parameter does not exist, and with the first
  /// value where one is missing (NaN) that must exist; an optional one stays away.
  [[nodiscard]] Point canonical(Point point) const;
  /// The configuration with constants, without parameters that do not exist.
  [[nodiscard]] Config decode(const Point& point) const;
  /// Do the constraints hold, and is it not a forbidden combination? `point` is canonical.
  [[nodiscard]] bool allowed(const Point& point) const;
  [[nodiscard]] bool allowed(const Config& config) const { return space_.allows(config); }
  /// A random configuration, each parameter from its own distribution; constraints are not looked
  /// at. Draws the same numbers for an axis whatever the others are.
  [[nodiscard]] Config sample(std::uint64_t seed, std::uint64_t stream,
                              std::uint32_t counter) const {
    return complete({}, seed, stream, counter);
  }
  /// The same with some parameters given: as `Domain::adopt` gives them, or else as they are.
  [[nodiscard]] Config complete(const Config& given, std::uint64_t seed, std::uint64_t stream,
                                std::uint32_t counter) const;
  /// The same for point number `index` to evaluate. What it leaves out is drawn until all rules
  /// hold that its own values do not break by themselves. invalid_argument when no draw was found.
  [[nodiscard]] Result<Config> complete_point(const Config& given, std::uint64_t seed,
                                              std::uint64_t index) const;
  /// A part of a configuration, each of whose parameters exists by what else is given. Otherwise
  /// invalid_argument naming the parameter that would not be tried, and its condition.
  [[nodiscard]] Status check_conditions(const Config& given) const;
  /// A whole configuration from elsewhere, with the values of `Domain::adopt`, the constants, and
  /// nothing that the space has not. invalid_argument naming what is missing or does not fit.
  [[nodiscard]] Result<Config> adopt(const Config& given) const;
  /// Does parameter number `axis` exist at a point? Only the axes before it count.
  [[nodiscard]] bool open(std::size_t axis, const Point& point) const {
    return open(gates_[axis], point);
  }
  /// Could `encode` have given it?
  [[nodiscard]] bool possible(const Point& point) const;
  /// Cell `index` < cells() of the grid; canonical, so several indices may give the same point.
  [[nodiscard]] Point cell(std::uint64_t index) const;

private:
  /// Lets a parameter exist where an axis before it has one of these coordinates.
  struct Gate {
    std::size_t axis = 0;
    std::vector<double> coordinates{};
  };
  /// A parameter with a single value.
  struct Fixed {
    std::string path{};
    Value value{};
    std::vector<Gate> gates{};
    std::optional<Domain> domain{};  ///< nothing: a constant
  };

  void place(const ParamSpace::Leaf& leaf);
  /// Is `given` there, and do the values in it open these gates of it?
  [[nodiscard]] Status check_gates(const std::string& path, const std::vector<Gate>& gates,
                                   const Config& given, const Point& point) const;
  /// The configuration in which each parameter that exists, parents first, has the value that
  /// `value_of(number of the axis)` gives: an optional<Value>; nothing: it stays away.
  template <class ValueOf>
  [[nodiscard]] Config filled(ValueOf value_of) const;
  static bool open(const std::vector<Gate>& gates, const Point& point);
  /// Adds the parameters with a single value that exist only at some points.
  void add_fixed(const Point& point, Config& config) const;

  ParamSpace space_;
  std::vector<Axis> axes_;
  std::vector<std::vector<Gate>> gates_;  ///< of each axis
  std::vector<bool> optional_;            ///< of each axis: may be missing where it could exist
  std::vector<Fixed> fixed_;
  Config constants_;  ///< what always exists
  bool conditional_ = false;
  std::optional<std::uint64_t> cells_ = 1;
};

/// A number that two configurations share exactly when they are equal, bar collisions of 2^-64.
[[nodiscard]] std::uint64_t fingerprint(const Config& config);

}  // namespace troupe::tune::detail
