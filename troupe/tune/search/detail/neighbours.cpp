#include <troupe/tune/search/detail/neighbours.hpp>

#include <algorithm>
#include <cmath>

namespace troupe::tune::detail {
namespace {

double sum(const Point& point) {
  double result = 0;
  for (const double coordinate : point)
    result += exists(coordinate) ? coordinate : 0;
  return result;
}

bool close(const Point& a, const Point& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (exists(a[i]) != exists(b[i]) ||
        (exists(a[i]) && std::fabs(a[i] - b[i]) >= Neighbours::least_distance))
      return false;
  return true;
}

}  // namespace

void Neighbours::follow(const History& history) {
  const std::vector<Observation>& all = history.all();
  const auto add = [&](const Entry& entry) {
    sorted_.insert(std::lower_bound(sorted_.begin(), sorted_.end(), entry), entry);
  };
  for (Entry& entry : running_)
    if (const double moved = sum(all[entry.second].point); moved != entry.first) {
      sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), entry));
      entry.first = moved;
      add(entry);
    }
  for (; known_ < all.size(); ++known_) {
    running_.emplace_back(sum(all[known_].point), known_);
    add(running_.back());
  }
  std::erase_if(running_, [&](const Entry& entry) { return all[entry.second].over(); });
}

bool Neighbours::crowded(const History& history, const Point& point) const {
  const double middle = sum(point);
  // A sum of n coordinates differs by n times as much, and is rounded.
  const double reach = (static_cast<double>(point.size()) + 1) * least_distance;
  const auto first = std::lower_bound(sorted_.begin(), sorted_.end(), Entry(middle - reach, 0));
  for (auto it = first; it != sorted_.end() && it->first <= middle + reach; ++it)
    if (close(history.all()[it->second].point, point))
      return true;
  return false;
}

}  // namespace troupe::tune::detail
