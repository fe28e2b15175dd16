#include <troupe/tune/search/detail/evolution.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace troupe::tune::detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The points of whole ranks that fit, and those of the first rank that does not.
struct Ranked {
  std::vector<std::size_t> safe{};
  std::vector<std::size_t> last{};
};

Ranked ranked(LossTable points, std::span<const double> violations, std::size_t count) {
  const std::vector<std::uint32_t> ranks = pareto_ranks(points, violations);
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; });
  Ranked result;
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && ranks[order[end]] == ranks[order[i]])
      ++end;
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(i);
    const auto past = order.begin() + static_cast<std::ptrdiff_t>(end);
    if (end > count) {
      result.last.assign(first, past);
      break;
    }
    result.safe.insert(result.safe.end(), first, past);
    i = end;
  }
  return result;
}

/// Finite losses from the ideal point (0) to the worst (1); others are as bad as twice the worst.
std::vector<Losses> scaled(LossTable points, const std::vector<std::size_t>& members) {
  std::vector<Losses> result;
  for (const std::size_t i : members)
    result.push_back(points[i]);
  for (std::size_t m = 0; !result.empty() && m < result[0].size(); ++m) {
    double low = infinity;
    double high = -infinity;
    for (const Losses& row : result)
      if (std::isfinite(row[m])) {
        low = std::min(low, row[m]);
        high = std::max(high, row[m]);
      }
    const double range = high > low ? high / 2 - low / 2 : 1;
    for (Losses& row : result)
      row[m] = row[m] == -infinity ? 0 : std::isfinite(row[m]) ? (row[m] / 2 - low / 2) / range : 2;
  }
  return result;
}

/// Where the plane through the extreme points of each objective cuts its axis; 1 where there is no
/// such plane.
Losses intercepts(const std::vector<Losses>& points) {
  const std::size_t size = points[0].size();
  std::vector<Losses> extremes;
  for (std::size_t m = 0; m < size; ++m) {
    const auto along = [&](const Losses& p) {
      double worst = 0;
      for (std::size_t k = 0; k < size; ++k)
        worst = std::max(worst, p[k] * (k == m ? 1.0 : 1e6));
      return worst;
    };
    extremes.push_back(
        *std::min_element(points.begin(), points.end(),
                          [&](const Losses& a, const Losses& b) { return along(a) < along(b); }));
  }
  // Gaussian elimination of extremes * x = 1; the intercepts are 1 / x.
  Losses ones(size, 1.0);
  for (std::size_t c = 0; c < size; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < size; ++r)
      if (std::fabs(extremes[r][c]) > std::fabs(extremes[pivot][c]))
        pivot = r;
    if (std::fabs(extremes[pivot][c]) < 1e-9)
      return Losses(size, 1.0);
    std::swap(extremes[c], extremes[pivot]);
    std::swap(ones[c], ones[pivot]);
    for (std::size_t r = 0; r < size; ++r) {
      if (r == c)
        continue;
      const double factor = extremes[r][c] / extremes[c][c];
      for (std::size_t k = c; k < size; ++k)
        extremes[r][k] -= factor * extremes[c][k];
      ones[r] -= factor * ones[c];
    }
  }
  Losses result(size);
  for (std::size_t c = 0; c < size; ++c) {
    result[c] = extremes[c][c] / ones[c];
    if (!(result[c] > 1e-6 && result[c] < 1e6))
      return Losses(size, 1.0);
  }
  return result;
}

struct Niche {
  std::size_t direction = 0;
  double distance = 0;
};

/// The nearest direction, as the distance of the point from the line through it.
Niche niche_of(const Losses& point, const std::vector<std::vector<double>>& directions) {
  Niche best{0, infinity};
  for (std::size_t i = 0; i < directions.size(); ++i) {
    double dot = 0;
    double length = 0;
    double square = 0;
    for (std::size_t m = 0; m < point.size(); ++m) {
      dot += point[m] * directions[i][m];
      length += directions[i][m] * directions[i][m];
      square += point[m] * point[m];
    }
    const double distance = std::max(0.0, square - dot * dot / length);
    if (distance < best.distance)
      best = {i, distance};
  }
  return best;
}

void add_references(std::vector<std::vector<double>>& all, std::vector<double>& point,
                    std::size_t axis, std::size_t left, std::size_t divisions) {
  if (axis + 1 == point.size()) {
    point[axis] = static_cast<double>(left) / static_cast<double>(divisions);
    all.push_back(point);
    return;
  }
  for (std::size_t k = 0; k <= left; ++k) {
    point[axis] = static_cast<double>(k) / static_cast<double>(divisions);
    add_references(all, point, axis + 1, left - k, divisions);
  }
}

}  // namespace

double reference_count(std::size_t objectives, std::size_t divisions) {
  double count = 1;  // binomial of objectives - 1 + divisions over divisions
  for (std::size_t k = 1; k <= divisions; ++k)
    count *= static_cast<double>(objectives - 1 + k) / static_cast<double>(k);
  return count;
}

std::vector<std::size_t> survivors_by_crowding(LossTable points, std::span<const double> violations,
                                               std::size_t count) {
  Ranked parts = ranked(points, violations, count);
  std::vector<Losses> front;
  for (const std::size_t i : parts.last)
    front.push_back(points[i]);
  const std::vector<double> distances = crowding_distances(front);
  std::vector<std::size_t> order(front.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return distances[a] > distances[b]; });
  for (std::size_t k = 0; k < order.size() && parts.safe.size() < count; ++k)
    parts.safe.push_back(parts.last[order[k]]);
  return parts.safe;
}

std::vector<std::size_t> survivors_by_niche(LossTable points, std::span<const double> violations,
                                            std::size_t count, std::size_t divisions,
                                            Random& random) {
  Ranked parts = ranked(points, violations, count);
  if (parts.last.empty())
    return parts.safe;
  std::vector<std::size_t> members = parts.safe;
  members.insert(members.end(), parts.last.begin(), parts.last.end());
  std::vector<Losses> normal = scaled(points, members);
  const Losses cuts = intercepts(normal);
  const auto directions = reference_points(cuts.size(), divisions);
  std::vector<std::size_t> taken(directions.size());
  std::vector<std::vector<std::pair<double, std::size_t>>> waiting(directions.size());
  for (std::size_t k = 0; k < members.size(); ++k) {
    for (std::size_t m = 0; m < cuts.size(); ++m)
      normal[k][m] /= cuts[m];
    const Niche niche = niche_of(normal[k], directions);
    if (k < parts.safe.size())
      ++taken[niche.direction];
    else
      waiting[niche.direction].emplace_back(niche.distance, members[k]);
  }
  for (auto& niche : waiting)
    std::sort(niche.begin(), niche.end());
  while (parts.safe.size() < count) {
    // The emptiest direction that somebody waits for, by chance among several.
    std::vector<std::size_t> emptiest;
    for (std::size_t i = 0; i < directions.size(); ++i) {
      if (waiting[i].empty() || (!emptiest.empty() && taken[i] > taken[emptiest[0]]))
        continue;
      if (!emptiest.empty() && taken[i] < taken[emptiest[0]])
        emptiest.clear();
      emptiest.push_back(i);
    }
    const std::size_t chosen = random.pick(emptiest);
    auto& niche = waiting[chosen];
    // The first of a direction is the nearest to it, later ones come by chance.
    const auto place = taken[chosen] == 0 ? 0 : random.below(niche.size());
    parts.safe.push_back(niche[static_cast<std::size_t>(place)].second);
    niche.erase(niche.begin() + static_cast<std::ptrdiff_t>(place));
    ++taken[chosen];
  }
  return parts.safe;
}

std::vector<std::vector<double>> reference_points(std::size_t objectives, std::size_t divisions) {
  std::vector<std::vector<double>> all;
  std::vector<double> point(objectives);
  add_references(all, point, 0, divisions, divisions);
  return all;
}

}  // namespace troupe::tune::detail
