#include <troupe/tune/search/detail/cholesky.hpp>
#include <troupe/tune/search/detail/quadratic_model.hpp>

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

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

/// What the coefficients are multiplied with, all times `factor`.
void QuadraticModel::features(Eigen::Ref<const VectorXd> z, Eigen::Ref<const VectorXd> extra,
                              double factor, Eigen::Ref<VectorXd> row) const {
  const Index d = dimensions_;
  row[0] = factor;
  row.segment(1, d) = factor * z;
  row.segment(1 + d, extra.size()) = factor * extra;
  Index next = 1 + d + extra.size();
  if (kind_ == Kind::linear)
    return;
  row.segment(next, d) = factor * z.cwiseAbs2();
  next += d;
  for (Index i = 1; kind_ == Kind::full && i < d; next += i++)
    row.segment(next, i) = factor * z[i] * z.head(i);
}

std::optional<QuadraticModel> QuadraticModel::fit(const Eigen::Ref<const MatrixXd>& coordinates,
                                                  const Eigen::Ref<const MatrixXd>& extra,
                                                  const VectorXd& values, const VectorXd& weights,
                                                  Index left_out) {
  const auto d = static_cast<std::size_t>(coordinates.rows());
  const auto more = static_cast<std::size_t>(extra.rows());
  const auto kind = choose(static_cast<std::size_t>(coordinates.cols()), d, more);
  if (!kind)
    return std::nullopt;
  QuadraticModel model;
  model.kind_ = *kind;
  model.dimensions_ = coordinates.rows();
  const auto count = static_cast<Index>(coefficients(*kind, d, more));
  const Index width = padded_columns(count);
  const VectorXd roots = weights.cwiseSqrt();
  // A column each point: its features, and below them its value.
  MatrixXd data = MatrixXd::Zero(padded_rows(width + 1), coordinates.cols());
  for (Index i = 0; i < coordinates.cols(); ++i)
    model.features(coordinates.col(i), extra.col(i), roots[i], data.col(i).head(count));
  data.row(width) = roots.cwiseProduct(values);
  // The normal equations, below them their right-hand side and the features of what is left out.
  MatrixXd rows = MatrixXd::Zero(padded_rows(width + 1 + left_out), width);
  add_row_products(data, rows);
  // In units in which all features are as large.
  VectorXd scale = (rows.diagonal() / weights.sum()).cwiseSqrt();
  for (double& unit : scale)
    unit = unit > 0 ? 1 / unit : 1;
  for (Index j = 0; j < width; ++j) {
    rows.col(j).segment(j, width - j).array() *= scale[j] * scale.tail(width - j).array();
    rows(width, j) *= scale[j];
    rows.col(j).segment(width + 1, left_out) = scale[j] * data.row(j).head(left_out);
  }
  rows.diagonal().array() += ridge * weights.sum();
  rows.diagonal().segment(1 + model.dimensions_, extra.rows()).array() +=
      indicator_ridge * weights.sum();
  if (!factorise(rows))
    return std::nullopt;
  const VectorXd half = rows.row(width);
  const auto factor = rows.topRows(width).triangularView<Eigen::Lower>();
  model.coefficients_ = scale.cwiseProduct(factor.transpose().solve(half)).head(count);
  if (!model.coefficients_.allFinite())
    return std::nullopt;
  const auto others = rows.middleRows(width + 1, left_out);
  const VectorXd residuals =
      values.head(left_out) - (others * half).cwiseQuotient(roots.head(left_out));
  model.left_out_ = values.head(left_out).array() -
                    residuals.array() / (1 - others.rowwise().squaredNorm().array()).max(1e-6);
  return model;
}

VectorXd QuadraticModel::predict(const MatrixXd& coordinates, const MatrixXd& extra) const {
  VectorXd row(coefficients_.size());
  VectorXd result(coordinates.cols());
  for (Index i = 0; i < result.size(); ++i) {
    features(coordinates.col(i), extra.col(i), 1, row);
    result[i] = row.dot(coefficients_);
  }
  return result;
}

std::optional<VectorXd> QuadraticModel::minimiser() const {
  if (kind_ == Kind::linear)
    return std::nullopt;
  const Index d = dimensions_;
  const VectorXd& c = coefficients_;
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
