#include <troupe/tune/search/detail/pareto.hpp>
#include <troupe/tune/search/detail/tpe_split.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace troupe::tune::detail {
namespace {

using State = Observation::State;

/// Ascending: better first.
using Key = std::tuple<int, double, double, std::uint32_t>;

Key key_of(const Observation& o, std::uint32_t index) {
  if (!o.feasible())
    return {2, o.violation, 0, index};
  if (o.state == State::complete)
    return {0, o.losses.at(0), 0, index};
  if (o.losses.empty())
    return {1, 1, 0, index};
  return {1, -static_cast<double>(o.step), o.losses[0], index};
}

/// Infinite values would make every volume infinite, and huge ones too: then the front is measured
/// in units of its range.
std::vector<Losses> bounded(const std::vector<Losses>& front) {
  const std::size_t objectives = front[0].size();
  const double limit = std::pow(1e300, 1 / static_cast<double>(objectives)) / 4;
  const bool small = std::all_of(front.begin(), front.end(), [&](const Losses& row) {
    return std::all_of(row.begin(), row.end(), [&](double v) { return std::abs(v) < limit; });
  });
  if (small)
    return front;
  std::vector<Losses> result = front;
  for (std::size_t k = 0; k < objectives; ++k) {
    double low = infinity;
    double high = -infinity;
    for (const Losses& row : front)
      if (std::isfinite(row[k])) {
        low = std::min(low, row[k]);
        high = std::max(high, row[k]);
      }
    const double width = 0.5 * high - 0.5 * low;  // halves: the whole may overflow
    for (Losses& row : result) {
      const double v = std::isnan(row[k]) ? high : std::clamp(row[k], low, std::max(low, high));
      row[k] = width > 0 ? (0.5 * v - 0.5 * low) / width : 0;
    }
  }
  return result;
}

}  // namespace

std::vector<std::size_t> covering_subset(const std::vector<std::vector<double>>& front,
                                         std::size_t count) {
  std::vector<std::size_t> chosen;
  if (front.empty())
    return chosen;
  const std::vector<Losses> rows = bounded(front);
  Losses reference = rows[0];
  for (const Losses& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k)
      reference[k] = std::max(reference[k], row[k]);
  for (double& worst : reference)
    worst = worst == 0 ? 1e-12 : std::max(1.1 * worst, 0.9 * worst);

  // What a point adds only becomes less as others are chosen: a stale gain that is not the largest
  // need not be computed again.
  using Gain = std::tuple<double, std::ptrdiff_t, std::size_t>;  // gain, -index, chosen before
  std::priority_queue<Gain> gains;
  std::vector<Losses> subset;
  double covered = 0;
  const auto gain_of = [&](std::size_t i) {
    subset.push_back(rows[i]);
    const double gain = hypervolume(subset, reference) - covered;
    subset.pop_back();
    return std::isnan(gain) ? 0.0 : gain;
  };
  for (std::size_t i = 0; i < rows.size(); ++i)
    gains.emplace(gain_of(i), -static_cast<std::ptrdiff_t>(i), 0);
  while (chosen.size() < count && !gains.empty()) {
    const auto [gain, index, round] = gains.top();
    gains.pop();
    const auto i = static_cast<std::size_t>(-index);
    if (round != chosen.size()) {
      gains.emplace(gain_of(i), index, chosen.size());
      continue;
    }
    chosen.push_back(i);
    subset.push_back(rows[i]);
    covered += gain;
  }
  return chosen;
}

std::vector<std::uint32_t> TpeSplitter::best_front(const std::vector<Observation>& all,
                                                   const std::vector<std::uint32_t>& complete,
                                                   std::size_t count) {
  std::vector<Losses> rows;
  rows.reserve(complete.size());
  for (const std::uint32_t i : complete)
    rows.push_back(all[i].losses);
  const std::vector<std::uint32_t> ranks = pareto_ranks(rows);
  std::vector<std::size_t> sizes(complete.size() + 1);
  for (const std::uint32_t rank : ranks)
    ++sizes[rank];
  std::uint32_t partial = 0;  // the rank of which only a part is taken
  std::size_t room = count;
  while (room > 0 && sizes[partial] <= room && sizes[partial] > 0)
    room -= sizes[partial++];
  std::vector<std::uint32_t> good;
  std::vector<std::uint32_t> front;
  for (std::size_t i = 0; i < complete.size(); ++i) {
    if (ranks[i] < partial)
      good.push_back(complete[i]);
    else if (ranks[i] == partial)
      front.push_back(complete[i]);
  }
  if (room == 0)
    return good;
  if (front != front_ || room != wanted_) {
    std::vector<Losses> losses;
    for (const std::uint32_t i : front)
      losses.push_back(all[i].losses);
    chosen_ = covering_subset(losses, room);
    front_ = front;
    wanted_ = room;
  }
  for (const std::size_t i : chosen_)
    good.push_back(front[i]);
  return good;
}

TpeSplit TpeSplitter::split(const std::vector<Observation>& all, std::size_t count, bool liar,
                            bool failures) {
  TpeSplit split;
  std::vector<std::uint32_t> fronts;  // complete ones of several objectives
  std::vector<Key> keys;
  keys.reserve(all.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const Observation& o = all[i];
    split.several = split.several || o.losses.size() > 1;
    if (o.state == State::failed && failures)
      split.failed.push_back(i);
    else if (o.state == State::running && liar)
      split.running.push_back(i);
    if ((o.state == State::failed && failures) || (o.state == State::running && liar))
      split.others.push_back(i);
    else if (o.state == State::complete && o.feasible() && o.losses.size() > 1)
      fronts.push_back(i);
    else if (o.over() && o.state != State::failed)
      keys.push_back(key_of(o, i));
  }
  if (!fronts.empty()) {
    split.good = best_front(all, fronts, std::min(count, fronts.size()));
    count -= split.good.size();
    std::sort(split.good.begin(), split.good.end());
    std::set_difference(fronts.begin(), fronts.end(), split.good.begin(), split.good.end(),
                        std::back_inserter(split.others));
  }
  count = std::min(count, keys.size());
  const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(keys.begin(), middle, keys.end());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranked;
  for (auto it = keys.begin(); it != middle; ++it)
    ranked.emplace_back(std::get<3>(*it), static_cast<std::uint32_t>(it - keys.begin()));
  std::sort(ranked.begin(), ranked.end());
  for (const auto& [index, rank] : ranked) {
    split.good.push_back(index);
    split.ranks.push_back(rank);
  }
  for (auto it = middle; it != keys.end(); ++it)
    split.others.push_back(std::get<3>(*it));
  if (split.several) {
    std::sort(split.good.begin(), split.good.end());
    split.ranks.clear();
  }
  std::sort(split.others.begin(), split.others.end());
  return split;
}

}  // namespace troupe::tune::detail
