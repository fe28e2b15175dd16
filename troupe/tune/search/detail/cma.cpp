#include <troupe/tune/search/detail/cma.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include <Eigen/Eigenvalues>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double largest = 1e32;
constexpr double tiny = 1e-8;
constexpr double tolerance_x = 1e-6;  ///< of the unit interval: what follows is not worth a trial
constexpr double tolerance_loss = 1e-12;
constexpr double largest_growth = 1e4;
constexpr double largest_condition = 1e14;

/// Generations over which losses must differ.
std::size_t patience(const CmaSettings& settings) {
  return 10 + (30 * settings.dimensions + settings.population - 1) / settings.population;
}

/// Reflects at both ends of the unit interval: the landscape goes on beyond as its own mirror
/// image, so that a minimum at the border is one like any other.
double folded(double x) {
  const double period = std::fabs(x) - 2 * std::floor(std::fabs(x) / 2);
  return period <= 1 ? period : 2 - period;
}

double square(double x) {
  return x * x;
}

}  // namespace

std::size_t CmaSettings::default_population(std::size_t dimensions) {
  const double d = std::max(1.0, static_cast<double>(dimensions));
  return 4 + static_cast<std::size_t>(std::floor(3 * std::log(d)));
}

Cma::Constants Cma::constants(const CmaSettings& settings) {
  Constants c;
  const auto d = static_cast<double>(settings.dimensions);
  const auto population = static_cast<Index>(settings.population);
  c.parents = settings.population / 2;
  const auto parents = static_cast<Index>(c.parents);
  c.weights.resize(population);
  for (Index i = 0; i < population; ++i)
    c.weights[i] =
        std::log((static_cast<double>(population) + 1) / 2) - std::log(static_cast<double>(i) + 1);
  const auto good = c.weights.head(parents);
  const auto bad = c.weights.tail(population - parents);
  c.mu_eff = square(good.sum()) / good.squaredNorm();
  const double mu_eff_bad = square(bad.sum()) / bad.squaredNorm();
  c.c1 = 2 / (square(d + 1.3) + c.mu_eff);
  double cmu = 2 * (c.mu_eff - 2 + 1 / c.mu_eff) / (square(d + 2) + c.mu_eff);
  if (settings.separable) {  // Ros and Hansen 2008: d instead of d^2 / 2 numbers to learn
    c.c1 = std::min(c.c1 * (d + 2) / 3, 0.5);
    cmu *= (d + 2) / 3;
  }
  c.cmu = std::min(1 - c.c1 - tiny, cmu);
  // Negative weights must not make the covariance indefinite.
  double negative = std::min(
      {1 + c.c1 / c.cmu, 1 + 2 * mu_eff_bad / (c.mu_eff + 2), (1 - c.c1 - c.cmu) / (d * c.cmu)});
  if (settings.separable)
    negative = 0;
  const double good_sum = good.sum();
  const double bad_sum = -c.weights.cwiseMin(0).sum();
  for (double& w : c.weights)
    w *= w >= 0 ? 1 / good_sum : negative / bad_sum;
  c.c_sigma = (c.mu_eff + 2) / (d + c.mu_eff + 5);
  c.d_sigma = 1 + 2 * std::max(0.0, std::sqrt((c.mu_eff - 1) / (d + 1)) - 1) + c.c_sigma;
  c.c_c = (4 + c.mu_eff / d) / (d + 4 + 2 * c.mu_eff / d);
  c.chi = std::sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d * d));
  return c;
}

Cma::Cma(CmaSettings settings, VectorXd mean, double sigma)
    : settings_(std::move(settings)),
      c_(constants(settings_)),
      sigma_(sigma),
      mean_(std::move(mean)) {
  const auto d = static_cast<Index>(settings_.dimensions);
  scale_ = VectorXd::Ones(d);
  path_s_ = VectorXd::Zero(d);
  path_c_ = VectorXd::Zero(d);
  shape_ =
      settings_.separable ? MatrixXd(MatrixXd::Ones(d, 1)) : MatrixXd(MatrixXd::Identity(d, d));
  rates_.mean_step = VectorXd::Zero(d);
  rates_.shape_step = MatrixXd::Zero(d, settings_.separable ? 1 : d);
  decompose();
}

Cma::Cma(CmaSettings settings, VectorXd mean, const MatrixXd& covariance)
    : Cma(std::move(settings), std::move(mean), 1.0) {
  const auto d = static_cast<double>(settings_.dimensions);
  double log_determinant = 0;
  if (settings_.separable) {
    shape_ = covariance.diagonal();
    log_determinant = shape_.array().log().sum();
  } else {
    shape_ = covariance;
    decompose();
    log_determinant = 2 * roots_.array().log().sum();
  }
  sigma_ = std::exp(log_determinant / (2 * d));
  shape_ /= square(sigma_);
  decompose();
}

std::size_t Cma::ring() const {
  return 2 * patience(settings_);
}

VectorXd Cma::coloured(VectorXd z) const {
  z.array() *= roots_.array();
  return settings_.separable ? std::move(z) : VectorXd(axes_ * z);
}

VectorXd Cma::whitened(const VectorXd& y) const {
  if (settings_.separable)
    return y.cwiseQuotient(roots_);
  return axes_ * (axes_.transpose() * y).cwiseQuotient(roots_);
}

MatrixXd Cma::local(MatrixXd x) const {
  x.colwise() -= mean_;
  if (!settings_.separable)
    x = (axes_.transpose() * x).eval();
  return (sigma_ * roots_).cwiseInverse().asDiagonal() * x;
}

VectorXd Cma::global(const VectorXd& z) const {
  return mean_ + sigma_ * coloured(z);
}

double Cma::likely_distance() const {
  const auto d = static_cast<double>(settings_.dimensions);
  return std::sqrt(d) + 2 * d / (d + 2);
}

VectorXd Cma::variances() const {
  return settings_.separable ? VectorXd(shape_.col(0)) : VectorXd(shape_.diagonal());
}

MatrixXd Cma::shape() const {
  return settings_.separable ? MatrixXd(shape_.col(0).asDiagonal()) : shape_;
}

bool Cma::stepped(std::size_t coordinate) const {
  return std::binary_search(settings_.stepped.begin(), settings_.stepped.end(), coordinate);
}

void Cma::decompose() {
  if (settings_.separable) {
    for (double& variance : shape_.reshaped())
      variance = variance > 0 && std::isfinite(variance) ? variance : tiny;
    roots_ = shape_.col(0).cwiseSqrt();
    return;
  }
  // Until it is positive definite: then decomposing what was saved gives the same again.
  for (int attempt = 0;; ++attempt) {
    shape_ = ((shape_ + shape_.transpose()) / 2).eval();
    if (attempt == 3 || !shape_.allFinite())
      shape_.setIdentity();
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(shape_);
    axes_ = solver.eigenvectors();
    VectorXd values = solver.eigenvalues();
    if (values.minCoeff() > 0) {
      roots_ = values.cwiseSqrt();
      return;
    }
    const double least = std::max(tiny, 1e-12 * values.maxCoeff());
    values = values.cwiseMax(least);
    shape_ = (axes_ * values.asDiagonal() * axes_.transpose()).eval();
  }
}

Cma::Sample Cma::sample(Random& random) const {
  const auto d = static_cast<Index>(settings_.dimensions);
  VectorXd z(d);
  for (Index j = 0; j < d; j += 2) {  // Box and Muller: two at a time
    const double length = std::sqrt(-2 * std::log(1 - random.uniform()));
    const double angle = 2 * std::numbers::pi * random.uniform();
    z[j] = length * std::cos(angle);
    if (j + 1 < d)
      z[j + 1] = length * std::sin(angle);
  }
  Sample result;
  result.x = coloured(std::move(z));
  result.x = mean_ + sigma_ * result.x;
  result.point = mean_ + scale_.cwiseProduct(result.x - mean_);
  for (Index j = 0; j < d; ++j)
    result.point[j] = stepped(static_cast<std::size_t>(j)) ? std::clamp(result.point[j], 0.0, 1.0)
                                                           : folded(result.point[j]);
  return result;
}

/// The steps of the points from the mean, one a column.
MatrixXd Cma::steps(std::span<const Told> best_first) const {
  MatrixXd y(static_cast<Index>(settings_.dimensions), static_cast<Index>(best_first.size()));
  for (Index i = 0; i < y.cols(); ++i) {
    const Told& told = best_first[static_cast<std::size_t>(i)];
    y.col(i) = (told.x - mean_) / sigma_;
    if (!told.foreign)
      continue;
    const double length = whitened(y.col(i)).norm();
    if (length > likely_distance())
      y.col(i) *= likely_distance() / length;
  }
  return y;
}

void Cma::update_shape(const MatrixXd& y, bool stalled_path) {
  const auto d = static_cast<double>(settings_.dimensions);
  const double missing = stalled_path ? c_.c1 * c_.c_c * (2 - c_.c_c) : 0;
  VectorXd weights = c_.weights;
  for (Index i = 0; i < y.cols(); ++i)
    if (weights[i] < 0)
      weights[i] *= d / (whitened(y.col(i)).squaredNorm() + tiny);
  const double kept = 1 + missing - c_.c1 - c_.cmu * c_.weights.sum();
  if (settings_.separable) {
    shape_ = kept * shape_ + c_.c1 * path_c_.cwiseAbs2() + c_.cmu * (y.cwiseAbs2() * weights);
    return;
  }
  shape_ = (kept * shape_ + c_.c1 * (path_c_ * path_c_.transpose()) +
            c_.cmu * (y * weights.asDiagonal() * y.transpose()))
               .eval();
}

void Cma::tell(std::span<const Told> best_first, double best, double worst, const Cells& cells) {
  const auto d = static_cast<double>(settings_.dimensions);
  const auto parents = static_cast<Index>(c_.parents);
  recent_.resize(ring(), std::numeric_limits<double>::infinity());
  recent_[2 * generation_ % ring()] = best;
  recent_[(2 * generation_ + 1) % ring()] = worst;
  ++generation_;

  const VectorXd old_mean = mean_;
  const double old_sigma = sigma_;
  const MatrixXd old_shape = settings_.adapt_learning_rate ? shape_ : MatrixXd();
  const MatrixXd y = steps(best_first);
  const VectorXd step = y.leftCols(parents) * c_.weights.head(parents);
  mean_ = (mean_ + sigma_ * step).cwiseMax(-largest).cwiseMin(largest);

  path_s_ = ((1 - c_.c_sigma) * path_s_ +
             std::sqrt(c_.c_sigma * (2 - c_.c_sigma) * c_.mu_eff) * whitened(step))
                .eval();
  const double length = path_s_.norm();
  sigma_ = std::min(sigma_ * std::exp(c_.c_sigma / c_.d_sigma * (length / c_.chi - 1)), largest);
  const double settled =
      std::sqrt(1 - std::pow(1 - c_.c_sigma, 2 * (static_cast<double>(generation_) + 1)));
  const bool stalled = !(length / settled < (1.4 + 2 / (d + 1)) * c_.chi);
  path_c_ = ((1 - c_.c_c) * path_c_ +
             (stalled ? 0 : 1) * std::sqrt(c_.c_c * (2 - c_.c_c) * c_.mu_eff) * step)
                .eval();
  update_shape(y, stalled);
  if (settings_.adapt_learning_rate)
    adapt_rates(old_mean, old_sigma, old_shape);
  decompose();
  for (Index j = 0; j < mean_.size(); ++j)
    if (!stepped(static_cast<std::size_t>(j)))
      mean_[j] = folded(mean_[j]);
  if (!settings_.stepped.empty())
    apply_margin(cells);
}

bool Cma::done() const {
  if (recent_.size() == ring() && generation_ > patience(settings_)) {
    const auto [low, high] = std::minmax_element(recent_.begin(), recent_.end());
    if (*high - *low < tolerance_loss)
      return true;
  }
  const VectorXd variance = variances();
  if ((sigma_ * variance.array().sqrt() < tolerance_x).all() &&
      (sigma_ * path_c_.array().abs() < tolerance_x).all())
    return true;
  if (sigma_ * roots_.maxCoeff() > largest_growth || !std::isfinite(sigma_))
    return true;
  if (((mean_ + 0.2 * sigma_ * variance.cwiseSqrt()).array() == mean_.array()).any())
    return true;
  if (!settings_.separable) {
    const auto axis = static_cast<Index>(generation_ % settings_.dimensions);
    if (((mean_ + 0.1 * sigma_ * roots_[axis] * axes_.col(axis)).array() == mean_.array()).all())
      return true;
  }
  return square(roots_.maxCoeff() / roots_.minCoeff()) > largest_condition;
}

}  // namespace troupe::tune::detail
