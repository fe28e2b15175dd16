#include <troupe/tune/search/detail/kernel_density.hpp>
#include <troupe/tune/search/detail/normal.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace troupe::tune::detail {
namespace {

double deviation(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values)
    mean += value / n;
  double variance = 0;
  for (const double value : values)
    variance += (value - mean) * (value - mean) / n;
  return std::sqrt(variance);
}

double disagreement(const std::vector<double>& categories) {
  std::map<double, double> counts;
  for (const double category : categories)
    ++counts[category];
  const auto n = static_cast<double>(categories.size());
  double equal = 0;
  for (const auto& [category, count] : counts)
    equal += count / n * count / n;
  return std::sqrt(std::max(0.0, 1 - equal));
}

}  // namespace

KernelDensity::KernelDensity(std::span<const Axis> axes, std::vector<Point> points,
                             double min_bandwidth)
    : axes_(axes), points_(std::move(points)) {
  const double exponent = -1 / (4 + static_cast<double>(axes_.size()));
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    std::vector<double> values;
    for (const Point& point : points_)
      if (exists(point[a]))
        values.push_back(point[a]);
    const Axis& axis = axes_[a];
    // A single value says nothing about the width: then as if it were uniformly distributed.
    double spread = 0.3;
    if (values.size() > 1)
      spread = axis.categorical() ? disagreement(values) : deviation(values);
    const double rule =
        1.06 * spread *
        std::pow(static_cast<double>(std::max<std::size_t>(1, values.size())), exponent);
    const auto choices = static_cast<double>(axis.count());
    const double widest = axis.categorical() ? (choices - 1) / choices : 1;  // there it is uniform
    const double h = std::min(std::max(rule, min_bandwidth), widest);
    bandwidths_.push_back(h);
    hit_.push_back(axis.categorical() ? std::log(1 - h) : -std::log(h) - ln_sqrt_2pi);
    miss_.push_back(axis.categorical() ? std::log(h / (choices - 1)) : 0);
  }
}

double KernelDensity::log_density(const Point& point) const {
  std::vector<double> terms;
  terms.reserve(points_.size());
  for (const Point& centre : points_) {
    double term = 0;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      if (!exists(point[a]))
        continue;
      if (!axes_[a].categorical()) {
        const double z = exists(centre[a]) ? (point[a] - centre[a]) / bandwidths_[a] : 0;
        term += exists(centre[a]) ? hit_[a] - 0.5 * z * z : 0;
      } else if (exists(centre[a])) {
        term += centre[a] == point[a] ? hit_[a] : miss_[a];
      } else {
        term -= std::log(static_cast<double>(axes_[a].count()));
      }
    }
    terms.push_back(term);
  }
  return log_sum_exp(terms) - std::log(static_cast<double>(points_.size()));
}

Point KernelDensity::sample(Random& random, double factor) const {
  Point point = random.pick(points_);
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const double u = random.uniform();  // drawn for every axis, whether it is needed or not
    const bool keep = random.uniform() < 1 - bandwidths_[a];
    if (!exists(point[a])) {
      point[a] = axes_[a].from_uniform(u);
    } else if (axes_[a].categorical()) {
      point[a] = keep ? point[a] : axes_[a].from_uniform(u);
    } else {
      const double width = bandwidths_[a] * factor;
      const double z = truncated_normal_quantile(u, -point[a] / width, (1 - point[a]) / width);
      point[a] = axes_[a].snap(point[a] + z * width);
    }
  }
  return point;
}

}  // namespace troupe::tune::detail
