#pragma once

#include <troupe/tune/search/detail/gaussian_process.hpp>

#include <limits>
#include <utility>
#include <vector>

#include <Eigen/Core>

/// How much trying a point is worth, according to Gaussian processes.
namespace troupe::tune::detail {

/// A part of the space of objectives in which a point would be an improvement. `lower` may be -inf.
struct ImprovementBox {
  Eigen::VectorXd lower{};
  Eigen::VectorXd upper{};
};

/// Cuts what the front does not dominate, below `reference`, into disjoint boxes. One, two or three
/// objectives, less is better; points that do not lie below the reference are left out.
[[nodiscard]] std::vector<ImprovementBox> improvement_boxes(
    const std::vector<Eigen::VectorXd>& front, const Eigen::VectorXd& reference);

/// The logarithm of the expected improvement (Ament et al. 2023, so that it has a slope
/// everywhere), times the probability that all constraints hold.
///
/// One objective: below an incumbent, one for each sample of the posterior (fantasies of pending
/// points), averaged. Several: the expected growth of the dominated volume, exact for independent
/// objectives. No objective: the probability alone, for as long as nothing feasible is known.
class Acquisition {
public:
  /// `objective` is the first one's posterior; the incumbents are as many as its samples.
  void improve_on(GpPosterior objective, Eigen::VectorXd incumbents);
  void improve_on(std::vector<GpPosterior> objectives, std::vector<ImprovementBox> boxes);
  /// A constraint holds where its value is at most `limit`. The probability counts with this power;
  /// where it lies below that of the standard score `least`, a point is worth less by far.
  void constrain(GpPosterior constraint, double limit, double power = 1,
                 double least = -std::numeric_limits<double>::infinity());

  /// A point, as each of the processes sees it: the objectives', then the constraints'.
  using Place = std::vector<GpPosterior::Place>;
  [[nodiscard]] Place place(const Eigen::VectorXd& point) const;
  /// One row a point. Faster where a place is given that they differ from in a few features.
  [[nodiscard]] Eigen::VectorXd operator()(const Eigen::MatrixXd& points,
                                           const Place* near = nullptr) const;
  [[nodiscard]] double operator()(const Eigen::VectorXd& point, Eigen::VectorXd& gradient) const;
  [[nodiscard]] bool empty() const { return objectives_.empty() && constraints_.empty(); }
  [[nodiscard]] const std::vector<GpPosterior>& objectives() const { return objectives_; }

private:
  struct Constraint {
    GpPosterior posterior;
    double limit = 0;
    double power = 1;
    double least = 0;
    /// The worth of a standard score, and its slope.
    [[nodiscard]] std::pair<double, double> worth(double score) const;
  };
  struct Slopes;
  double one_objective(const Eigen::VectorXd& means, double variance, Slopes* slopes) const;
  double many_objectives(const Eigen::VectorXd& means, const Eigen::VectorXd& variances,
                         Slopes* slopes) const;

  std::vector<GpPosterior> objectives_;
  Eigen::VectorXd incumbents_;
  std::vector<ImprovementBox> boxes_;
  std::vector<Constraint> constraints_;
};

/// log(E[max(0, z + N(0, 1))]) without underflow.
[[nodiscard]] double log_expected_excess(double z);
/// The logarithm of the standard normal distribution function.
[[nodiscard]] double log_normal_cdf(double z);

}  // namespace troupe::tune::detail
