#include <troupe/tune/search/detail/acquisition.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double log_root_two_pi = 0.5 * std::log(2 * std::numbers::pi);

double log_normal_pdf(double z) {
  return -0.5 * z * z - log_root_two_pi;
}

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

/// log(exp(a) - exp(b)) for a >= b.
double log_difference(double a, double b) {
  if (b == -infinity)
    return a;
  return a + std::log(std::max(-std::expm1(b - a), 1e-300));
}

}  // namespace

double log_normal_cdf(double z) {
  if (z > -10)
    return std::log(normal_cdf(z));
  const double t = 1 / (z * z);
  return log_normal_pdf(z) - std::log(-z) + std::log1p(-t * (1 - t * (3 - t * (15 - 105 * t))));
}

double log_expected_excess(double z) {
  if (z > -25)
    return std::log(std::exp(log_normal_pdf(z)) + z * normal_cdf(z));
  const double t = 1 / (z * z);
  return log_normal_pdf(z) + std::log(t * (1 - t * (3 - t * (15 - 105 * t))));
}

struct Acquisition::Slopes {
  std::vector<VectorXd> by_means;  ///< one an objective
  VectorXd by_variance;
};

void Acquisition::improve_on(GpPosterior objective, VectorXd incumbents) {
  objectives_.clear();
  objectives_.push_back(std::move(objective));
  incumbents_ = std::move(incumbents);
}

void Acquisition::improve_on(std::vector<GpPosterior> objectives,
                             std::vector<ImprovementBox> boxes) {
  objectives_ = std::move(objectives);
  boxes_ = std::move(boxes);
}

void Acquisition::constrain(GpPosterior constraint, double limit, double power, double least) {
  constraints_.push_back({std::move(constraint), limit, power, least});
}

std::pair<double, double> Acquisition::Constraint::worth(double score) const {
  // A wall that has a slope: a search that begins beyond it finds back, and where everything lies
  // beyond it the least bad is best.
  constexpr double steepness = 1000;
  const double log_probability = log_normal_cdf(score);
  const double lack = std::max(0.0, least - score);
  return {power * log_probability - steepness * lack * lack,
          power * std::exp(log_normal_pdf(score) - log_probability) + 2 * steepness * lack};
}

double Acquisition::one_objective(const VectorXd& means, double variance, Slopes* slopes) const {
  const double deviation = std::sqrt(variance);
  const Index samples = means.size();
  VectorXd logs(samples);
  for (Index s = 0; s < samples; ++s)
    logs[s] = log_expected_excess((incumbents_[s] - means[s]) / deviation);
  const double largest = logs.maxCoeff();
  const VectorXd shares = (logs.array() - largest).exp();
  const double total = shares.sum();
  if (slopes != nullptr) {
    VectorXd& by_means = slopes->by_means[0];
    by_means.resize(samples);
    double by_variance = 0;
    for (Index s = 0; s < samples; ++s) {
      const double z = (incumbents_[s] - means[s]) / deviation;
      const double share = shares[s] / total;
      by_means[s] = -share * std::exp(log_normal_cdf(z) - logs[s]) / deviation;
      by_variance += share * std::exp(log_normal_pdf(z) - logs[s]);
    }
    slopes->by_variance[0] = by_variance / (2 * variance);
  }
  return largest + std::log(total / static_cast<double>(samples)) + std::log(deviation);
}

double Acquisition::many_objectives(const VectorXd& means, const VectorXd& variances,
                                    Slopes* slopes) const {
  const Index count = means.size();
  const auto boxes = static_cast<Index>(boxes_.size());
  VectorXd logs = VectorXd::Zero(boxes);
  MatrixXd by_mean = MatrixXd::Zero(boxes, count);
  MatrixXd by_deviation = MatrixXd::Zero(boxes, count);
  for (Index b = 0; b < boxes; ++b) {
    const ImprovementBox& box = boxes_[static_cast<std::size_t>(b)];
    for (Index m = 0; m < count; ++m) {
      const double deviation = std::sqrt(variances[m]);
      const double high = (box.upper[m] - means[m]) / deviation;
      const double low = (box.lower[m] - means[m]) / deviation;
      const double below = low == -infinity ? -infinity : log_expected_excess(low);
      const double part = log_difference(log_expected_excess(high), below);
      logs[b] += part + std::log(deviation);
      if (slopes == nullptr)
        continue;
      const auto ratio = [part](double a) { return std::exp(std::min(a - part, 500.0)); };
      const bool open = low == -infinity;
      by_mean(b, m) =
          -(ratio(log_normal_cdf(high)) - (open ? 0 : ratio(log_normal_cdf(low)))) / deviation;
      by_deviation(b, m) =
          (ratio(log_normal_pdf(high)) - (open ? 0 : ratio(log_normal_pdf(low)))) / deviation;
    }
  }
  const double largest = logs.maxCoeff();
  const VectorXd shares = (logs.array() - largest).exp();
  const double total = shares.sum();
  if (slopes != nullptr) {
    for (Index m = 0; m < count; ++m) {
      slopes->by_means[static_cast<std::size_t>(m)] =
          VectorXd::Constant(1, shares.dot(by_mean.col(m)) / total);
      slopes->by_variance[m] =
          shares.dot(by_deviation.col(m)) / total / (2 * std::sqrt(variances[m]));
    }
  }
  return largest + std::log(total);
}

Acquisition::Place Acquisition::place(const VectorXd& point) const {
  Place place;
  for (const GpPosterior& objective : objectives_)
    place.push_back(objective.place(point));
  for (const Constraint& constraint : constraints_)
    place.push_back(constraint.posterior.place(point));
  return place;
}

VectorXd Acquisition::operator()(const MatrixXd& points, const Place* near) const {
  VectorXd values = VectorXd::Zero(points.rows());
  std::size_t next = 0;
  const auto predict = [&](const GpPosterior& posterior) {
    return near == nullptr ? posterior.predict(points) : posterior.predict(points, (*near)[next++]);
  };
  if (objectives_.size() == 1) {
    const GpPosterior::Batch batch = predict(objectives_[0]);
    for (Index i = 0; i < points.rows(); ++i)
      values[i] = one_objective(batch.means.row(i).transpose(), batch.variances[i], nullptr);
  } else if (!objectives_.empty()) {
    const auto count = static_cast<Index>(objectives_.size());
    MatrixXd means(points.rows(), count);
    MatrixXd variances(points.rows(), count);
    for (Index m = 0; m < count; ++m) {
      const GpPosterior::Batch batch = predict(objectives_[static_cast<std::size_t>(m)]);
      means.col(m) = batch.means.col(0);
      variances.col(m) = batch.variances;
    }
    for (Index i = 0; i < points.rows(); ++i)
      values[i] = many_objectives(means.row(i).transpose(), variances.row(i).transpose(), nullptr);
  }
  for (const Constraint& constraint : constraints_) {
    const GpPosterior::Batch batch = predict(constraint.posterior);
    for (Index i = 0; i < points.rows(); ++i)
      values[i] +=
          constraint.worth((constraint.limit - batch.means(i, 0)) / std::sqrt(batch.variances[i]))
              .first;
  }
  return values;
}

double Acquisition::operator()(const VectorXd& point, VectorXd& gradient) const {
  gradient = VectorXd::Zero(point.size());
  double value = 0;
  const auto count = static_cast<Index>(objectives_.size());
  if (count > 0) {
    std::vector<GpPosterior::At> at;
    for (const GpPosterior& objective : objectives_)
      at.push_back(objective.at(point));
    Slopes slopes{std::vector<VectorXd>(objectives_.size()), VectorXd::Zero(count)};
    if (count == 1) {
      value = one_objective(at[0].means, at[0].variance, &slopes);
    } else {
      VectorXd means(count);
      VectorXd variances(count);
      for (Index m = 0; m < count; ++m) {
        means[m] = at[static_cast<std::size_t>(m)].means[0];
        variances[m] = at[static_cast<std::size_t>(m)].variance;
      }
      value = many_objectives(means, variances, &slopes);
    }
    for (Index m = 0; m < count; ++m) {
      const auto i = static_cast<std::size_t>(m);
      gradient += objectives_[i].gradient(point, at[i], slopes.by_means[i], slopes.by_variance[m]);
    }
  }
  for (const Constraint& constraint : constraints_) {
    const GpPosterior::At at = constraint.posterior.at(point);
    const double deviation = std::sqrt(at.variance);
    const double z = (constraint.limit - at.means[0]) / deviation;
    const auto [worth, slope] = constraint.worth(z);
    value += worth;
    gradient += constraint.posterior.gradient(point, at, VectorXd::Constant(1, -slope / deviation),
                                              -slope * z / (2 * at.variance));
  }
  return value;
}

namespace {

/// The boxes of two objectives: a strip between neighbours of the front.
void add_strips(std::vector<VectorXd> front, const VectorXd& reference,
                std::vector<ImprovementBox>& boxes) {
  std::sort(front.begin(), front.end(),
            [](const VectorXd& a, const VectorXd& b) { return a[0] < b[0]; });
  double left = -infinity;
  double top = reference[1];
  for (const VectorXd& point : front) {
    if (point[1] >= top)
      continue;
    boxes.push_back({Eigen::Vector2d(left, -infinity), Eigen::Vector2d(point[0], top)});
    left = point[0];
    top = point[1];
  }
  boxes.push_back({Eigen::Vector2d(left, -infinity), Eigen::Vector2d(reference[0], top)});
}

}  // namespace

std::vector<ImprovementBox> improvement_boxes(const std::vector<VectorXd>& front,
                                              const VectorXd& reference) {
  std::vector<VectorXd> inside;
  for (const VectorXd& point : front)
    if ((point.array() < reference.array()).all())
      inside.push_back(point);
  std::vector<ImprovementBox> boxes;
  if (reference.size() == 1) {
    VectorXd upper = reference;
    for (const VectorXd& point : inside)
      upper = upper.cwiseMin(point);
    boxes.push_back({VectorXd::Constant(1, -infinity), upper});
    return boxes;
  }
  if (reference.size() == 2) {
    add_strips(inside, reference, boxes);
    return boxes;
  }
  // Three objectives: layers of the third; in each, the points at or below it matter.
  std::sort(inside.begin(), inside.end(),
            [](const VectorXd& a, const VectorXd& b) { return a[2] < b[2]; });
  for (std::size_t layer = 0; layer <= inside.size(); ++layer) {
    const double low = layer == 0 ? -infinity : inside[layer - 1][2];
    const double high = layer == inside.size() ? reference[2] : inside[layer][2];
    if (!(high > low))
      continue;
    std::vector<ImprovementBox> strips;
    add_strips({inside.begin(), inside.begin() + static_cast<std::ptrdiff_t>(layer)}, reference,
               strips);
    for (const ImprovementBox& strip : strips)
      boxes.push_back({Eigen::Vector3d(strip.lower[0], strip.lower[1], low),
                       Eigen::Vector3d(strip.upper[0], strip.upper[1], high)});
  }
  return boxes;
}

}  // namespace troupe::tune::detail
