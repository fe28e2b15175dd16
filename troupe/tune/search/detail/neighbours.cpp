#include <troupe/tune/search/detail/neighbours.hpp>

#include <cmath>
#include <limits>

namespace troupe::tune::detail {
namespace {

/// Of the grid; what is close to a point on an axis lies in two cells at most.
constexpr double cell = 2.5 * Neighbours::least_distance;
constexpr double reach = 1.001 * Neighbours::least_distance;  // differences are rounded
constexpr std::size_t hashed_axes = 4;

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

void Neighbours::follow(const History& history) {
  const std::vector<Observation>& all = history.all();
  for (auto& [at, number] : running_)
    if (const Key moved = key(all[number].point); moved != at) {
      std::erase(cells_[at], number);
      cells_[moved].push_back(number);
      at = moved;
    }
  for (; known_ < all.size(); ++known_) {
    const Key at = key(all[known_].point);
    cells_[at].push_back(known_);
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
    for (const std::size_t number : found->second)
      if (close(history.all()[number].point, point))
        return true;
    return false;
  }
  const double x = point[axes_[axis]];
  const std::int64_t low = cell_of(x - reach);
  const std::int64_t high = cell_of(x + reach);
  return crowded(history, point, axis + 1, mix(so_far, low)) ||
         (high != low && crowded(history, point, axis + 1, mix(so_far, high)));
}

}  // namespace troupe::tune::detail
