#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Core>

/// Gaussian process regression with a Matern 5/2 kernel.
namespace troupe::tune::detail {

/// Where a function was looked at: one row a point. A nominal feature has no order: two values of
/// it are equal or not (Hamming distance).
struct GpInputs {
  Eigen::MatrixXd x{};
  std::vector<bool> nominal{};

  [[nodiscard]] Eigen::Index size() const { return x.rows(); }
  [[nodiscard]] Eigen::Index features() const { return x.cols(); }
};

/// Hyperparameters as one vector: the logarithm of the inverse squared length scale of each
/// feature, the logarithm of the variance, the logarithm of what the noise exceeds its floor by.
using GpParameters = Eigen::VectorXd;

inline constexpr double gp_noise_floor = 1e-6;

/// Between these all of them are.
inline constexpr double gp_least = -20;
inline constexpr double gp_most = 12;

[[nodiscard]] GpParameters default_gp_parameters(Eigen::Index features);
[[nodiscard]] double gp_noise(const GpParameters& parameters);

struct GpFit {
  GpParameters parameters{};
  double log_posterior = 0;  ///< of the parameters, up to a constant
};

/// The most probable hyperparameters given values of mean 0 and variance 1, by a local search from
/// `start`. The default ones when the search fails. O(n^3 + n^2 features) an evaluation.
[[nodiscard]] GpFit fit_gp(const GpInputs& inputs, const Eigen::VectorXd& values,
                           const GpParameters& start, int max_evaluations);

/// What the process says once it has seen values: means and variances anywhere.
///
/// The last `pending` rows of the inputs have no value yet. They get one from the joint posterior
/// for each column of `normals` (independent standard normals, one row a pending point), so that
/// there are as many means; the variance is the same for all. With normals of 0 the pending points
/// get their expected values.
class GpPosterior {
public:
  GpPosterior(GpInputs inputs, const GpParameters& parameters, const Eigen::VectorXd& values,
              const Eigen::MatrixXd& normals = Eigen::MatrixXd::Zero(0, 1));

  /// False: the covariance could not be factored; nothing else may be called.
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] Eigen::Index samples() const { return weights_.cols(); }
  /// Values of the pending points, one column a sample.
  [[nodiscard]] const Eigen::MatrixXd& fantasies() const { return fantasies_; }
  [[nodiscard]] double noise() const { return noise_; }

  struct Batch {
    Eigen::MatrixXd means{};  ///< one row a point, one column a sample
    Eigen::VectorXd variances{};
  };
  [[nodiscard]] Batch predict(const Eigen::MatrixXd& points) const;

  /// A point, and its squared scaled distances from all inputs.
  struct Place {
    Eigen::VectorXd point{};
    Eigen::VectorXd distances{};
  };
  [[nodiscard]] Place place(const Eigen::VectorXd& point) const;
  /// The same predictions for points that differ from a place in a few features: takes time with
  /// the number of these instead of all.
  [[nodiscard]] Batch predict(const Eigen::MatrixXd& points, const Place& near) const;

  /// One point, with what the gradient needs.
  struct At {
    Eigen::VectorXd means{};
    double variance = 0;
    Eigen::VectorXd slopes{};  ///< of the kernel with respect to the squared distance
    Eigen::VectorXd whitened{};
  };
  [[nodiscard]] At at(const Eigen::VectorXd& point) const;
  /// The gradient of a quantity whose derivatives by the means and by the variance are given. Zero
  /// in nominal features.
  [[nodiscard]] Eigen::VectorXd gradient(const Eigen::VectorXd& point, const At& at,
                                         const Eigen::VectorXd& by_means, double by_variance) const;

  /// Each value's logarithmic density under the process that has seen all others. Without pending
  /// points.
  [[nodiscard]] Eigen::VectorXd leave_one_out() const;

private:
  /// Adds `factor` times the part of a feature to squared scaled distances.
  void add_distance(Eigen::Index feature, double at, double factor,
                    Eigen::Ref<Eigen::VectorXd> distances) const;
  /// Turns squared scaled distances into covariances.
  void kernel(Eigen::Ref<Eigen::VectorXd> values, Eigen::VectorXd* slopes = nullptr) const;
  /// Predictions at points whose distances `fill` gives.
  template <class Fill>
  Batch predict_by(Eigen::Index points, const Fill& fill) const;

  GpInputs inputs_;
  Eigen::VectorXd inverse_squares_;  ///< of the length scales
  double variance_ = 1;
  double noise_ = gp_noise_floor;
  bool ok_ = false;
  Eigen::MatrixXd inverse_factor_;  ///< L^-1, where L L' is the covariance
  Eigen::MatrixXd weights_;         ///< covariance^-1 values, one column a sample
  Eigen::MatrixXd fantasies_;
};

}  // namespace troupe::tune::detail
