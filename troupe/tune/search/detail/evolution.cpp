#include <troupe/tune/search/detail/evolution.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::tune::detail {
namespace {

using Crossover = NsgaOptions::Crossover;

/// Children outside of the box are made again so many times, then drawn back to its border.
constexpr int max_tries = 10;
constexpr double blx_reach = 0.5;
constexpr double polynomial_index = 20;
constexpr double undx_along = 0.5;
constexpr double undx_across = 0.35;

/// The numeric coordinates of the parents: one row a parent.
using Rows = std::vector<std::vector<double>>;

double simulated_binary(double u, double index) {
  return u <= 0.5 ? std::pow(2 * u, 1 / (index + 1)) : std::pow(1 / (2 * (1 - u)), 1 / (index + 1));
}

std::vector<double> binary_child(const Rows& p, double index, bool vast, Random& random) {
  std::vector<double> child(p[0].size());
  const bool first = random.chance(0.5);
  for (std::size_t j = 0; j < child.size(); ++j) {
    const double u = std::clamp(random.uniform(), 1e-12, 1 - 1e-12);
    const double spread =
        vast ? std::pow(1 / (2 * std::min(u, 1 - u)), 1 / (index + 1)) : simulated_binary(u, index);
    const double a = p[0][j];
    const double b = p[1][j];
    if (vast && !(u <= 0.5))
      child[j] = 0.5 * ((3 - spread) * a - (1 - spread) * b);
    else
      child[j] = 0.5 * ((1 + spread) * a + (1 - spread) * b);
    if (!first)
      child[j] = a + b - child[j];
  }
  return child;
}

std::vector<double> simplex_child(const Rows& p, Random& random) {
  const std::size_t d = p[0].size();
  const double expansion = std::sqrt(static_cast<double>(d) + 2);
  std::vector<double> child(d, 0.0);
  std::vector<double> draws;
  for (std::size_t k = 0; k + 1 < p.size(); ++k)
    draws.push_back(std::pow(random.uniform(), 1 / (static_cast<double>(k) + 1)));
  for (std::size_t j = 0; j < d; ++j) {
    double centre = 0;
    for (const auto& parent : p)
      centre += parent[j] / static_cast<double>(p.size());
    const auto corner = [&](std::size_t k) { return centre + expansion * (p[k][j] - centre); };
    double offset = 0;
    for (std::size_t k = 1; k < p.size(); ++k)
      offset = draws[k - 1] * (corner(k - 1) - corner(k) + offset);
    child[j] = corner(p.size() - 1) + offset;
  }
  return child;
}

std::vector<double> normal_child(const Rows& p, Random& random) {
  const std::size_t d = p[0].size();
  std::vector<double> along(d);
  double square = 0;
  double dot = 0;
  double third = 0;
  for (std::size_t j = 0; j < d; ++j) {
    along[j] = p[1][j] - p[0][j];
    square += along[j] * along[j];
    const double away = p[2][j] - p[0][j];
    dot += along[j] * away;
    third += away * away;
  }
  const double distance = std::sqrt(std::max(0.0, square > 0 ? third - dot * dot / square : third));
  std::vector<double> across(d);
  double overlap = 0;
  for (std::size_t j = 0; j < d; ++j) {
    across[j] = undx_across / std::sqrt(static_cast<double>(d)) * random.normal();
    overlap += across[j] * along[j];
  }
  const double step = undx_along * random.normal();
  std::vector<double> child(d);
  for (std::size_t j = 0; j < d; ++j) {
    const double orthogonal = across[j] - (square > 0 ? overlap / square * along[j] : 0);
    child[j] = (p[0][j] + p[1][j]) / 2 + step * along[j] + distance * orthogonal;
  }
  return child;
}

std::vector<double> box_child(const Rows& p, Random& random) {
  std::vector<double> child(p[0].size());
  for (std::size_t j = 0; j < child.size(); ++j) {
    const double low = std::min(p[0][j], p[1][j]);
    const double high = std::max(p[0][j], p[1][j]);
    const double reach = blx_reach * (high - low);
    child[j] = low - reach + random.uniform() * (high - low + 2 * reach);
  }
  return child;
}

std::vector<double> numeric_child(const Rows& p, const NsgaOptions& options, std::size_t objectives,
                                  Random& random) {
  // Deb's recommendation: nearer to the parents where a whole front is to be covered.
  const double index = objectives > 1 ? 20 : 2;
  switch (options.crossover) {
    case Crossover::blx_alpha:
      return box_child(p, random);
    case Crossover::sbx:
      return binary_child(p, index, false, random);
    case Crossover::vsbx:
      return binary_child(p, index, true, random);
    case Crossover::spx:
      return simplex_child(p, random);
    case Crossover::undx:
      return normal_child(p, random);
    case Crossover::uniform:
      break;
  }
  std::vector<double> child = p[0];
  for (std::size_t j = 0; j < child.size(); ++j)
    if (random.chance(options.swap_probability))
      child[j] = p[1][j];
  return child;
}

}  // namespace

std::size_t parents_of(Crossover crossover) {
  return crossover == Crossover::spx || crossover == Crossover::undx ? 3 : 2;
}

Point crossed(const Design& design, std::span<const Point* const> parents,
              const NsgaOptions& options, std::size_t objectives, Random& random) {
  Point child(design.size());
  std::vector<std::size_t> numeric;
  Rows rows(parents.size());
  for (std::size_t i = 0; i < design.size(); ++i) {
    // What a parent has not comes from one that has it.
    const auto owner = std::find_if(parents.begin(), parents.end(),
                                    [&](const Point* p) { return exists((*p)[i]); });
    const double fallback =
        owner != parents.end() ? (**owner)[i] : design.axes()[i].from_uniform(random.uniform());
    const auto coordinate = [&](const Point* p) { return exists((*p)[i]) ? (*p)[i] : fallback; };
    if (design.axes()[i].categorical()) {
      child[i] = coordinate(parents[random.chance(options.swap_probability) ? 1 : 0]);
      continue;
    }
    numeric.push_back(i);
    for (std::size_t k = 0; k < parents.size(); ++k)
      rows[k].push_back(coordinate(parents[k]));
  }
  std::vector<double> numbers;
  bool inside = numeric.empty();
  for (int attempt = 0; attempt < max_tries && !inside; ++attempt) {
    numbers = numeric_child(rows, options, objectives, random);
    inside = std::all_of(numbers.begin(), numbers.end(), [](double x) { return x >= 0 && x <= 1; });
  }
  for (std::size_t j = 0; j < numeric.size(); ++j)
    child[numeric[j]] = std::clamp(numbers[j], 0.0, 1.0);
  return child;
}

void mutate(const Design& design, Point& point, const NsgaOptions& options, Random& random) {
  const double probability = options.mutation_probability > 0
                                 ? options.mutation_probability
                                 : 1 / std::max(1.0, static_cast<double>(design.size()));
  for (std::size_t i = 0; i < point.size(); ++i) {
    const Axis& axis = design.axes()[i];
    if (!random.chance(probability))
      continue;
    const double u = random.uniform();
    if (axis.categorical() || options.mutation == NsgaOptions::Mutation::resample ||
        !exists(point[i])) {
      point[i] = axis.from_uniform(u);
      continue;
    }
    // Deb and Agrawal 1999: the distribution is cut off at the ends of the range.
    const double power = 1 / (polynomial_index + 1);
    const double x = point[i];
    const double room = u < 0.5 ? 1 - x : x;
    const double cut = std::pow(room, polynomial_index + 1);
    const double step = u < 0.5 ? std::pow(2 * u + (1 - 2 * u) * cut, power) - 1
                                : 1 - std::pow(2 * (1 - u) + (2 * u - 1) * cut, power);
    point[i] = std::clamp(x + step, 0.0, 1.0);
  }
}

}  // namespace troupe::tune::detail
