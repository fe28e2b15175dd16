#include <troupe/tune/search/detail/acquisition_search.hpp>
#include <troupe/tune/search/detail/lbfgs.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// Grids up to this size are searched value by value, finer ones like a continuum first.
constexpr std::uint64_t max_values = 24;
/// Values of discrete axes that a round of steps tries.
constexpr std::uint64_t max_steps = 1024;

bool smooth(const Axis& axis) {
  return axis.continuous() || (!axis.categorical() && axis.count() > max_values);
}

class Search {
public:
  Search(const Design& design, const Features& features, const Acquisition& acquisition,
         const VectorXd& inverse_lengths, Random random, const AcquisitionSearch& options)
      : design_(design),
        features_(features),
        acquisition_(acquisition),
        inverse_lengths_(inverse_lengths),
        random_(random),
        options_(options),
        stride_start_(random.next_u64()) {}

  void spread(const Sobol& sobol) {
    const std::uint64_t first = random_.below(std::uint64_t{1} << 40U);
    const std::size_t d = design_.size();
    std::vector<double> all(options_.spread * d);
    sobol.fill(first, all);
    for (std::size_t i = 0; i < options_.spread; ++i) {
      Point point(d);
      for (std::size_t a = 0; a < d; ++a)
        point[a] = design_.axes()[a].from_uniform(all[i * d + a]);
      add(std::move(point));
    }
  }

  void around(const std::vector<Point>& best) {
    if (best.empty())
      return;
    const std::size_t each = options_.near_best / best.size();
    for (const Point& centre : best)
      for (std::size_t i = 0; i < each; ++i)
        add(neighbour(centre));
  }

  /// Evaluates what was added, and searches on from the most promising points.
  std::vector<RankedPoint> finish(const std::vector<Point>& best) {
    if (candidates_.empty())
      return {};
    const VectorXd values = acquisition_(features_(candidates_));
    std::vector<RankedPoint> ranked;
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      ranked.push_back({std::move(candidates_[i]), number(values[static_cast<Index>(i)])});
    std::stable_sort(ranked.begin(), ranked.end(), better);
    std::vector<RankedPoint> ends;
    for (RankedPoint start : starts(ranked, best))
      ends.push_back(climb(std::move(start)));
    constexpr std::size_t keep = 64;
    ranked.resize(std::min(ranked.size(), keep));
    ends.insert(ends.end(), std::make_move_iterator(ranked.begin()),
                std::make_move_iterator(ranked.end()));
    std::stable_sort(ends.begin(), ends.end(), better);
    return ends;
  }

private:
  static bool better(const RankedPoint& a, const RankedPoint& b) { return a.value > b.value; }
  static double number(double value) {
    return value == value ? value : -std::numeric_limits<double>::infinity();
  }

  void add(Point point) {
    point = design_.canonical(std::move(point));
    if (design_.allowed(point))
      candidates_.push_back(std::move(point));
  }

  /// Some coordinates drawn anew, others moved by distances of all magnitudes.
  Point neighbour(const Point& centre) {
    Point point = centre;
    const double change = std::max(1.0 / static_cast<double>(point.size()), 0.3);
    const double size = std::pow(10.0, random_.uniform(-3.0, -0.5));
    for (std::size_t a = 0; a < point.size(); ++a) {
      const Axis& axis = design_.axes()[a];
      if (!exists(point[a]))
        point[a] = axis.from_uniform(random_.uniform());
      else if (!random_.chance(change))
        continue;
      else if (axis.categorical())
        point[a] = axis.from_uniform(random_.uniform());
      else
        point[a] = std::clamp(
            point[a] +
                std::max(size, axis.continuous() ? 0 : 0.7 / static_cast<double>(axis.count())) *
                    random_.normal(),
            0.0, 1.0);
    }
    return point;
  }

  double value(const Point& point) const {
    return number(acquisition_(features_(point).transpose())[0]);
  }

  /// The best candidate, the best known points, and candidates drawn by what they are worth.
  std::vector<RankedPoint> starts(const std::vector<RankedPoint>& ranked,
                                  const std::vector<Point>& best) {
    std::vector<RankedPoint> chosen{ranked.front()};
    if (!best.empty())
      chosen.push_back({best.front(), value(best.front())});
    std::vector<double> keys;  // the largest of these are a draw without replacement (Gumbel)
    std::vector<std::size_t> order;
    for (std::size_t i = 1; i < ranked.size(); ++i) {
      keys.push_back(ranked[i].value - std::log(-std::log(1 - random_.uniform())));
      order.push_back(i);
    }
    const std::size_t more =
        std::min(order.size(), options_.starts - std::min(options_.starts, chosen.size()));
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(more), order.end(),
                      [&](std::size_t a, std::size_t b) { return keys[a - 1] > keys[b - 1]; });
    for (std::size_t i = 0; i < more; ++i)
      chosen.push_back(ranked[order[i]]);
    return chosen;
  }

  RankedPoint climb(RankedPoint at) {
    constexpr int max_rounds = 4;
    for (int round = 0; round < max_rounds; ++round) {
      const double before = at.value;
      slide(at);
      const bool stepped = step(at);
      if (!stepped || !(at.value > before))
        break;
    }
    return at;
  }

  void take_if_better(RankedPoint& at, Point point) const {
    point = design_.canonical(std::move(point));
    if (!design_.allowed(point))
      return;
    const double worth = value(point);
    if (worth > at.value)
      at = {std::move(point), worth};
  }

  /// Along the axes that have a slope.
  void slide(RankedPoint& at) const {
    std::vector<Index> axes;
    for (std::size_t a = 0; a < at.point.size(); ++a)
      if (exists(at.point[a]) && smooth(design_.axes()[a]))
        axes.push_back(static_cast<Index>(a));
    if (axes.empty())
      return;
    const auto d = static_cast<Index>(axes.size());
    VectorXd start(d);
    VectorXd upper(d);
    VectorXd scale(d);
    for (Index i = 0; i < d; ++i) {
      const Index a = axes[static_cast<std::size_t>(i)];
      scale[i] = inverse_lengths_[a];
      upper[i] = scale[i];
      start[i] = at.point[static_cast<std::size_t>(a)] * scale[i];
    }
    VectorXd x = features_(at.point);
    Point moved = at.point;
    VectorXd full;
    const auto function = [&](const VectorXd& z, VectorXd& gradient) {
      for (Index i = 0; i < d; ++i) {
        const Index a = axes[static_cast<std::size_t>(i)];
        x[a] = z[i] / scale[i];
        moved[static_cast<std::size_t>(a)] = x[a];
      }
      if (design_.constrained() && !design_.allowed(design_.canonical(moved)))
        return std::numeric_limits<double>::infinity();
      const double worth = acquisition_(x, full);
      for (Index i = 0; i < d; ++i)
        gradient[i] = -full[axes[static_cast<std::size_t>(i)]] / scale[i];
      return -worth;
    };
    BoxSearch options;
    options.max_evaluations = options_.max_evaluations;
    options.gradient_tolerance = 1e-3;
    options.value_tolerance = 1e-5;
    const BoxMinimum found = minimise_in_box(function, start, VectorXd::Zero(d), upper, options);
    if (!std::isfinite(found.value))
      return;
    for (Index i = 0; i < d; ++i)
      moved[static_cast<std::size_t>(axes[static_cast<std::size_t>(i)])] = found.x[i] / scale[i];
    take_if_better(at, std::move(moved));
  }

  /// Along each discrete axis. False: there is none.
  bool step(RankedPoint& at) const {
    std::size_t count = 0;
    for (std::size_t a = 0; a < at.point.size(); ++a)
      count += others(at.point, a).size();
    const std::size_t stride = count / max_steps + 1;
    std::uint64_t next = stride_start_;
    Acquisition::Place here = acquisition_.place(features_(at.point));
    for (std::size_t a = 0; a < at.point.size(); ++a) {
      std::vector<Point> points;
      for (const std::uint64_t index : others(at.point, a))
        if (next++ % stride == 0)
          if (auto point = moved(at.point, a, index))
            points.push_back(std::move(*point));
      if (points.empty())
        continue;
      const VectorXd worth = acquisition_(features_(points), &here);
      Index winner = 0;
      if (worth.maxCoeff(&winner) > at.value) {
        at = {std::move(points[static_cast<std::size_t>(winner)]), worth[winner]};
        here = acquisition_.place(features_(at.point));
      }
    }
    return count > 0;
  }

  /// Numbers of the values that a step along a discrete axis may go to.
  std::vector<std::uint64_t> others(const Point& from, std::size_t a) const {
    const Axis& axis = design_.axes()[a];
    std::vector<std::uint64_t> values;
    if (!exists(from[a]) || axis.continuous())
      return values;
    const std::uint64_t here = axis.index(from[a]);
    if (!smooth(axis)) {
      for (std::uint64_t i = 0; i < axis.count(); ++i)
        if (i != here)
          values.push_back(i);
      return values;
    }
    for (std::uint64_t jump = 1; jump < axis.count(); jump *= 4) {
      if (here >= jump)
        values.push_back(here - jump);
      if (here + jump < axis.count())
        values.push_back(here + jump);
    }
    return values;
  }

  /// The point with another value of an axis; nothing: it is not allowed.
  std::optional<Point> moved(Point point, std::size_t axis, std::uint64_t index) const {
    point[axis] = design_.axes()[axis].coordinate(index);
    if (design_.conditional())
      point = design_.canonical(std::move(point));
    return design_.allowed(point) ? std::optional(std::move(point)) : std::nullopt;
  }

  const Design& design_;
  const Features& features_;
  const Acquisition& acquisition_;
  const VectorXd& inverse_lengths_;
  Random random_;
  const AcquisitionSearch& options_;
  std::uint64_t stride_start_;  ///< which of many categories are tried
  std::vector<Point> candidates_;
};

}  // namespace

std::vector<RankedPoint> search_acquisition(const Design& design, const Features& features,
                                            const Acquisition& acquisition,
                                            const VectorXd& inverse_lengths,
                                            const std::vector<Point>& best, const Sobol& sobol,
                                            Random random, const AcquisitionSearch& options) {
  Search search(design, features, acquisition, inverse_lengths, random, options);
  search.spread(sobol);
  search.around(best);
  return search.finish(best);
}

}  // namespace troupe::tune::detail
