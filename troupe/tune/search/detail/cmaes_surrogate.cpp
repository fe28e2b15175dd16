#include <troupe/tune/search/detail/cmaes_surrogate.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Kendall's rank correlation that makes a regression trustworthy, over so many last results.
constexpr double trusted_correlation = 0.6;
constexpr Index judged = 15;
constexpr double largest_weight = 20;
/// Of so many times the results that it needs, the last ones, it takes the nearest.
constexpr std::size_t looked_at = 3;

/// From 20 for the best value to 1 for the worst.
VectorXd weights_by_rank(const VectorXd& values) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return values[a] < values[b]; });
  VectorXd weights(values.size());
  const double step =
      (largest_weight - 1) / static_cast<double>(std::max<Index>(1, values.size() - 1));
  for (std::size_t rank = 0; rank < order.size(); ++rank)
    weights[order[rank]] = largest_weight - step * static_cast<double>(rank);
  return weights;
}

/// Has it a loss that can be set against those of others?
bool is_comparable(const Observation& o) {
  return o.state == Observation::State::complete && o.feasible() && std::isfinite(o.losses[0]);
}

double correlation(const VectorXd& values, const VectorXd& predictions) {
  int agreed = 0;
  int pairs = 0;
  for (Index i = 0; i < values.size(); ++i)
    for (Index j = 0; j < i; ++j) {
      const double product = (values[i] - values[j]) * (predictions[i] - predictions[j]);
      agreed += product > 0 ? 1 : product < 0 ? -1 : 0;
      ++pairs;
    }
  return pairs > 0 ? static_cast<double>(agreed) / pairs : 0;
}

void set_indicators(const CmaEsProblem& problem, const Point& point,
                    Eigen::Ref<VectorXd> indicators) {
  indicators.setZero();
  Index first = 0;
  for (const std::size_t axis : problem.axes.categorical) {
    if (exists(point[axis]))
      indicators[first + static_cast<Index>(point[axis])] = 1;
    first += static_cast<Index>(problem.design.axes()[axis].count());
  }
}

/// Points as a regression sees them, one a column.
struct Columns {
  MatrixXd coordinates;  ///< along the axes of the distribution, in units of its deviations
  MatrixXd indicators;

  Columns(const CmaEsProblem& problem, std::size_t points)
      : coordinates(static_cast<Index>(problem.axes.numeric.size()), static_cast<Index>(points)),
        indicators(static_cast<Index>(problem.axes.indicators), static_cast<Index>(points)) {}
  void set(const CmaEsProblem& problem, const CmaEsGenerations& generations, std::size_t column,
           const Point& point) {
    const auto i = static_cast<Index>(column);
    generations.numeric(problem, point, coordinates.col(i));
    set_indicators(problem, point, indicators.col(i));
  }
  void finish(const CmaEsGenerations& generations) {
    if (generations.distribution())
      coordinates = generations.distribution()->local(std::move(coordinates));
  }
};

/// The results nearest to the mean among the last ones, the last one first.
std::vector<const Observation*> nearest(const CmaEsProblem& problem,
                                        const CmaEsGenerations& generations, std::size_t count) {
  std::vector<std::pair<double, const Observation*>> last;
  last.reserve(looked_at * count);
  const std::vector<Observation>& all = problem.history.all();
  for (auto it = all.rbegin(); it != all.rend() && last.size() < looked_at * count; ++it)
    if (it->over())
      last.emplace_back(generations.distance(problem, it->point), &*it);
  if (last.size() > count) {
    const auto middle = last.begin() + static_cast<std::ptrdiff_t>(count);
    const auto later = [](const auto& a, const auto& b) { return a.second > b.second; };
    std::nth_element(last.begin(), middle, last.end(), [&](const auto& a, const auto& b) {
      return a.first < b.first || (a.first == b.first && later(a, b));
    });
    last.erase(middle, last.end());
    std::sort(last.begin(), last.end(), later);
  }
  std::vector<const Observation*> chosen;
  chosen.reserve(last.size());
  for (const auto& [distance, observation] : last)
    chosen.push_back(observation);
  return chosen;
}

}  // namespace

std::optional<CmaEsSurrogate> CmaEsSurrogate::fit(const CmaEsProblem& problem,
                                                  const CmaEsGenerations& generations) {
  const std::size_t useful =
      QuadraticModel::useful_points(problem.axes.numeric.size(), problem.axes.indicators);
  const std::size_t wanted = std::max(useful, static_cast<std::size_t>(judged) + 5);
  if (useful == 0 || problem.history.over() < static_cast<std::size_t>(judged))
    return std::nullopt;
  const std::vector<const Observation*> results = nearest(problem, generations, wanted);
  Columns columns(problem, results.size());
  VectorXd values(static_cast<Index>(results.size()));
  for (std::size_t i = 0; i < results.size(); ++i) {
    columns.set(problem, generations, i, results[i]->point);
    values[static_cast<Index>(i)] = is_comparable(*results[i]) ? results[i]->losses[0] : infinity;
  }
  columns.finish(generations);
  CmaEsSurrogate made;
  made.offset_ = values.minCoeff();
  double worst = made.offset_;
  for (const double value : values)
    if (value < infinity)
      worst = std::max(worst, value);
  made.range_ = worst - made.offset_;
  if (!(made.range_ > 0) || !std::isfinite(made.range_))
    return std::nullopt;
  // What failed is as bad as the worst: where that is no quadratic, it shows in the correlation.
  values = ((values.array() - made.offset_) / made.range_).min(1.0);
  made.model_ = QuadraticModel::fit(columns.coordinates, columns.indicators, values,
                                    weights_by_rank(values), judged);
  if (!made.model_)
    return std::nullopt;
  made.trusted_ = correlation(values.head(judged), made.model_->left_out()) >= trusted_correlation;
  return made;
}

std::vector<double> CmaEsSurrogate::predict(const CmaEsProblem& problem,
                                            const CmaEsGenerations& generations,
                                            std::span<const Point* const> points) const {
  Columns columns(problem, points.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    columns.set(problem, generations, i, *points[i]);
  columns.finish(generations);
  std::vector<double> losses;
  for (const double value : model_->predict(columns.coordinates, columns.indicators))
    losses.push_back(offset_ + range_ * value);
  return losses;
}

std::optional<Point> CmaEsSurrogate::minimum(const CmaEsProblem& problem,
                                             const CmaEsGenerations& generations,
                                             const CmaEsGenerations& next) const {
  const auto local = generations.distribution() ? model_->minimiser() : std::nullopt;
  if (!local)
    return std::nullopt;
  const Cma& cma = *next.distribution();
  VectorXd x = generations.distribution()->global(*local);
  const VectorXd step = cma.local(x);
  if (const double length = step.norm(); length > cma.likely_distance())
    x = cma.global(step * (cma.likely_distance() / length));
  x = x.cwiseMax(0).cwiseMin(1);
  Point point = next.point(problem, x);
  if (!problem.design.allowed(point))
    return std::nullopt;
  return point;
}

}  // namespace troupe::tune::detail
