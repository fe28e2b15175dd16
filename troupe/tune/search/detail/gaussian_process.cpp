#include <troupe/tune/search/detail/gaussian_process.hpp>
#include <troupe/tune/search/detail/lbfgs.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include <Eigen/Cholesky>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The squared difference of two values of a feature.
double squared_difference(double a, double b, bool nominal) {
  return nominal ? static_cast<double>(a != b) : (a - b) * (a - b);
}

/// Squared differences of all pairs of points, one row a pair, one column a feature: the kernel and
/// its gradient are then products with this matrix.
MatrixXd pair_distances(const GpInputs& inputs) {
  const Index n = inputs.size();
  MatrixXd pairs(n * (n - 1) / 2, inputs.features());
  for (Index j = 0; j < inputs.features(); ++j) {
    const bool nominal = inputs.nominal[static_cast<std::size_t>(j)];
    Index row = 0;
    for (Index q = 0; q < n; ++q)
      for (Index p = q + 1; p < n; ++p)
        pairs(row++, j) = squared_difference(inputs.x(p, j), inputs.x(q, j), nominal);
  }
  return pairs;
}

/// The negative logarithm of the posterior density of the hyperparameters.
class Likelihood {
public:
  Likelihood(const GpInputs& inputs, const VectorXd& values)
      : values_(values), pairs_(pair_distances(inputs)) {}

  double operator()(const VectorXd& parameters, VectorXd& gradient) {
    const Index features = pairs_.cols();
    const Index n = values_.size();
    const VectorXd inverse_squares = parameters.head(features).array().exp();
    const double variance = std::exp(parameters[features]);
    const double noise = gp_noise(parameters);
    kernel(inverse_squares, variance, noise);
    const Eigen::LLT<Eigen::Ref<MatrixXd>> factor(covariance_);
    if (factor.info() != Eigen::Success)
      return infinity;
    inverse_.setIdentity(n, n);
    factor.matrixL().solveInPlace(inverse_);
    const VectorXd whitened = inverse_.triangularView<Eigen::Lower>() * values_;
    const VectorXd weights = inverse_.triangularView<Eigen::Lower>().transpose() * whitened;
    const double half_log_determinant = covariance_.diagonal().array().log().sum();

    // outer = weights weights' - covariance^-1, the lower triangle.
    outer_.setZero(n, n);
    outer_.selfadjointView<Eigen::Lower>().rankUpdate(inverse_.transpose(), -1);
    outer_.selfadjointView<Eigen::Lower>().rankUpdate(weights, 1);
    gradient.resize(features + 2);
    by_distance(gradient, inverse_squares, variance, noise);
    add_prior(gradient, inverse_squares, variance, noise);
    return 0.5 * whitened.squaredNorm() + half_log_determinant -
           log_prior(inverse_squares, variance, noise);
  }

private:
  void kernel(const VectorXd& inverse_squares, double variance, double noise) {
    const Index n = values_.size();
    root_ = (5 * (pairs_ * inverse_squares)).cwiseSqrt();
    decay_ = (-root_).array().exp() * variance;
    shape_ = decay_.array() * (1 + root_.array() + root_.array().square() / 3);
    covariance_.resize(n, n);
    Index row = 0;
    for (Index q = 0; q < n; ++q) {
      covariance_(q, q) = variance + noise;
      covariance_.col(q).tail(n - q - 1) = shape_.segment(row, n - q - 1);
      row += n - q - 1;
    }
  }

  void by_distance(VectorXd& gradient, const VectorXd& inverse_squares, double variance,
                   double noise) {
    const Index n = values_.size();
    const Index features = pairs_.cols();
    double by_variance = 0;
    Index row = 0;
    for (Index q = 0; q < n; ++q) {
      const auto part = outer_.col(q).tail(n - q - 1);
      by_variance += part.dot(shape_.segment(row, n - q - 1));
      // The root is not needed any more below its diagonal: it takes the chain rule's factor.
      root_.segment(row, n - q - 1) = part.array() * decay_.segment(row, n - q - 1).array() *
                                      (1 + root_.segment(row, n - q - 1).array()) * (-5.0 / 6.0);
      row += n - q - 1;
    }
    const double trace = outer_.diagonal().sum();
    gradient.head(features) = -(pairs_.transpose() * root_).cwiseProduct(inverse_squares);
    gradient[features] = -(by_variance + 0.5 * trace * variance);
    gradient[features + 1] = -0.5 * trace * (noise - gp_noise_floor);
  }

  /// Weak: length scales near the size of the space, a variance near 1, little noise.
  static double log_prior(const VectorXd& inverse_squares, double variance, double noise) {
    return -0.1 * (inverse_squares.array().inverse() + inverse_squares.array()).sum() +
           std::log(variance) - variance + 0.1 * std::log(noise) - 30 * noise;
  }
  static void add_prior(VectorXd& gradient, const VectorXd& inverse_squares, double variance,
                        double noise) {
    const Index features = inverse_squares.size();
    gradient.head(features).array() +=
        0.1 * (inverse_squares.array() - inverse_squares.array().inverse());
    gradient[features] += variance - 1;
    gradient[features + 1] += (30 - 0.1 / noise) * (noise - gp_noise_floor);
  }

  const VectorXd& values_;
  MatrixXd pairs_;
  MatrixXd covariance_;
  MatrixXd inverse_;
  MatrixXd outer_;
  VectorXd root_;
  VectorXd decay_;
  VectorXd shape_;
};

}  // namespace

GpParameters default_gp_parameters(Index features) {
  GpParameters parameters = GpParameters::Zero(features + 2);
  parameters[features + 1] = std::log(1e-4);
  return parameters;
}

double gp_noise(const GpParameters& parameters) {
  return gp_noise_floor + std::exp(parameters[parameters.size() - 1]);
}

GpFit fit_gp(const GpInputs& inputs, const VectorXd& values, const GpParameters& start,
             int max_evaluations) {
  const Index count = inputs.features() + 2;
  VectorXd lower = VectorXd::Constant(count, -gp_most);
  VectorXd upper = VectorXd::Constant(count, gp_most);
  lower[count - 1] = gp_least;
  upper[count - 1] = 2;
  Likelihood likelihood(inputs, values);
  BoxSearch options;
  options.max_evaluations = max_evaluations;
  options.gradient_tolerance = 1e-2;
  options.value_tolerance = 1e-6;
  const auto function = [&](const VectorXd& x, VectorXd& gradient) {
    return likelihood(x, gradient);
  };
  const BoxMinimum found = minimise_in_box(function, start, lower, upper, options);
  if (std::isfinite(found.value))
    return {found.x, -found.value};
  return {default_gp_parameters(inputs.features()), -infinity};
}

GpPosterior::GpPosterior(GpInputs inputs, const GpParameters& parameters, const VectorXd& values,
                         const MatrixXd& normals)
    : inputs_(std::move(inputs)),
      inverse_squares_(parameters.head(inputs_.features()).array().exp()),
      variance_(std::exp(parameters[inputs_.features()])),
      noise_(gp_noise(parameters)) {
  const Index n = inputs_.size();
  const Index seen = values.size();
  MatrixXd covariance(n, n);
  for (Index q = 0; q < n; ++q) {
    covariance.col(q) = place(inputs_.x.row(q).transpose()).distances;
    kernel(covariance.col(q));
    covariance(q, q) += noise_;
  }
  const Eigen::LLT<Eigen::Ref<MatrixXd>> factor(covariance);
  if (factor.info() != Eigen::Success)
    return;
  ok_ = true;
  inverse_factor_.setIdentity(n, n);
  factor.matrixL().solveInPlace(inverse_factor_);
  MatrixXd whitened(n, normals.cols());
  whitened.topRows(seen).colwise() =
      inverse_factor_.topLeftCorner(seen, seen).triangularView<Eigen::Lower>() * values;
  whitened.bottomRows(n - seen) = normals;
  // A joint draw is the factor times white noise whose first entries are those of the values seen.
  fantasies_ = (covariance.triangularView<Eigen::Lower>() * whitened).bottomRows(n - seen);
  weights_ = inverse_factor_.triangularView<Eigen::Lower>().transpose() * whitened;
}

void GpPosterior::add_distance(Index feature, double at, double factor,
                               Eigen::Ref<VectorXd> distances) const {
  const auto difference = inputs_.x.col(feature).array() - at;
  const double weight = factor * inverse_squares_[feature];
  // Names are whole numbers: less than 1 apart means equal.
  if (inputs_.nominal[static_cast<std::size_t>(feature)])
    distances.array() += weight * difference.abs().min(1.0);
  else
    distances.array() += weight * difference.square();
}

void GpPosterior::kernel(Eigen::Ref<VectorXd> values, VectorXd* slopes) const {
  const Eigen::ArrayXd root = (5 * values.array()).sqrt();
  const Eigen::ArrayXd decay = variance_ * (-root).exp();
  values = decay * (1 + root + root.square() / 3);
  if (slopes != nullptr)
    *slopes = decay * (1 + root) * (-5.0 / 6.0);
}

GpPosterior::Place GpPosterior::place(const VectorXd& point) const {
  Place place{point, VectorXd::Zero(inputs_.size())};
  for (Index j = 0; j < inputs_.features(); ++j)
    add_distance(j, point[j], 1, place.distances);
  return place;
}

template <class Fill>
GpPosterior::Batch GpPosterior::predict_by(Index points, const Fill& fill) const {
  constexpr Index block = 64;
  Batch batch;
  batch.means.resize(points, samples());
  batch.variances.resize(points);
  MatrixXd covariances(inputs_.size(), std::min(block, points));
  for (Index first = 0; first < points; first += block) {
    const Index count = std::min(block, points - first);
    for (Index c = 0; c < count; ++c) {
      fill(first + c, covariances.col(c));
      kernel(covariances.col(c));
    }
    const auto part = covariances.leftCols(count);
    batch.means.middleRows(first, count).noalias() = part.transpose() * weights_;
    const MatrixXd whitened = inverse_factor_.triangularView<Eigen::Lower>() * part;
    batch.variances.segment(first, count) =
        (variance_ - whitened.colwise().squaredNorm().array()).max(1e-12).matrix().transpose();
  }
  return batch;
}

GpPosterior::Batch GpPosterior::predict(const MatrixXd& points) const {
  return predict_by(points.rows(), [&](Index row, auto&& distances) {
    distances = place(points.row(row).transpose()).distances;
  });
}

GpPosterior::Batch GpPosterior::predict(const MatrixXd& points, const Place& near) const {
  return predict_by(points.rows(), [&](Index row, auto&& distances) {
    distances = near.distances;
    for (Index j = 0; j < points.cols(); ++j)
      if (points(row, j) != near.point[j]) {
        add_distance(j, near.point[j], -1, distances);
        add_distance(j, points(row, j), 1, distances);
      }
    distances = distances.cwiseMax(0.0);  // of rounding
  });
}

GpPosterior::At GpPosterior::at(const VectorXd& point) const {
  At at;
  VectorXd covariances = place(point).distances;
  kernel(covariances, &at.slopes);
  at.means.noalias() = weights_.transpose() * covariances;
  at.whitened = inverse_factor_.triangularView<Eigen::Lower>() * covariances;
  at.variance = std::max(variance_ - at.whitened.squaredNorm(), 1e-12);
  return at;
}

VectorXd GpPosterior::gradient(const VectorXd& point, const At& at, const VectorXd& by_means,
                               double by_variance) const {
  VectorXd by_kernel = weights_ * by_means;
  const VectorXd solved = inverse_factor_.triangularView<Eigen::Lower>().transpose() * at.whitened;
  by_kernel -= 2 * by_variance * solved;
  by_kernel.array() *= 2 * at.slopes.array();
  VectorXd gradient = VectorXd::Zero(point.size());
  for (Index j = 0; j < inputs_.features(); ++j)
    if (!inputs_.nominal[static_cast<std::size_t>(j)])
      gradient[j] =
          inverse_squares_[j] * by_kernel.dot((point[j] - inputs_.x.col(j).array()).matrix());
  return gradient;
}

VectorXd GpPosterior::leave_one_out() const {
  // Rasmussen and Williams, section 5.4.2: everything follows from the inverse's diagonal.
  const Eigen::ArrayXd precision = inverse_factor_.colwise().squaredNorm().transpose().array();
  const Eigen::ArrayXd error = weights_.col(0).array() / precision;
  return 0.5 * (precision.log() - error.square() * precision - std::log(2 * std::numbers::pi));
}

}  // namespace troupe::tune::detail
