#pragma once

#include <troupe/base/ids.hpp>
#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>

#include <optional>

#include <Eigen/Core>

/// Polishing the best point by a quadratic model of what lies around it.
namespace troupe::tune::detail {

/// Points near the best one, and what is known about them.
struct Neighbourhood {
  Eigen::MatrixXd points{};  ///< one row a point, in the unit cube; the first is the best one
  Eigen::VectorXd losses{};  ///< finite
  Eigen::VectorXd scales{};  ///< of each coordinate: how fast the function changes along it, > 0
};

struct TrustStep {
  Eigen::VectorXd point{};
  double gain = 0;    ///< by which the model says that the loss gets less, >= 0
  double radius = 0;  ///< of the region searched, in scaled coordinates
  double length = 0;  ///< of the step, in scaled coordinates
};

/// A quadratic function fitted to losses around the best point.
///
/// Where there are less points than coefficients, the one is taken whose Hessian is closest to a
/// multiple of the unit matrix in scaled coordinates, so that a model exists from d + 2 points on.
class TrustModel {
public:
  /// Nothing with less than d + 2 points, or when all are equally good.
  static std::optional<TrustModel> fit(const Neighbourhood& around);

  /// Distance of the farthest point that was used, in scaled coordinates.
  [[nodiscard]] double reach() const { return reach_; }
  /// The best point of the unit cube within `radius` of the best known one.
  [[nodiscard]] TrustStep step(double radius) const;
  /// The gain at a point of the unit cube.
  [[nodiscard]] double gain(const Eigen::VectorXd& point) const;
  [[nodiscard]] double distance(const Eigen::VectorXd& point) const;

private:
  Eigen::VectorXd centre_;
  Eigen::VectorXd scales_;
  Eigen::VectorXd gradient_;  ///< in scaled coordinates
  Eigen::MatrixXd hessian_;
  double reach_ = 0;
};

/// How far the model is trusted: grows where it foretells well and shrinks where it does not
/// (the rule of dlib's global search). Part of a searcher's state.
class TrustRegion {
public:
  /// The radius to search with, given the model's reach; nothing: it shrank to nothing, and there
  /// is no use before a better point is found elsewhere.
  [[nodiscard]] std::optional<double> radius(double reach) const;
  /// A step was proposed as this trial.
  void begin(TrialId trial, const TrustStep& step, double best_loss);
  [[nodiscard]] bool waits_for(TrialId trial) const { return trial_ && *trial_ == trial; }
  [[nodiscard]] bool waiting() const { return trial_.has_value(); }
  [[nodiscard]] const std::optional<TrialId>& trial() const { return trial_; }
  /// Its trial is over with this loss; failed: infinity.
  void end(double loss);
  /// The best point is another one now, found elsewhere, at this distance from the former.
  void moved(double distance);
  /// Was the last step a success? None yet counts as one.
  [[nodiscard]] bool successful() const { return successful_; }

  [[nodiscard]] Value save() const;
  [[nodiscard]] Status restore(const Value& state);

private:
  double radius_ = 0;  ///< 0: not known, take the model's reach
  bool successful_ = true;
  std::optional<TrialId> trial_{};
  double gain_ = 0;  ///< foretold for it
  double best_loss_ = 0;
  double step_radius_ = 0;
  double step_length_ = 0;
};

}  // namespace troupe::tune::detail
