#include <troupe/tune/search/detail/output_warp.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// Differences of losses must not overflow, and their squares neither.
constexpr double largest_loss = 1e150;

double power_transform(double x, double power) {
  if (x >= 0)
    return std::abs(power) < 1e-9 ? std::log1p(x) : std::expm1(power * std::log1p(x)) / power;
  const double other = 2 - power;
  return std::abs(other) < 1e-9 ? -std::log1p(-x) : -std::expm1(other * std::log1p(-x)) / other;
}

/// The logarithm of the likelihood that the transformed numbers are normal.
double normality(const VectorXd& x, double power) {
  VectorXd values(x.size());
  double slopes = 0;
  for (Index i = 0; i < x.size(); ++i) {
    values[i] = power_transform(x[i], power);
    slopes += (power - 1) * std::copysign(std::log1p(std::abs(x[i])), x[i]);
  }
  const double variance = (values.array() - values.mean()).square().mean();
  if (!(variance > 1e-300) || !std::isfinite(variance))
    return -std::numeric_limits<double>::infinity();
  return -0.5 * static_cast<double>(x.size()) * std::log(variance) + slopes;
}

/// Golden section search: the likelihood has one maximum.
double best_power(const VectorXd& x) {
  constexpr double golden = 0.6180339887498949;
  double low = -3;
  double high = 3;
  double a = high - golden * (high - low);
  double b = low + golden * (high - low);
  double at_a = normality(x, a);
  double at_b = normality(x, b);
  while (high - low > 1e-3) {
    if (at_a >= at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - golden * (high - low);
      at_a = normality(x, a);
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = low + golden * (high - low);
      at_b = normality(x, b);
    }
  }
  return 0.5 * (low + high);
}

}  // namespace

void OutputWarp::set_range(const VectorXd& losses) {
  lowest_ = largest_loss;
  highest_ = -largest_loss;
  for (const double loss : losses) {
    if (!std::isfinite(loss))
      continue;
    const double bounded = std::clamp(loss, -largest_loss, largest_loss);
    lowest_ = std::min(lowest_, bounded);
    highest_ = std::max(highest_, bounded);
  }
  if (lowest_ > highest_)
    lowest_ = highest_ = 0;
}

void OutputWarp::standardise(const VectorXd& losses) {
  if (losses.size() == 0)
    return;
  VectorXd values(losses.size());
  for (Index i = 0; i < losses.size(); ++i)
    values[i] = power_transform(scaled(losses[i]), power_);
  mean_ = values.mean();
  const double deviation = std::sqrt((values.array() - mean_).square().mean());
  deviation_ = std::isfinite(deviation) && deviation > 1e-10 ? deviation : 1;
}

OutputWarp OutputWarp::affine(const VectorXd& losses) {
  OutputWarp warp;
  warp.set_range(losses);
  const double width = warp.highest_ - warp.lowest_;
  warp.centre_ = warp.lowest_;
  warp.scale_ = width > 0 ? width : 1;
  warp.standardise(losses);
  return warp;
}

OutputWarp OutputWarp::yeo_johnson(const VectorXd& losses) {
  OutputWarp warp = affine(losses);
  if (losses.size() < 2 || !(warp.highest_ > warp.lowest_))
    return warp;
  std::vector<double> sorted(losses.begin(), losses.end());
  for (double& loss : sorted)
    loss = std::clamp(loss, warp.lowest_, warp.highest_);
  std::sort(sorted.begin(), sorted.end());
  warp.centre_ = sorted[sorted.size() / 2];
  warp.scale_ = warp.centre_ - sorted.front();
  if (!(warp.scale_ > 1e-12 * (warp.highest_ - warp.lowest_)))
    warp.scale_ = sorted.back() - sorted.front();
  VectorXd x(losses.size());
  for (Index i = 0; i < losses.size(); ++i)
    x[i] = warp.scaled(losses[i]);
  warp.power_ = best_power(x);
  warp.standardise(losses);
  return warp;
}

double OutputWarp::scaled(double loss) const {
  return (std::clamp(loss, lowest_, highest_) - centre_) / scale_;
}

double OutputWarp::operator()(double loss) const {
  return (power_transform(scaled(loss), power_) - mean_) / deviation_;
}

VectorXd OutputWarp::operator()(const VectorXd& losses) const {
  VectorXd values(losses.size());
  for (Index i = 0; i < losses.size(); ++i)
    values[i] = (*this)(losses[i]);
  return values;
}

double OutputWarp::log_slope(double loss) const {
  const double x = scaled(loss);
  return (power_ - 1) * std::copysign(std::log1p(std::abs(x)), x) - std::log(scale_) -
         std::log(deviation_);
}

double OutputWarp::unclamped(double loss) const {
  return (power_transform((loss - centre_) / scale_, power_) - mean_) / deviation_;
}

}  // namespace troupe::tune::detail
