#pragma once

#include <troupe/base/random.hpp>
#include <troupe/tune/search/detail/acquisition.hpp>
#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/detail/features.hpp>
#include <troupe/tune/search/detail/sobol.hpp>

#include <cstddef>
#include <vector>

#include <Eigen/Core>

/// Finding the point that is worth most.
namespace troupe::tune::detail {

struct AcquisitionSearch {
  std::size_t spread = 512;     ///< points all over the space
  std::size_t near_best = 192;  ///< points around the best known ones
  std::size_t starts = 6;       ///< local searches
  int max_evaluations = 60;     ///< of each local search, along continuous axes
};

struct RankedPoint {
  Point point{};
  double value = 0;
};

/// Canonical, allowed points with what they are worth, best first: the ends of the local searches
/// and the best of the points that these began from. `best` are the best known points, in order.
/// Local searches try all categories of all parameters; of more than 1,024, which would take
/// seconds, so many at equal distances, other ones with each suggestion.
[[nodiscard]] std::vector<RankedPoint> search_acquisition(
    const Design& design, const Features& features, const Acquisition& acquisition,
    const Eigen::VectorXd& inverse_lengths, const std::vector<Point>& best, const Sobol& sobol,
    Random random, const AcquisitionSearch& options);

}  // namespace troupe::tune::detail
