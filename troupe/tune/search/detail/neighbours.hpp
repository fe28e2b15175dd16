#pragma once

#include <troupe/tune/search/detail/history.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe::tune::detail {

/// Tells which points lie closer to one that was tried than is worth a trial, in time that hardly
/// grows with the number of trials, also where thousands have gathered around a minimum. A cache
/// that follows one history.
class Neighbours {
public:
  /// In each coordinate.
  static constexpr double least_distance = 1e-6;

  Neighbours() = default;
  /// `axes`: those on which points tell themselves apart best, the numeric ones; the first four
  /// are used.
  explicit Neighbours(std::vector<std::size_t> axes);

  /// Takes note of what happened in the history since the last time.
  void follow(const History& history);
  /// Is any trial of the history, as it was then, too close?
  [[nodiscard]] bool crowded(const History& history, const Point& point) const;

private:
  using Key = std::uint64_t;
  static constexpr std::size_t hashed_axes = 4;

  /// One of the points in a cell, with what tells at once that it is not close.
  struct Near {
    std::size_t number = 0;  ///< of the observation
    std::array<double, hashed_axes> at{};
  };

  [[nodiscard]] Key key(const Point& point) const;
  [[nodiscard]] Near near(const Point& point, std::size_t number) const;
  [[nodiscard]] bool crowded(const History& history, const Point& point, std::size_t axis,
                             Key so_far) const;

  std::vector<std::size_t> axes_;
  /// By the cell of a grid on these axes that they lie in.
  std::unordered_map<Key, std::vector<Near>> cells_;
  std::vector<std::pair<Key, std::size_t>> running_;  ///< whose points may change
  std::size_t known_ = 0;
};

}  // namespace troupe::tune::detail
