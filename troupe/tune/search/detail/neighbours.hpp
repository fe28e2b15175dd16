#pragma once

#include <troupe/tune/search/detail/history.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace troupe::tune::detail {

/// Tells which points lie closer to one that was tried than is worth a trial, in time that grows
/// with the logarithm of the number of trials. A cache that follows one history.
class Neighbours {
public:
  /// In each coordinate.
  static constexpr double least_distance = 1e-6;

  /// Takes note of what happened in the history since the last time.
  void follow(const History& history);
  /// Is any trial of the history, as it was then, too close?
  [[nodiscard]] bool crowded(const History& history, const Point& point) const;

private:
  /// The sum of the coordinates, and the number of the observation.
  using Entry = std::pair<double, std::size_t>;

  std::vector<Entry> sorted_;
  std::vector<Entry> running_;  ///< whose points may change
  std::size_t known_ = 0;
};

}  // namespace troupe::tune::detail
