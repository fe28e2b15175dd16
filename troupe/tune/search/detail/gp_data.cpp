#include <troupe/tune/search/detail/gp_data.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace troupe::tune::detail {
namespace {

/// Mixes the number of a trial: an order that looks random and never changes.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

bool before(const Observation* a, const Observation* b) {
  if (a->losses[0] != b->losses[0])
    return a->losses[0] < b->losses[0];
  return a->trial < b->trial;
}

bool close(const Point& a, const Point& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (exists(a[i]) != exists(b[i]))
      return false;
    if (exists(a[i]) && std::abs(a[i] - b[i]) > thinning_distance)
      return false;
  }
  return true;
}

}  // namespace

bool fails(const Observation& o) {
  return o.state == Observation::State::failed ||
         (o.over() && std::find(o.losses.begin(), o.losses.end(), infinity) != o.losses.end());
}

double chebyshev(const Design& design, const Point& a, const Point& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (exists(a[i]) != exists(b[i]))
      return 1;
    if (!exists(a[i]))
      continue;
    const double difference = std::abs(a[i] - b[i]);
    largest =
        std::max(largest, design.axes()[i].categorical() ? std::min(1.0, difference) : difference);
  }
  return largest;
}

Eigen::VectorXd GpData::losses(std::size_t objective) const {
  const bool rung = objective == 0 && !reference.empty();
  std::vector<double> compared;
  Eigen::VectorXd result(static_cast<Eigen::Index>(seen.size()));
  std::vector<Eigen::Index> short_ones;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto index = static_cast<Eigen::Index>(i);
    result[index] = seen[i]->losses[objective];
    const auto found = rung ? reference.find(seen[i]->trial.value) : reference.end();
    if (found != reference.end())
      result[index] = found->second;
    if (rung ? found != reference.end() : seen[i]->state == Observation::State::complete)
      compared.push_back(result[index]);
    else if (seen[i]->state == Observation::State::pruned)
      short_ones.push_back(index);
  }
  const auto middle = compared.begin() + static_cast<std::ptrdiff_t>(compared.size() / 2);
  std::nth_element(compared.begin(), middle, compared.end());
  for (const Eigen::Index i : short_ones)
    if (!compared.empty())
      result[i] = std::max(result[i], *middle);
  return result;
}

Eigen::VectorXd GpData::excess(std::size_t constraint) const {
  constexpr double largest = 1e150;  // its square is finite still
  double low = 0;
  std::vector<double> broken;
  for (const Observation* o : seen) {
    const double value = o->excess[constraint];
    if (value > 0 && value < infinity)
      broken.push_back(std::min(value, largest));
    else if (value > -infinity && value < 0)
      low = std::min(low, std::max(value, -largest));
  }
  double unknown = low < 0 ? -low : 1;
  if (!broken.empty()) {
    const auto middle = broken.begin() + static_cast<std::ptrdiff_t>(broken.size() / 2);
    std::nth_element(broken.begin(), middle, broken.end());
    unknown = *middle;
  }
  Eigen::VectorXd result(static_cast<Eigen::Index>(seen.size()));
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const double value = seen[i]->excess[constraint];
    result[static_cast<Eigen::Index>(i)] =
        value == infinity ? unknown : std::clamp(value, low, largest);
  }
  return result;
}

double least_safety(const History& history, std::size_t startup) {
  constexpr double up = 0.3;
  constexpr double down = 0.05;
  constexpr double highest = 4;
  double caution = 0;
  for (std::size_t i = startup; i < history.size(); ++i) {
    const Observation& o = history.all()[i];
    if (fails(o))
      caution = std::min(highest, caution + up);
    else if (o.over())
      caution = std::max(0.0, caution - down);
  }
  return caution > 0 ? caution : -infinity;
}

std::vector<std::size_t> representative(const std::vector<const Observation*>& seen,
                                        std::size_t count) {
  std::vector<std::size_t> all(seen.size());
  std::iota(all.begin(), all.end(), 0);
  if (all.size() <= count)
    return all;
  std::vector<bool> chosen(seen.size(), false);
  std::vector<std::size_t> order = all;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return before(seen[a], seen[b]); });
  std::size_t left = count;
  const auto take = [&](std::size_t i) {
    if (left > 0 && !chosen[i]) {
      chosen[i] = true;
      --left;
    }
  };
  for (std::size_t i = 0; i < count / 3; ++i)
    take(order[i]);
  for (std::size_t i = 0; i < count / 4; ++i)
    take(seen.size() - 1 - i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return mixed(seen[a]->trial.value) < mixed(seen[b]->trial.value);
  });
  for (const std::size_t i : order)
    take(i);
  std::erase_if(all, [&](std::size_t i) { return !chosen[i]; });
  return all;
}

namespace {

std::unordered_map<std::uint32_t, double> reference_of(const History& history,
                                                       const RungResults& rungs,
                                                       std::size_t enough) {
  std::size_t complete = 0;
  bool pruned = false;
  for (const Observation& o : history.all()) {
    complete += o.state == Observation::State::complete && !fails(o) ? 1 : 0;
    pruned = pruned || (o.state == Observation::State::pruned && o.valued());
  }
  std::unordered_map<std::uint32_t, double> best;
  if (!pruned || complete >= enough)
    return best;
  for (auto rung = rungs.rungs().rbegin(); rung != rungs.rungs().rend(); ++rung) {
    std::unordered_map<std::uint32_t, double> values;
    for (const RungResults::Entry& entry : *rung)
      if (const Observation* o = history.find(entry.trial); o != nullptr && o->valued())
        values[entry.trial.value] = entry.loss;
    if (values.size() > best.size())
      best = std::move(values);
    if (best.size() >= enough)
      break;
  }
  return best;
}

}  // namespace

GpData gp_data(const History& history, const RungResults& rungs, std::size_t enough,
               std::size_t max_observations) {
  constexpr std::size_t max_others = 64;
  GpData data;
  data.reference = reference_of(history, rungs, enough);
  std::vector<const Observation*> valued;
  for (const Observation& o : history.all()) {
    if (fails(o))
      data.failed.push_back(&o);
    else if (o.valued())
      valued.push_back(&o);
    else if (!o.over())
      data.running.push_back(&o);
    if (data.reference.empty() && !fails(o) && o.state == Observation::State::complete &&
        o.feasible() && (data.best == nullptr || before(&o, data.best)))
      data.best = &o;
  }
  for (auto* list : {&data.running, &data.failed})
    if (list->size() > max_others)
      list->erase(list->begin(), list->end() - static_cast<std::ptrdiff_t>(max_others));
  for (const std::size_t i : representative(valued, 2 * max_observations))
    data.seen.push_back(valued[i]);
  // Of points that nearly coincide the best one stays: a process with the noise floor could not
  // tell them apart, and they would cost time and weigh too much.
  std::vector<const Observation*> order = data.seen;
  std::sort(order.begin(), order.end(), before);
  std::vector<const Observation*> kept;
  for (const Observation* o : order)
    if (std::none_of(kept.begin(), kept.end(),
                     [&](const Observation* other) { return close(o->point, other->point); }))
      kept.push_back(o);
  std::sort(kept.begin(), kept.end());  // they lie in one vector: the order of creation
  data.seen.clear();
  for (const std::size_t i : representative(kept, max_observations))
    data.seen.push_back(kept[i]);
  return data;
}

}  // namespace troupe::tune::detail
