#include <troupe/tune/search/detail/pareto.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace troupe::tune::detail {
namespace {

double clean(double loss) {
  return std::isnan(loss) ? std::numeric_limits<double>::infinity() : loss;
}

std::vector<std::size_t> all_indices(std::size_t count) {
  std::vector<std::size_t> result(count);
  std::iota(result.begin(), result.end(), std::size_t{0});
  return result;
}

bool lexicographically_less(const Losses& a, const Losses& b) {
  for (std::size_t m = 0; m < a.size(); ++m)
    if (clean(a[m]) != clean(b[m]))
      return clean(a[m]) < clean(b[m]);
  return false;
}

/// Ranks by efficient non-dominated sort (Zhang et al. 2015): in lexicographic order a point can
/// only be dominated by earlier ones, and if no member of front k dominates it, none of a later
/// front does. Returns the number of ranks.
std::uint32_t rank_points(LossTable points, std::vector<std::size_t> order,
                          std::vector<std::uint32_t>& ranks) {
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return lexicographically_less(points[a], points[b]);
  });
  std::vector<std::vector<std::size_t>> fronts;
  const auto beaten_by = [&](const std::vector<std::size_t>& front, const Losses& point) {
    if (point.size() <= 2)  // the last member has the least second loss of its front
      return dominates(points[front.back()], point);
    return std::any_of(front.rbegin(), front.rend(),
                       [&](std::size_t member) { return dominates(points[member], point); });
  };
  for (const std::size_t i : order) {
    const auto place = std::partition_point(
        fronts.begin(), fronts.end(),
        [&](const std::vector<std::size_t>& f) { return beaten_by(f, points[i]); });
    ranks[i] = static_cast<std::uint32_t>(place - fronts.begin());
    if (place == fronts.end())
      fronts.push_back({i});
    else
      place->push_back(i);
  }
  return static_cast<std::uint32_t>(fronts.size());
}

}  // namespace

bool dominates(std::span<const double> a, std::span<const double> b) {
  bool better = false;
  for (std::size_t m = 0; m < a.size(); ++m) {
    const double mine = clean(a[m]);
    const double theirs = clean(b[m]);
    if (mine > theirs)
      return false;
    better = better || mine < theirs;
  }
  return better;
}

std::vector<std::uint32_t> pareto_ranks(LossTable points, std::span<const double> violations) {
  std::vector<std::uint32_t> ranks(points.size());
  std::vector<std::size_t> feasible;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < points.size(); ++i)
    (violations.empty() || violations[i] <= 0 ? feasible : others).push_back(i);
  std::uint32_t rank = rank_points(points, std::move(feasible), ranks);
  std::stable_sort(others.begin(), others.end(), [&](std::size_t a, std::size_t b) {
    return clean(violations[a]) < clean(violations[b]);
  });
  for (std::size_t k = 0; k < others.size(); ++k) {
    if (k > 0 && clean(violations[others[k]]) != clean(violations[others[k - 1]]))
      ++rank;
    ranks[others[k]] = rank;
  }
  return ranks;
}

std::vector<std::size_t> pareto_front(LossTable points, std::span<const double> violations) {
  const std::vector<std::uint32_t> ranks = pareto_ranks(points, violations);
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i] == 0)
      front.push_back(i);
  return front;
}

std::vector<double> crowding_distances(LossTable points) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> result(points.size());
  std::vector<std::size_t> order = all_indices(points.size());
  for (std::size_t m = 0; !points.empty() && m < points[0].size(); ++m) {
    const auto loss = [&](std::size_t k) { return clean(points[order[k]][m]); };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return clean(points[a][m]) < clean(points[b][m]);
    });
    const std::size_t last = order.size() - 1;
    if (loss(0) == loss(last))
      continue;
    // The range of what is finite: one infinite loss must not make all the others neighbours.
    double low = infinity;
    double high = -infinity;
    for (std::size_t k = 0; k <= last; ++k)
      if (std::isfinite(loss(k))) {
        low = std::min(low, loss(k));
        high = std::max(high, loss(k));
      }
    // Halves, so that a range beyond the largest double stays finite.
    const double range = high > low ? high / 2 - low / 2 : 1;
    result[order[0]] = infinity;
    result[order[last]] = infinity;
    for (std::size_t k = 1; k < last; ++k)
      if (loss(k - 1) != loss(k + 1))
        result[order[k]] += (loss(k + 1) / 2 - loss(k - 1) / 2) / range;
  }
  return result;
}

}  // namespace troupe::tune::detail
