#include <troupe/tune/search/detail/cmaes_searcher.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

// The regression of CMA-ES: after N. Hansen, "A global surrogate assisted CMA-ES", GECCO 2019, but
// with predictions of what was left out, since a regression always knows what it was fitted to.

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Kendall's rank correlation that makes a regression trustworthy, over so many last results.
constexpr double trusted_correlation = 0.6;
constexpr Index judged = 15;
constexpr double largest_weight = 20;

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

}  // namespace

VectorXd CmaEsSearcher::indicators(const Point& point) const {
  VectorXd result = VectorXd::Zero(static_cast<Index>(indicator_count_));
  Index first = 0;
  for (const std::size_t axis : categorical_) {
    if (exists(point[axis]))
      result[first + static_cast<Index>(point[axis])] = 1;
    first += static_cast<Index>(design().axes()[axis].count());
  }
  return result;
}

const CmaEsSearcher::Surrogate& CmaEsSearcher::surrogate() const {
  Surrogate& s = surrogate_;
  const std::size_t results = history().over();
  if (s.results != results || s.run != schedule_.run || s.generation != schedule_.generation) {
    s = Surrogate{results, schedule_.run, schedule_.generation};
    if (options_.surrogate)
      fit(s);
  }
  if (s.model)  // candidates may have been added
    for (std::size_t i = s.predictions.size(); i < candidates_.size(); ++i) {
      const Point& point = candidates_[i].point;
      const VectorXd z = cma_ ? VectorXd(cma_->local(numeric(point))) : VectorXd();
      s.predictions.push_back(s.offset + s.range * s.model->predict(z, indicators(point)));
    }
  return s;
}

void CmaEsSearcher::fit(Surrogate& made) const {
  const std::size_t wanted =
      std::max(QuadraticModel::useful_points(numeric_.size(), indicator_count_),
               static_cast<std::size_t>(judged) + 5);
  std::vector<const Observation*> last;
  const std::vector<Observation>& all = history().all();
  for (auto it = all.rbegin(); it != all.rend() && last.size() < wanted; ++it)
    if (it->over())
      last.push_back(&*it);
  const auto count = static_cast<Index>(last.size());
  if (count < judged)
    return;
  MatrixXd coordinates(static_cast<Index>(numeric_.size()), count);
  MatrixXd extra(static_cast<Index>(indicator_count_), count);
  VectorXd values(count);
  for (Index i = 0; i < count; ++i) {
    const Observation& o = *last[static_cast<std::size_t>(i)];
    coordinates.col(i) = numeric(o.point);
    extra.col(i) = indicators(o.point);
    values[i] = is_comparable(o) ? o.losses[0] : infinity;
  }
  if (cma_)
    coordinates = cma_->local(std::move(coordinates));
  made.offset = values.minCoeff();
  double worst = made.offset;
  for (const double value : values)
    if (value < infinity)
      worst = std::max(worst, value);
  made.range = worst - made.offset;
  if (!(made.range > 0) || !std::isfinite(made.range))
    return;
  // What failed is as bad as the worst: where that is no quadratic, it shows in the correlation.
  values = ((values.array() - made.offset) / made.range).min(1.0);
  made.model = QuadraticModel::fit(coordinates, extra, values, weights_by_rank(values));
  if (!made.model)
    return;
  VectorXd predicted(judged);
  for (Index i = 0; i < judged; ++i)
    predicted[i] = made.model->left_out(i);
  made.trusted = correlation(values.head(judged), predicted) >= trusted_correlation;
}

std::optional<VectorXd> CmaEsSearcher::minimum() const {
  const auto z = surrogate_.model ? surrogate_.model->minimiser() : std::nullopt;
  if (!z)
    return std::nullopt;
  return cma_->global(*z);
}

}  // namespace troupe::tune::detail
