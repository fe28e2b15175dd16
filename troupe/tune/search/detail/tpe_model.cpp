#include <troupe/tune/search/detail/failure_map.hpp>
#include <troupe/tune/search/detail/tpe_model.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

namespace troupe::tune::detail {
namespace {

using State = Observation::State;

/// Points that differ by less on every axis are the same.
constexpr double same = 1e-6;
/// Rounds of new candidates, and of those how many are looked at, before the model gives up.
constexpr int max_rounds = 3;
constexpr std::size_t max_looks = 100;
/// What a running trial weighs as a local liar.
constexpr double liar_weight = 0.3;

/// By how much more failed trials count than usually: rises with each trial that fails and falls
/// with each that does not, 1 to 16.
double failure_factor(const std::vector<Observation>& all) {
  constexpr double up = 0.6;
  constexpr double down = 0.1;
  constexpr double highest = 4;
  double caution = 0;
  for (const Observation& o : all)
    if (o.state == State::failed)
      caution = std::min(highest, caution + up);
    else if (o.over())
      caution = std::max(0.0, caution - down);
  return std::exp2(caution);
}

}  // namespace

std::vector<double> age_weights(std::size_t count) {
  std::vector<double> weights(count, 1.0);
  if (count < 26)
    return weights;
  const std::size_t old = count - 25;
  const double first = 1 / static_cast<double>(count);
  const double step = old > 1 ? (1 - first) / static_cast<double>(old - 1) : 0;
  for (std::size_t i = 0; i < old; ++i)
    weights[i] = first + step * static_cast<double>(i);
  return weights;
}

std::optional<Point> TpeModel::propose(const Design& design, const History& history,
                                       Random random) {
  read(design, history);
  const std::vector<Observation>& all = history.all();
  const auto known =
      static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const Observation& o) {
        return o.state == State::complete || o.state == State::pruned;
      }));
  if (known < std::max<std::size_t>(1, options_.startup_trials))
    return std::nullopt;
  const bool several =
      std::any_of(all.begin(), all.end(), [](const Observation& o) { return o.losses.size() > 1; });
  const auto share = static_cast<std::size_t>(
      std::ceil(options_.good_fraction * static_cast<double>(known) - 1e-9));
  const std::size_t good = several ? share : std::min<std::size_t>(share, options_.max_good);
  TpeSplit split = splitter_.split(all, good, options_.constant_liar, options_.failure_weight > 0);
  split.failed_weight = options_.failure_weight * failure_factor(all);
  const std::vector<Block> parts = blocks(design.size(), several, history);

  const auto cells = design.cells();
  const bool all_tried = cells && history.distinct() >= *cells;
  // Densities are smooth and the edge of what fails is not: they promise most beyond it. The
  // nearest trial knows better.
  const FailureMap failures(design, history);
  const bool careful = options_.failure_weight > 0;
  for (int round = 0; round < max_rounds; ++round) {
    Point base(design.size());
    for (std::size_t a = 0; a < design.size(); ++a)
      base[a] = design.axes()[a].from_uniform(random.uniform());
    std::vector<Ranking> rankings;
    for (const Block& block : parts)
      rankings.push_back(rank(design, block, split, random));
    for (const Ranking& ranking : rankings)
      put(ranking, 0, base);
    // The best of all blocks together; then one block after the other takes its next best.
    const std::size_t looks = std::min(max_looks, 1 + rankings.size() * options_.candidates);
    std::optional<Point> risky;
    for (std::size_t look = 0; look < looks; ++look) {
      Point point = base;
      if (look > 0 && !rankings.empty()) {
        const Ranking& ranking = rankings[(look - 1) % rankings.size()];
        if (!put(ranking, (look - 1) / rankings.size() + 1, point))
          continue;
      }
      point = design.canonical(std::move(point));
      if ((!all_tried && tried(point)) || !design.allowed(point))
        continue;
      if (!careful || !failures.nearest_failed(point))
        return point;
      if (!risky)
        risky = std::move(point);
    }
    if (risky)
      return risky;
  }
  return std::nullopt;
}

bool TpeModel::put(const Ranking& ranking, std::size_t place, Point& point) {
  if (place >= ranking.points.size())
    return false;
  for (std::size_t i = 0; i < ranking.block.size(); ++i)
    point[ranking.block[i]] = ranking.points[place][i];
  return true;
}

void TpeModel::read(const Design& design, const History& history) {
  columns_.resize(design.size());
  for (std::size_t i = pattern_of_.size(); i < history.size(); ++i) {
    const Point& point = history.all()[i].point;
    for (std::size_t a = 0; a < design.size(); ++a)
      columns_[a].add(point[a], design.axes()[a].categorical());
    pattern_of_.push_back(pattern(point));
  }
}

void TpeModel::amend(const Design& design, std::size_t observation, const Point& point) {
  if (observation >= pattern_of_.size())
    return;  // not read yet
  for (std::size_t a = 0; a < design.size(); ++a)
    columns_[a].move(observation, point[a], design.axes()[a].categorical());
  pattern_of_[observation] = pattern(point);
}

std::uint32_t TpeModel::pattern(const Point& point) {
  std::vector<bool> existing;
  for (const double coordinate : point)
    existing.push_back(exists(coordinate));
  const auto next = static_cast<std::uint32_t>(patterns_.size());
  return patterns_.try_emplace(std::move(existing), next).first->second;
}

std::vector<TpeModel::Block> TpeModel::blocks(std::size_t axes, bool several,
                                              const History& history) const {
  std::vector<bool> finished(patterns_.size());
  for (std::size_t i = 0; i < history.size(); ++i)
    if (history.all()[i].over())
      finished[pattern_of_[i]] = true;
  // Axes belong together when no pattern tells them apart.
  std::map<std::vector<bool>, Block> together;
  using Model = TpeOptions::Model;
  const bool alone =
      options_.model == Model::independent || (options_.model == Model::automatic && several);
  for (std::size_t a = 0; a < axes; ++a) {
    std::vector<bool> occurs;
    for (const auto& [pattern, number] : patterns_)
      if (finished[number])
        occurs.push_back(pattern[a]);
    const bool always = std::find(occurs.begin(), occurs.end(), false) == occurs.end();
    if (std::find(occurs.begin(), occurs.end(), true) == occurs.end())
      continue;  // never seen
    if (alone || (!options_.group && !always)) {
      occurs.assign(axes, false);  // longer than the others or equal: a key of its own
      occurs[a] = true;
      occurs.push_back(true);
    }
    together[occurs].push_back(a);
  }
  std::vector<Block> result;
  for (auto& [key, block] : together)
    result.push_back(std::move(block));
  std::sort(result.begin(), result.end());
  return result;
}

TpeModel::Ranking TpeModel::rank(const Design& design, const Block& block, const TpeSplit& split,
                                 Random& random) {
  // The axes of a block exist together in finished trials; in those that run, a part of them may.
  std::vector<bool> whole(patterns_.size());
  for (const auto& entry : patterns_)
    whole[entry.second] =
        std::all_of(block.begin(), block.end(), [&](std::size_t a) { return entry.first[a]; });
  const auto members = [&](const std::vector<std::uint32_t>& from) {
    std::vector<std::uint32_t> found;
    found.reserve(from.size());
    std::copy_if(from.begin(), from.end(), std::back_inserter(found),
                 [&](std::uint32_t i) { return whole[pattern_of_[i]]; });
    return found;
  };
  const std::vector<std::uint32_t> good = members(split.good);
  const std::vector<std::uint32_t> others = members(split.others);
  ParzenOptions options{.prior_weight = options_.prior_weight,
                        .magic_clip = options_.magic_clip,
                        .sharpness = options_.sharpness,
                        .endpoints = options_.endpoints};
  const Parzen below(design.axes(), block, columns_, good, weights_of_good(split, good), options);
  options.sharpness = 1;
  const std::vector<std::uint32_t> running = members(split.running);
  if (options_.local_liar)
    options.lone = running;
  const Parzen above(design.axes(), block, columns_, others, weights_of_others(split, others),
                     options);

  std::vector<Parzen::Row> points;  // each once
  std::set<Parzen::Row> seen;
  for (Parzen::Row& point : below.sample(random, options_.candidates))
    if (seen.insert(point).second)
      points.push_back(std::move(point));
  std::vector<double> score = below.log_density(points);
  const std::vector<double> bad = above.log_density(points);
  for (std::size_t p = 0; p < points.size(); ++p)
    score[p] -= bad[p];
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
  Ranking ranking{block, {}};
  for (const std::size_t p : order)
    ranking.points.push_back(std::move(points[p]));
  return ranking;
}

std::vector<double> TpeModel::weights_of_good(const TpeSplit& split,
                                              std::span<const std::uint32_t> members) const {
  if (split.several)
    return std::vector<double>(members.size(), 1.0);
  if (!options_.rank_weights)
    return age_weights(members.size());
  std::vector<double> weights;
  double sum = 0;
  const double last = std::log(static_cast<double>(split.good.size()) + 0.5);
  for (const std::uint32_t member : members) {
    const auto found = std::lower_bound(split.good.begin(), split.good.end(), member);
    const std::uint32_t rank = split.ranks[static_cast<std::size_t>(found - split.good.begin())];
    weights.push_back(last - std::log(rank + 1.0));
    sum += weights.back();
  }
  for (double& weight : weights)  // as much together as without ranks, compared with the prior
    weight *= static_cast<double>(members.size()) / sum;
  return weights;
}

std::vector<double> TpeModel::weights_of_others(const TpeSplit& split,
                                                std::span<const std::uint32_t> members) const {
  std::vector<double> weights = age_weights(members.size());
  const auto weigh = [&](const std::vector<std::uint32_t>& some, double weight) {
    for (std::size_t i = 0; !some.empty() && i < members.size(); ++i)
      if (std::binary_search(some.begin(), some.end(), members[i]))
        weights[i] = weight;
  };
  weigh(split.failed, split.failed_weight);
  if (options_.local_liar)
    weigh(split.running, liar_weight);
  return weights;
}

bool TpeModel::tried(const Point& point) const {
  const std::size_t count = pattern_of_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const bool equal = [&] {
      for (std::size_t a = 0; a < columns_.size(); ++a) {
        const double x = columns_[a].at(i);
        if (exists(x) != exists(point[a]) || std::abs(x - point[a]) > same)
          return false;
      }
      return true;
    }();
    if (equal)
      return true;
  }
  return false;
}

}  // namespace troupe::tune::detail
