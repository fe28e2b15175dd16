#pragma once

#include <functional>

#include <Eigen/Core>

/// Minimising a smooth function in a box.
namespace troupe::tune::detail {

/// The value at a point; writes the gradient. A value that is not finite marks a place where the
/// function does not exist; the search backs away from it.
using SmoothFunction = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)>;

struct BoxSearch {
  int max_evaluations = 200;
  /// The end is reached when no component of the projected gradient is larger.
  double gradient_tolerance = 1e-2;
  /// ... or when a step gains less than this fraction of the value.
  double value_tolerance = 1e-9;
};

struct BoxMinimum {
  Eigen::VectorXd x{};
  double value = 0;
  int evaluations = 0;
};

/// Projected limited-memory BFGS: quasi-Newton steps in the variables that are free, backtracking
/// along the path that the box bends. Never returns a point worse than `start`, which is moved
/// into the box; the value is not finite exactly when the one at `start` is not.
[[nodiscard]] BoxMinimum minimise_in_box(const SmoothFunction& function, Eigen::VectorXd start,
                                         const Eigen::VectorXd& lower, const Eigen::VectorXd& upper,
                                         const BoxSearch& options);

}  // namespace troupe::tune::detail
