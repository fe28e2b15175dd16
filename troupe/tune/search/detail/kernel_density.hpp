#pragma once

#include <troupe/base/random.hpp>
#include <troupe/tune/search/detail/design.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace troupe::tune::detail {

/// BOHB's density estimate: the mean of product kernels around points, with one bandwidth an axis:
/// Gaussian on numbers, Aitchison and Aitken's on categories.
///
/// Bandwidths follow the normal reference rule, 1.06 s n^(-1 / (4 + d)), where s is the standard
/// deviation on numeric axes and, on categories, the root of the probability that two points
/// differ. (The original takes the deviation of the categories' numbers, which depends on their
/// order.) On an axis where a point does not exist its kernel is flat.
class KernelDensity {
public:
  /// `points` has at least one element; the axes outlive the estimate.
  KernelDensity(std::span<const Axis> axes, std::vector<Point> points, double min_bandwidth);

  [[nodiscard]] double log_density(const Point& point) const;
  /// A point near one of the points, from kernels `factor` times wider.
  [[nodiscard]] Point sample(Random& random, double factor) const;
  [[nodiscard]] const std::vector<double>& bandwidths() const { return bandwidths_; }

private:
  std::span<const Axis> axes_;
  std::vector<Point> points_;
  std::vector<double> bandwidths_;
  // Of each axis: what a kernel gives at its centre and elsewhere, as logarithms; on numeric axes
  // the former is the norm of the Gaussian.
  std::vector<double> hit_;
  std::vector<double> miss_;
};

}  // namespace troupe::tune::detail
