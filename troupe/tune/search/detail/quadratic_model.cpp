#include <troupe/tune/search/detail/quadratic_model.hpp>

#include <algorithm>
#include <cmath>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t max_coefficients = 100;
/// Without their squares so many coordinates tell too little for what the regression costs.
constexpr std::size_t max_coordinates = 40;
/// Keeps the equations solvable where columns depend on each other; in units of the largest one.
constexpr double ridge = 1e-10;
/// Indicators are shrunk: a category that was seen once does not tell much.
constexpr double indicator_ridge = 0.02;

}  // namespace

std::size_t QuadraticModel::coefficients(Kind kind, std::size_t d, std::size_t extra) {
  const std::size_t linear = 1 + d + extra;
  if (kind == Kind::linear)
    return linear;
  return kind == Kind::diagonal ? linear + d : linear + d * (d + 1) / 2;
}

std::optional<QuadraticModel::Kind> QuadraticModel::choose(std::size_t points, std::size_t d,
                                                           std::size_t extra) {
  if (d > max_coordinates)
    return std::nullopt;
  for (const Kind kind : {Kind::full, Kind::diagonal, Kind::linear}) {
    const std::size_t count = coefficients(kind, d, extra);
    if (count <= max_coefficients && 10 * points >= 11 * count)
      return kind;
  }
  return std::nullopt;
}

std::size_t QuadraticModel::useful_points(std::size_t d, std::size_t extra) {
  if (d > max_coordinates)
    return 0;
  for (const Kind kind : {Kind::full, Kind::diagonal, Kind::linear})
    if (coefficients(kind, d, extra) <= max_coefficients)
      return coefficients(kind, d, extra) * 3 / 2;
  return 0;
}

void QuadraticModel::features(Eigen::Ref<const VectorXd> z, Eigen::Ref<const VectorXd> extra,
                              Eigen::Ref<VectorXd> row) const {
  const Index d = dimensions_;
  row[0] = 1;
  row.segment(1, d) = z;
  row.segment(1 + d, extra.size()) = extra;
  Index next = 1 + d + extra.size();
  if (kind_ == Kind::linear)
    return;
  row.segment(next, d) = z.cwiseAbs2();
  next += d;
  for (Index i = 0; kind_ == Kind::full && i < d; ++i)
    for (Index j = 0; j < i; ++j)
      row[next++] = z[i] * z[j];
}

std::optional<QuadraticModel> QuadraticModel::fit(const Eigen::Ref<const MatrixXd>& coordinates,
                                                  const Eigen::Ref<const MatrixXd>& extra,
                                                  const VectorXd& values, const VectorXd& weights) {
  const auto d = static_cast<std::size_t>(coordinates.rows());
  const auto more = static_cast<std::size_t>(extra.rows());
  const auto kind = choose(static_cast<std::size_t>(coordinates.cols()), d, more);
  if (!kind)
    return std::nullopt;
  QuadraticModel model;
  model.kind_ = *kind;
  model.dimensions_ = coordinates.rows();
  model.values_ = values;
  model.roots_ = weights.cwiseSqrt();
  const auto count = static_cast<Index>(coefficients(*kind, d, more));
  model.features_.resize(count, coordinates.cols());
  for (Index i = 0; i < coordinates.cols(); ++i) {
    model.features(coordinates.col(i), extra.col(i), model.features_.col(i));
    model.features_.col(i) *= model.roots_[i];
  }
  MatrixXd equations = MatrixXd::Zero(count, count);
  equations.selfadjointView<Eigen::Lower>().rankUpdate(model.features_);
  // In units in which all features are as large.
  model.scale_ = (equations.diagonal() / weights.sum()).cwiseSqrt();
  for (double& scale : model.scale_)
    scale = scale > 0 ? 1 / scale : 1;
  equations = model.scale_.asDiagonal() * equations * model.scale_.asDiagonal();
  equations.diagonal().array() += ridge * weights.sum();
  equations.diagonal().segment(1 + model.dimensions_, extra.rows()).array() +=
      indicator_ridge * weights.sum();
  model.factor_.compute(equations);
  model.solution_ = model.factor_.solve(
      model.scale_.cwiseProduct(model.features_ * model.roots_.cwiseProduct(values)));
  if (model.factor_.info() != Eigen::Success || !model.solution_.allFinite())
    return std::nullopt;
  return model;
}

VectorXd QuadraticModel::predict(const MatrixXd& coordinates, const MatrixXd& extra) const {
  const VectorXd coefficients = solution_.cwiseProduct(scale_);
  VectorXd row(solution_.size());
  VectorXd result(coordinates.cols());
  for (Index i = 0; i < result.size(); ++i) {
    features(coordinates.col(i), extra.col(i), row);
    result[i] = row.dot(coefficients);
  }
  return result;
}

VectorXd QuadraticModel::left_out(Index count) const {
  const MatrixXd data = scale_.asDiagonal() * features_.leftCols(count);
  const VectorXd leverages = factor_.matrixL().solve(data).colwise().squaredNorm();
  const VectorXd residuals =
      values_.head(count) - (data.transpose() * solution_).cwiseQuotient(roots_.head(count));
  return values_.head(count).array() - residuals.array() / (1 - leverages.array()).max(1e-6);
}

std::optional<VectorXd> QuadraticModel::minimiser() const {
  if (kind_ == Kind::linear)
    return std::nullopt;
  const Index d = dimensions_;
  const VectorXd c = solution_.cwiseProduct(scale_);
  const Index first = c.size() - (kind_ == Kind::full ? d * (d + 1) / 2 : d);
  MatrixXd hessian = (2 * c.segment(first, d)).asDiagonal();
  Index next = first + d;
  for (Index i = 0; kind_ == Kind::full && i < d; ++i)
    for (Index j = 0; j < i; ++j)
      hessian(i, j) = hessian(j, i) = c[next++];
  const Eigen::LLT<MatrixXd> factor(hessian);
  if (factor.info() != Eigen::Success)
    return std::nullopt;
  VectorXd minimum = -factor.solve(c.segment(1, d));
  if (!minimum.allFinite())
    return std::nullopt;
  return minimum;
}

}  // namespace troupe::tune::detail
