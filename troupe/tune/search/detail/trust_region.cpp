#include <troupe/tune/search/detail/history.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>
#include <troupe/tune/search/detail/trust_region.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Beyond, only the diagonal of the Hessian is fitted.
constexpr Index max_full_dimensions = 20;
/// Below this radius a step changes nothing that matters.
constexpr double smallest_radius = 1e-7;

/// Minimises g's + s'Hs/2 over |s| <= radius.
VectorXd ball_minimum(const VectorXd& gradient, const MatrixXd& hessian, double radius) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(hessian);
  const VectorXd& values = solver.eigenvalues();
  const VectorXd g = solver.eigenvectors().transpose() * gradient;
  const auto step = [&](double shift) -> VectorXd {
    return -(g.array() / (values.array() + shift).max(1e-300)).matrix();
  };
  const double size = std::max(
      {std::abs(values[0]), std::abs(values[values.size() - 1]), g.norm() / radius, 1e-300});
  double low = std::max(0.0, -values[0]) + 1e-14 * size;
  VectorXd s = step(low);
  if (!(s.norm() <= radius)) {
    double high = std::max(0.0, -values[0]) + g.norm() / radius + 1e-14 * size;
    for (int i = 0; i < 100 && high - low > 1e-15 * high; ++i) {
      const double middle = 0.5 * (low + high);
      (step(middle).norm() > radius ? low : high) = middle;
    }
    s = step(high);
  } else if (values[0] < 0) {
    // The hard case: along the direction of negative curvature to the edge.
    const double rest = std::sqrt(std::max(0.0, radius * radius - s.squaredNorm()));
    s[0] += g[0] > 0 ? -rest : rest;
  }
  return solver.eigenvectors() * s;
}

/// The same with bounds: variables that leave the box are put on its side, and the others solved
/// again.
VectorXd box_minimum(const VectorXd& gradient, const MatrixXd& hessian, double radius,
                     const VectorXd& lower, const VectorXd& upper) {
  const Index d = gradient.size();
  VectorXd s = VectorXd::Zero(d);
  std::vector<Index> free(static_cast<std::size_t>(d));
  std::iota(free.begin(), free.end(), 0);
  double left = radius;
  while (!free.empty() && left > 0) {
    const auto size = static_cast<Index>(free.size());
    const VectorXd slope = gradient + hessian * s;
    VectorXd g(size);
    MatrixXd h(size, size);
    for (Index i = 0; i < size; ++i) {
      g[i] = slope[free[static_cast<std::size_t>(i)]];
      for (Index j = 0; j < size; ++j)
        h(i, j) = hessian(free[static_cast<std::size_t>(i)], free[static_cast<std::size_t>(j)]);
    }
    const VectorXd part = ball_minimum(g, h, left);
    std::vector<Index> inside;
    bool outside = false;
    for (Index i = 0; i < size; ++i) {
      const Index j = free[static_cast<std::size_t>(i)];
      if (part[i] < lower[j] || part[i] > upper[j]) {
        s[j] = std::clamp(part[i], lower[j], upper[j]);
        outside = true;
      } else {
        inside.push_back(j);
      }
    }
    if (!outside) {
      for (Index i = 0; i < size; ++i)
        s[free[static_cast<std::size_t>(i)]] = part[i];
      break;
    }
    left = std::sqrt(std::max(0.0, radius * radius - s.squaredNorm()));
    free = inside;
  }
  return s;
}

}  // namespace

std::optional<TrustModel> TrustModel::fit(const Neighbourhood& around) {
  const Index d = around.points.cols();
  const bool full = d <= max_full_dimensions;
  const Index bends = full ? d * (d + 1) / 2 : d;
  const Index wanted = 1 + d + bends + std::max<Index>(2, d / 2);
  if (around.points.rows() < d + 2)
    return std::nullopt;
  MatrixXd z = (around.points.rowwise() - around.points.row(0)) * around.scales.asDiagonal();
  const VectorXd distances = z.rowwise().norm();
  std::vector<Index> order(static_cast<std::size_t>(z.rows()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    return distances[a] != distances[b] ? distances[a] < distances[b] : a < b;
  });
  const Index m = std::min(z.rows(), wanted);
  const double reach = distances[order[static_cast<std::size_t>(m - 1)]];
  double height = 0;
  for (Index i = 0; i < m; ++i)
    height = std::max(height, around.losses[order[static_cast<std::size_t>(i)]] - around.losses[0]);
  if (!(reach > 0) || !(height > 0) || !std::isfinite(height))
    return std::nullopt;

  // Unknowns: the value at the centre, the gradient, the multiple of the unit matrix, the Hessian's
  // deviation from it, which is held small by rows of its own.
  constexpr double stiffness = 1e-5;
  const Index unknowns = 2 + d + bends;
  MatrixXd equations = MatrixXd::Zero(m + bends, unknowns);
  VectorXd right = VectorXd::Zero(m + bends);
  for (Index i = 0; i < m; ++i) {
    const Index p = order[static_cast<std::size_t>(i)];
    const VectorXd u = z.row(p).transpose() / reach;
    // The best point counts most, what is far away less.
    const double weight = 1 / (1e-2 + u.squaredNorm());
    equations(i, 0) = weight;
    equations.row(i).segment(1, d) = weight * u.transpose();
    equations(i, 1 + d) = weight * 0.5 * u.squaredNorm();
    Index column = 2 + d;
    for (Index a = 0; a < d; ++a)
      for (Index b = full ? 0 : a; b <= a; ++b)
        equations(i, column++) = weight * (a == b ? 0.5 : std::sqrt(0.5)) * u[a] * u[b];
    right[i] = weight * (around.losses[p] - around.losses[0]) / height;
  }
  for (Index i = 0; i < bends; ++i)
    equations(m + i, 2 + d + i) = stiffness;
  const VectorXd found = equations.colPivHouseholderQr().solve(right);
  if (!found.allFinite())
    return std::nullopt;

  TrustModel model;
  model.centre_ = around.points.row(0).transpose();
  model.scales_ = around.scales;
  model.reach_ = reach;
  model.gradient_ = found.segment(1, d) * (height / reach);
  model.hessian_ = MatrixXd::Identity(d, d) * found[1 + d];
  Index column = 2 + d;
  for (Index a = 0; a < d; ++a)
    for (Index b = full ? 0 : a; b <= a; ++b) {
      const double value = found[column++] * (a == b ? 1 : std::sqrt(0.5));
      model.hessian_(a, b) += value;
      if (a != b)
        model.hessian_(b, a) += value;
    }
  model.hessian_ *= height / (reach * reach);
  return model;
}

TrustStep TrustModel::step(double radius) const {
  const VectorXd lower = -centre_.cwiseProduct(scales_);
  const VectorXd upper = (1 - centre_.array()).matrix().cwiseProduct(scales_);
  const VectorXd s = box_minimum(gradient_, hessian_, radius, lower, upper);
  TrustStep step;
  step.point = (centre_ + s.cwiseQuotient(scales_)).cwiseMax(0.0).cwiseMin(1.0);
  step.gain = std::max(0.0, gain(step.point));
  step.radius = radius;
  step.length = s.norm();
  return step;
}

double TrustModel::gain(const VectorXd& point) const {
  const VectorXd s = (point - centre_).cwiseProduct(scales_);
  return -(gradient_.dot(s) + 0.5 * s.dot(hessian_ * s));
}

double TrustModel::distance(const VectorXd& point) const {
  return (point - centre_).cwiseProduct(scales_).norm();
}

std::optional<double> TrustRegion::radius(double reach) const {
  if (radius_ == 0)
    return reach;
  if (radius_ < smallest_radius)
    return std::nullopt;
  return radius_;
}

void TrustRegion::begin(TrialId trial, const TrustStep& step, double best_loss) {
  trial_ = trial;
  gain_ = step.gain;
  best_loss_ = best_loss;
  step_radius_ = step.radius;
  step_length_ = step.length;
}

void TrustRegion::end(double loss) {
  trial_.reset();
  const double ratio = gain_ > 0 ? (best_loss_ - loss) / gain_ : 0;
  successful_ = ratio > 0.1;
  radius_ = step_radius_;
  if (!(ratio > 0.25))
    radius_ = 0.5 * std::min(step_radius_, std::max(step_length_, 0.25 * step_radius_));
  else if (ratio > 0.75)
    radius_ = std::max(step_radius_, 2 * step_length_);
}

void TrustRegion::moved(double distance) {
  if (distance > radius_)
    radius_ = 0;
  successful_ = true;
}

Value TrustRegion::save() const {
  Map map{{"radius", radius_}, {"successful", successful_}};
  if (trial_)
    map["step"] = List{static_cast<std::int64_t>(trial_->value), gain_, best_loss_, step_radius_,
                       step_length_};
  return map;
}

Status TrustRegion::restore(const Value& state) {
  const Error bad(ErrorCode::corrupt, "the state of a trust region is incomplete");
  constexpr double largest = std::numeric_limits<double>::max();
  const Map* map = state.get_if<Map>();
  const Value* radius = map != nullptr ? map->find_key("radius") : nullptr;
  const Value* successful = map != nullptr ? map->find_key("successful") : nullptr;
  if (radius == nullptr || successful == nullptr || !is_within(*radius, 0, largest) ||
      !successful->is_bool())
    return bad;
  TrustRegion restored;
  restored.radius_ = radius->as_double();
  restored.successful_ = successful->as_bool();
  if (const Value* step = map->find_key("step")) {
    const List* list = step->get_if<List>();
    const auto trial = list != nullptr && list->size() == 5 ? trial_of((*list)[0]) : std::nullopt;
    if (!trial || !is_within((*list)[1], 0, infinity) || !is_finite((*list)[2]) ||
        !is_within((*list)[3], 0, largest) || !is_within((*list)[4], 0, largest))
      return bad;
    restored.trial_ = *trial;
    restored.gain_ = (*list)[1].as_double();
    restored.best_loss_ = (*list)[2].as_double();
    restored.step_radius_ = (*list)[3].as_double();
    restored.step_length_ = (*list)[4].as_double();
  }
  *this = restored;
  return ok();
}

}  // namespace troupe::tune::detail
