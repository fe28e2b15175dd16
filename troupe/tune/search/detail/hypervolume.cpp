#include <troupe/tune/search/detail/pareto.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace troupe::tune::detail {
namespace {

/// The union of rectangles [x, width) x [y, height), each added once.
class Staircase {
public:
  Staircase(double width, double height) : width_(width), height_(height) {}

  [[nodiscard]] double area() const { return area_; }

  void add(double x, double y) {
    auto next = steps_.upper_bound(x);
    double above = height_;
    if (next != steps_.begin()) {
      above = std::prev(next)->second;
      if (above <= y)
        return;
      if (std::prev(next)->first == x)
        steps_.erase(std::prev(next));
    }
    // From step to step, each of which is the ceiling of the new one until it is lower.
    double from = x;
    while (next != steps_.end() && next->second >= y) {
      area_ += (next->first - from) * (above - y);
      from = next->first;
      above = next->second;
      next = steps_.erase(next);
    }
    area_ += ((next == steps_.end() ? width_ : next->first) - from) * (above - y);
    steps_.emplace_hint(next, x, y);
  }

private:
  double width_;
  double height_;
  double area_ = 0;
  std::map<double, double> steps_;  ///< x to y: y falls as x grows
};

void sort_by(std::vector<Losses>& points, std::size_t objective) {
  std::stable_sort(points.begin(), points.end(),
                   [=](const Losses& a, const Losses& b) { return a[objective] < b[objective]; });
}

double area(const std::vector<Losses>& points, std::span<const double> reference) {
  Staircase stairs(reference[0], reference[1]);
  for (const Losses& point : points)
    stairs.add(point[0], point[1]);
  return stairs.area();
}

/// Sweeps along the third loss: between two values the dominated area is the same.
double volume(std::vector<Losses> points, std::span<const double> reference) {
  sort_by(points, 2);
  Staircase stairs(reference[0], reference[1]);
  double result = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    stairs.add(points[i][0], points[i][1]);
    const double end = i + 1 < points.size() ? points[i + 1][2] : reference[2];
    if (end > points[i][2])
      result += stairs.area() * (end - points[i][2]);
  }
  return result;
}

double box(std::span<const double> point, std::span<const double> reference) {
  double result = 1;
  for (std::size_t m = 0; m < reference.size(); ++m)
    result *= reference[m] - point[m];
  return result;
}

std::vector<Losses> undominated(std::vector<Losses> points) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  std::vector<Losses> front;
  for (const std::size_t i : pareto_front(points))
    front.push_back(std::move(points[i]));
  return front;
}

/// WFG, with one objective less at each step: of points sorted by their last loss, worst first,
/// each adds what the later ones do not have. Cut off at its losses, they all share its last loss,
/// so that what is left to compute has one dimension less.
double sliced(std::vector<Losses> points, std::span<const double> reference) {
  if (points.empty())
    return 0;
  if (reference.size() == 1)
    return reference[0] - std::min_element(points.begin(), points.end())->front();
  if (reference.size() == 2)
    return area(points, reference);
  if (reference.size() == 3)
    return volume(std::move(points), reference);
  const std::size_t last = reference.size() - 1;
  const auto flat_reference = reference.first(last);
  sort_by(points, last);
  std::reverse(points.begin(), points.end());
  double result = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::span<const double> point(points[i].data(), last);
    std::vector<Losses> limited;
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      Losses& cut = limited.emplace_back(point.begin(), point.end());
      for (std::size_t m = 0; m < last; ++m)
        cut[m] = std::max(cut[m], points[j][m]);
    }
    const double taken = sliced(undominated(std::move(limited)), flat_reference);
    result += (reference[last] - points[i][last]) * (box(point, flat_reference) - taken);
  }
  return result;
}

}  // namespace

double hypervolume(LossTable points, std::span<const double> reference) {
  std::vector<Losses> inside;
  for (const Losses& point : points) {
    bool better = !reference.empty();
    bool endless = false;
    for (std::size_t m = 0; m < reference.size(); ++m) {
      better = better && point[m] < reference[m];  // false for NaN
      endless = endless || std::isinf(point[m]);
    }
    if (better && endless)
      return std::numeric_limits<double>::infinity();
    if (better)
      inside.push_back(point);
  }
  return sliced(undominated(std::move(inside)), reference);
}

}  // namespace troupe::tune::detail
