#include <troupe/tune/search/detail/failure_map.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace troupe::tune::detail {
namespace {

/// How careful to be: rises with each trial that fails and falls with each that does not, so that
/// about a fifth fails where the best points lie at the edge.
constexpr double up = 0.4;
constexpr double down = 0.1;
constexpr double lowest = -1;
constexpr double highest = 1;

}  // namespace

FailureMap::FailureMap(const Design& design, const History& history) : design_(design) {
  if (history.failed() == 0)
    return;
  double caution = 0;
  for (const Observation& o : history.all()) {
    if (!o.over())
      continue;
    const bool failed = o.state == Observation::State::failed;
    (failed ? failed_ : others_).push_back(&o.point);
    caution = std::clamp(caution + (failed ? up : -down), lowest, highest);
  }
  reach_ = std::exp2(2 * caution);
}

/// Squared; another category is as far as the whole range of a number.
double FailureMap::distance(const Point& a, const Point& b) const {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!exists(a[i]) && !exists(b[i]))
      continue;
    const double gap = a[i] - b[i];
    const bool number = exists(gap) && !design_.axes()[i].categorical();
    sum += number ? gap * gap : gap != 0 ? 1 : 0;
  }
  return sum;
}

bool FailureMap::near(const Point& point) const {
  if (empty())
    return false;
  using Neighbour = std::pair<double, bool>;  // how far, and whether it failed
  std::array<Neighbour, 3> nearest{};
  nearest.fill({infinity, false});
  const auto look = [&](Neighbour next) {
    for (Neighbour& neighbour : nearest)
      if (next < neighbour)
        std::swap(next, neighbour);
  };
  for (const Point* other : others_)
    look({distance(point, *other), false});
  for (const Point* failed : failed_)
    look({distance(point, *failed) / reach_, true});
  return std::count_if(nearest.begin(), nearest.end(), [](auto& n) { return n.second; }) >= 2;
}

bool FailureMap::nearest_failed(const Point& point) const {
  const auto least = [&](const std::vector<const Point*>& points) {
    double found = infinity;
    for (const Point* other : points)
      found = std::min(found, distance(point, *other));
    return found;
  };
  return !empty() && least(failed_) < least(others_);
}

}  // namespace troupe::tune::detail
