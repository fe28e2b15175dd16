#include <troupe/tune/search/detail/neighbours.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::tune::detail {
namespace {

/// Of the grid; what is close to a point on an axis lies in two cells at most.
constexpr double cell = 2.5 * Neighbours::least_distance;
constexpr double reach = 1.001 * Neighbours::least_distance;  // differences are rounded

/// The number of a coordinate's cell.
std::int64_t cell_of(double coordinate) {
  return exists(coordinate) ? static_cast<std::int64_t>(std::floor(coordinate / cell))
                            : std::numeric_limits<std::int64_t>::min();
}

std::uint64_t mix(std::uint64_t key, std::int64_t number) {
  key = (key ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15;
  return key ^ (key >> 32);
}

bool close(const Point& a, const Point& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (exists(a[i]) != exists(b[i]) ||
        (exists(a[i]) && std::fabs(a[i] - b[i]) >= Neighbours::least_distance))
      return false;
  return true;
}

}  // namespace

Neighbours::Neighbours(std::vector<std::size_t> axes) : axes_(std::move(axes)) {
  if (axes_.size() > hashed_axes)
    axes_.resize(hashed_axes);
}

Neighbours::Key Neighbours::key(const Point& point) const {
  Key key = 0;
  for (const std::size_t axis : axes_)
    key = mix(key, cell_of(point[axis]));
  return key;
}

Neighbours::Near Neighbours::near(const Point& point, std::size_t number) const {
  Near made{number};
  for (std::size_t i = 0; i < axes_.size(); ++i)
    made.at[i] = point[axes_[i]];
  return made;
}

void Neighbours::follow(const History& history) {
  const std::vector<Observation>& all = history.all();
  for (auto& [at, number] : running_) {
    std::erase_if(cells_[at], [&](const Near& other) { return other.number == number; });
    at = key(all[number].point);
    cells_[at].push_back(near(all[number].point, number));
  }
  for (; known_ < all.size(); ++known_) {
    const Key at = key(all[known_].point);
    cells_[at].push_back(near(all[known_].point, known_));
    running_.emplace_back(at, known_);
  }
  std::erase_if(running_, [&](const auto& entry) { return all[entry.second].over(); });
}

bool Neighbours::crowded(const History& history, const Point& point) const {
  return crowded(history, point, 0, 0);
}

/// Looks into the cells around the point, one more axis at each level.
bool Neighbours::crowded(const History& history, const Point& point, std::size_t axis,
                         Key so_far) const {
  if (axis == axes_.size()) {
    const auto found = cells_.find(so_far);
    if (found == cells_.end())
      return false;
    const Near here = near(point, 0);
    // The last ones are where the search is now.
    return std::any_of(found->second.rbegin(), found->second.rend(), [&](const Near& other) {
      for (std::size_t i = 0; i < hashed_axes; ++i)
        if (std::fabs(here.at[i] - other.at[i]) >= least_distance)
          return false;
      return close(history.all()[other.number].point, point);
    });
  }
  const double x = point[axes_[axis]];
  const std::int64_t own = cell_of(x);
  const std::int64_t low = cell_of(x - reach);
  const std::int64_t other = low != own ? low : cell_of(x + reach);
  return crowded(history, point, axis + 1, mix(so_far, own)) ||
         (other != own && crowded(history, point, axis + 1, mix(so_far, other)));
}

}  // namespace troupe::tune::detail
