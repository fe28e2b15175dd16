#pragma once

#include <Eigen/Core>

/// Losses on the scale that a Gaussian process sees.
namespace troupe::tune::detail {

/// A rising map of losses to values of mean 0 and variance 1: affine, or Yeo and Johnson's power
/// transform (2000), which straightens the long tails that losses have, after a robust scaling (the
/// median is 0, the best loss -1). Any doubles but NaN; what is infinite counts as the largest or
/// smallest finite loss.
class OutputWarp {
public:
  /// `losses` may be empty.
  static OutputWarp affine(const Eigen::VectorXd& losses);
  static OutputWarp yeo_johnson(const Eigen::VectorXd& losses);

  [[nodiscard]] double operator()(double loss) const;
  [[nodiscard]] Eigen::VectorXd operator()(const Eigen::VectorXd& losses) const;
  /// The same map continued beyond the losses that it was made from.
  [[nodiscard]] double unclamped(double loss) const;
  /// The logarithm of the derivative at a loss, for densities.
  [[nodiscard]] double log_slope(double loss) const;

private:
  void set_range(const Eigen::VectorXd& losses);
  void standardise(const Eigen::VectorXd& losses);
  [[nodiscard]] double scaled(double loss) const;

  double lowest_ = 0;  ///< finite losses
  double highest_ = 0;
  double centre_ = 0;
  double scale_ = 1;
  double power_ = 1;  ///< 1: the identity
  double mean_ = 0;
  double deviation_ = 1;
};

}  // namespace troupe::tune::detail
