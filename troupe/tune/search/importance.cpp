#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/importance.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

namespace troupe::tune {
namespace {

using detail::Axis;

/// Cells that a numeric axis is divided into.
constexpr std::size_t max_cells = 50;

struct Sample {
  detail::Point point;
  double score = 0;  ///< more is better
};

/// Has each value a cell of its own?
bool by_value(const Axis& axis) {
  return axis.categorical() || (!axis.continuous() && axis.count() <= max_cells);
}

std::size_t cells_of(const Axis& axis) {
  return by_value(axis) ? static_cast<std::size_t>(axis.count()) : max_cells;
}

std::size_t cell_of(const Axis& axis, double coordinate, std::size_t cells) {
  if (by_value(axis))
    return static_cast<std::size_t>(axis.index(coordinate));
  const double place = coordinate * static_cast<double>(cells);
  return std::min(static_cast<std::size_t>(std::max(place, 0.0)), cells - 1);
}

double cumulative(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

/// Scott's bandwidth in cells, with the spread that outliers do not disturb.
double bandwidth(std::vector<std::size_t> places) {
  const auto n = static_cast<double>(places.size());
  std::sort(places.begin(), places.end());
  const double mean =
      std::accumulate(places.begin(), places.end(), 0.0,
                      [](double sum, std::size_t p) { return sum + static_cast<double>(p); }) /
      n;
  double variance = 0;
  for (const std::size_t place : places)
    variance += std::pow(static_cast<double>(place) - mean, 2) / n;
  const auto quartile = [&](double share) {
    return static_cast<double>(places[static_cast<std::size_t>(share * (n - 1))]);
  };
  const double spread = (quartile(0.75) - quartile(0.25)) / 1.34;
  const double deviation = std::sqrt(variance);
  const double narrow = spread > 0 ? std::min(deviation, spread) : deviation;
  return std::max(0.5, 1.059 * narrow * std::pow(n, -0.2));
}

/// The share of each cell: kernels around the places, and one uniform one.
std::vector<double> density(const std::vector<std::size_t>& places, std::size_t cells,
                            bool categorical) {
  const double weight = 1 / (static_cast<double>(places.size()) + 1);
  std::vector<double> shares(cells, weight / static_cast<double>(cells));
  if (categorical) {
    for (const std::size_t place : places)
      shares[place] += weight;
    return shares;
  }
  std::vector<std::size_t> counts(cells);
  for (const std::size_t place : places)
    ++counts[place];
  const double width = places.empty() ? 1 : bandwidth(places);
  const auto last = static_cast<double>(cells);
  for (std::size_t center = 0; center < cells; ++center) {
    if (counts[center] == 0)
      continue;
    const double mu = static_cast<double>(center) + 0.5;
    const double inside = cumulative((last - mu) / width) - cumulative(-mu / width);
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const double from = (static_cast<double>(cell) - mu) / width;
      const double mass = cumulative(from + 1 / width) - cumulative(from);
      shares[cell] += weight * static_cast<double>(counts[center]) * mass / inside;
    }
  }
  return shares;
}

/// Pearson's divergence of the best samples from all of them, on one axis.
double divergence(const Axis& axis, std::size_t number, const std::vector<Sample>& samples,
                  std::size_t top) {
  const std::size_t cells = cells_of(axis);
  std::vector<std::size_t> best;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double coordinate = samples[i].point[number];
    if (!detail::exists(coordinate))
      continue;
    all.push_back(cell_of(axis, coordinate, cells));
    if (i < top)
      best.push_back(all.back());
  }
  if (best.empty())
    return 0;
  const auto p = density(best, cells, axis.categorical());
  const auto q = density(all, cells, axis.categorical());
  double sum = 0;
  for (std::size_t cell = 0; cell < cells; ++cell)
    sum += q[cell] * std::pow(p[cell] / q[cell] - 1, 2);
  return sum * static_cast<double>(all.size()) / static_cast<double>(samples.size());
}

std::vector<Sample> samples_of(const detail::Design& design,
                               const std::vector<KnownResult>& results,
                               const Objective& objective) {
  std::vector<Sample> samples;
  for (const KnownResult& result : results) {
    const auto value = metric_number(result.metrics, objective.metric);
    auto point = design.encode(result.config);
    if (result.ending != Ending::failed && value && *value == *value && point)
      samples.push_back({std::move(*point), score_of(*value, objective.mode)});
  }
  std::stable_sort(samples.begin(), samples.end(),
                   [](const Sample& a, const Sample& b) { return a.score > b.score; });
  return samples;
}

}  // namespace

Result<std::vector<ParameterImportance>> parameter_importance(
    const ParamSpace& space, const std::vector<KnownResult>& results, const Objective& objective,
    const ImportanceOptions& options) {
  TROUPE_RETURN_IF_ERROR(space.check());
  if (!(options.top_share > 0 && options.top_share < 1))
    return Error(ErrorCode::invalid_argument,
                 "ImportanceOptions.top_share must lie between 0 and 1, both excluded");
  const detail::Design design(space);
  const auto samples = samples_of(design, results, objective);
  if (samples.size() < 2)
    return Error(ErrorCode::invalid_argument,
                 "the importance of parameters needs at least 2 results with a number for '" +
                     objective.metric + "' that fit the space; there are " +
                     std::to_string(samples.size()) + " among " + std::to_string(results.size()));
  const auto share = std::ceil(options.top_share * static_cast<double>(samples.size()));
  auto top = std::clamp<std::size_t>(static_cast<std::size_t>(share), 2, samples.size());
  // Which of equals came first says nothing about the parameters.
  while (top < samples.size() && samples[top].score == samples[top - 1].score)
    ++top;
  std::vector<ParameterImportance> all;
  double sum = 0;
  for (std::size_t i = 0; i < design.size(); ++i) {
    const Axis& axis = design.axes()[i];
    all.push_back({axis.path(), divergence(axis, i, samples, top)});
    sum += all.back().importance;
  }
  for (ParameterImportance& each : all)
    each.importance = sum > 0 ? each.importance / sum : 0;
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.importance > b.importance; });
  return all;
}

}  // namespace troupe::tune
