#include <troupe/tune/search/detail/lbfgs.hpp>

#include <algorithm>
#include <cmath>
#include <deque>

namespace troupe::tune::detail {
namespace {

using Eigen::VectorXd;

/// What the last steps say about the curvature.
class Memory {
public:
  void clear() { pairs_.clear(); }

  void add(const VectorXd& step, const VectorXd& change) {
    const double curvature = step.dot(change);
    if (!(curvature > 1e-10 * step.norm() * change.norm()))
      return;
    constexpr std::size_t length = 10;
    if (pairs_.size() == length)
      pairs_.pop_front();
    pairs_.push_back({step, change});
  }

  /// The quasi-Newton direction from `gradient`, in the variables that `free` marks with 1. Pairs
  /// whose part in these variables is not convex are passed over.
  [[nodiscard]] VectorXd direction(const VectorXd& gradient, const VectorXd& free) const {
    VectorXd q = gradient.cwiseProduct(free);
    std::vector<double> rho(pairs_.size(), 0);
    std::vector<double> alpha(pairs_.size(), 0);
    double scale = 0;
    for (std::size_t i = pairs_.size(); i-- > 0;) {
      const VectorXd s = pairs_[i].step.cwiseProduct(free);
      const VectorXd y = pairs_[i].change.cwiseProduct(free);
      const double curvature = s.dot(y);
      if (!(curvature > 1e-10 * s.norm() * y.norm()))
        continue;
      rho[i] = 1 / curvature;
      alpha[i] = rho[i] * s.dot(q);
      q -= alpha[i] * y;
      if (scale == 0)
        scale = curvature / y.squaredNorm();
    }
    q *= scale > 0 ? scale : 1 / std::max(1.0, q.norm());
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (rho[i] == 0)
        continue;
      const double beta = rho[i] * pairs_[i].change.cwiseProduct(free).dot(q);
      q += (alpha[i] - beta) * pairs_[i].step.cwiseProduct(free);
    }
    return -q;
  }

private:
  struct Pair {
    VectorXd step;
    VectorXd change;
  };
  std::deque<Pair> pairs_;
};

/// 1 where a variable may move against its gradient, 0 where the box stops it.
VectorXd free_variables(const VectorXd& x, const VectorXd& gradient, const VectorXd& lower,
                        const VectorXd& upper) {
  VectorXd free(x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i)
    free[i] =
        (x[i] <= lower[i] && gradient[i] > 0) || (x[i] >= upper[i] && gradient[i] < 0) ? 0 : 1;
  return free;
}

}  // namespace

BoxMinimum minimise_in_box(const SmoothFunction& function, VectorXd start, const VectorXd& lower,
                           const VectorXd& upper, const BoxSearch& options) {
  BoxMinimum best;
  best.x = start.cwiseMax(lower).cwiseMin(upper);
  VectorXd gradient(best.x.size());
  best.value = function(best.x, gradient);
  best.evaluations = 1;
  Memory memory;
  VectorXd x(best.x.size());
  VectorXd next_gradient(best.x.size());
  while (best.evaluations < options.max_evaluations && std::isfinite(best.value) &&
         gradient.allFinite()) {
    const VectorXd free = free_variables(best.x, gradient, lower, upper);
    if (!(gradient.cwiseProduct(free).cwiseAbs().maxCoeff() > options.gradient_tolerance))
      break;
    VectorXd direction = memory.direction(gradient, free);
    if (!(direction.dot(gradient) < 0)) {
      memory.clear();
      direction = memory.direction(gradient, free);
    }
    double step = 1;
    bool moved = false;
    double value = 0;
    while (best.evaluations < options.max_evaluations && step > 1e-10) {
      x = (best.x + step * direction).cwiseMax(lower).cwiseMin(upper);
      const double slope = gradient.dot(x - best.x);
      value = function(x, next_gradient);
      ++best.evaluations;
      if (std::isfinite(value) && slope < 0 && value <= best.value + 1e-4 * slope) {
        moved = true;
        break;
      }
      // The minimum of the parabola through both values and the slope, kept from the ends.
      const double bend = value - best.value - slope;
      const double fraction = std::isfinite(value) && bend > 0 ? -slope / (2 * bend) : 0.1;
      step *= std::clamp(fraction, 0.1, 0.5);
    }
    if (!moved)
      break;
    memory.add(x - best.x, next_gradient - gradient);
    const double gain = best.value - value;
    best.x = x;
    best.value = value;
    gradient = next_gradient;
    if (gain <= options.value_tolerance * std::max(1.0, std::abs(value)))
      break;
  }
  return best;
}

}  // namespace troupe::tune::detail
