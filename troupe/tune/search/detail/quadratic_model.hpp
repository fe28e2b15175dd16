#pragma once

#include <cstddef>
#include <optional>

#include <Eigen/Core>

/// A regression that tells which of some points are better without trying them.
namespace troupe::tune::detail {

/// Weighted least squares on 1, coordinates, and as the number of points allows their squares and
/// products; what is extra enters linearly. A pure function of the data.
class QuadraticModel {
public:
  /// Columns of `coordinates` and `extra` (indicators of categories, may have no rows) belong to
  /// `values` and `weights` > 0. Nothing when there are too few for a linear model, or too many
  /// rows to be fast (40 coordinates, 100 coefficients). `left_out`: see below.
  static std::optional<QuadraticModel> fit(const Eigen::Ref<const Eigen::MatrixXd>& coordinates,
                                           const Eigen::Ref<const Eigen::MatrixXd>& extra,
                                           const Eigen::VectorXd& values,
                                           const Eigen::VectorXd& weights, Eigen::Index left_out);

  /// How many points are worth giving with so many coordinates; 0: there is no model for them.
  static std::size_t useful_points(std::size_t coordinates, std::size_t extra);

  /// Of points, one a column.
  [[nodiscard]] Eigen::VectorXd predict(const Eigen::MatrixXd& coordinates,
                                        const Eigen::MatrixXd& extra) const;
  /// For each of the first `left_out` points of the data: what a fit without it would predict
  /// there.
  [[nodiscard]] const Eigen::VectorXd& left_out() const { return left_out_; }
  /// The coordinates with the least prediction, where the curvature is positive everywhere.
  [[nodiscard]] std::optional<Eigen::VectorXd> minimiser() const;

private:
  enum class Kind { linear, diagonal, full };

  static std::size_t coefficients(Kind kind, std::size_t coordinates, std::size_t extra);
  static std::optional<Kind> choose(std::size_t points, std::size_t coordinates, std::size_t extra);
  void features(Eigen::Ref<const Eigen::VectorXd> coordinates,
                Eigen::Ref<const Eigen::VectorXd> extra, double factor,
                Eigen::Ref<Eigen::VectorXd> row) const;

  Kind kind_ = Kind::linear;
  Eigen::Index dimensions_ = 0;
  Eigen::VectorXd coefficients_;
  Eigen::VectorXd left_out_;
};

}  // namespace troupe::tune::detail
