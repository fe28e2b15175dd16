#pragma once

#include <troupe/tune/search/detail/features.hpp>
#include <troupe/tune/search/detail/history.hpp>
#include <troupe/tune/search/detail/rung_results.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <Eigen/Core>

/// What a Gaussian process is shown of a history.
namespace troupe::tune::detail {

/// Is it over without a number that a model could take? An infinite loss, too, says only that this
/// does not work: as a number, however large, it would bury the differences between all others.
[[nodiscard]] bool fails(const Observation& observation);

struct GpData {
  /// Observations with values, thinned out and not more than asked for.
  std::vector<const Observation*> seen{};
  std::vector<const Observation*> running{};  ///< the newest ones
  std::vector<const Observation*> failed{};   ///< the newest ones
  /// The feasible one with the least first loss, or null pointer.
  const Observation* best = nullptr;
  /// The first loss of trials after equally many iterations, where few are complete, since losses
  /// after different ones do not compare. Empty: the complete ones are what others compare with.
  std::unordered_map<std::uint32_t, double> reference{};

  /// Number `objective` of those seen. A trial that was pruned before it came to what others
  /// compare with has at least the median of that: it was worse than others when it was stopped,
  /// and would look better than it is.
  [[nodiscard]] Eigen::VectorXd losses(std::size_t objective) const;
  /// Number `constraint` of those seen, finite. One that is infinite, or was NaN, is broken as much
  /// as others usually are: it must not look as if it held, nor bend the model around it.
  [[nodiscard]] Eigen::VectorXd excess(std::size_t constraint) const;
};

/// Points closer than this to a better one say nothing that a model with noise could use.
inline constexpr double thinning_distance = 1e-4;

/// With less than `enough` complete trials, and pruned ones, the reference is the longest rung that
/// so many trials reached, or else the one that the most did.
[[nodiscard]] GpData gp_data(const History& history, const RungResults& rungs, std::size_t enough,
                             std::size_t max_observations);

/// How sure of success a suggestion must be, as a standard score; -infinity: it need not. Rises
/// with each trial that failed and falls with each that did not, those of the startup left aside,
/// so that about a sixth fails where the best points lie at the edge of a region where all do,
/// however wrong the model is there.
[[nodiscard]] double least_safety(const History& history, std::size_t startup);

/// At most `count` of the numbers 0 ... size - 1: those with the least loss, the last, and some
/// between, evenly mixed; the same ones whatever else is asked.
[[nodiscard]] std::vector<std::size_t> representative(const std::vector<const Observation*>& seen,
                                                      std::size_t count);

/// The largest difference in a coordinate; 1 where a category or the existence differs.
[[nodiscard]] double chebyshev(const Design& design, const Point& a, const Point& b);

}  // namespace troupe::tune::detail
