#include <troupe/base/random.hpp>
#include <troupe/tune/search/detail/gaussian_process.hpp>
#include <troupe/tune/search/detail/output_warp.hpp>
#include <troupe/tune/search/detail/surrogate.hpp>

#include <cmath>
#include <limits>
#include <numbers>

#include <Eigen/Dense>
#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Three features, the last one nominal; the second does not matter.
GpInputs some_inputs(Index count) {
  Random random(3, 0, RandomPurpose::test);
  GpInputs inputs{MatrixXd(count, 3), {false, false, true}};
  for (Index i = 0; i < count; ++i)
    inputs.x.row(i) << random.uniform(), random.uniform(), static_cast<double>(random.below(3));
  return inputs;
}

VectorXd some_values(const GpInputs& inputs) {
  VectorXd values(inputs.size());
  for (Index i = 0; i < inputs.size(); ++i)
    values[i] = std::sin(5 * inputs.x(i, 0)) + 0.5 * inputs.x(i, 2);
  return OutputWarp::affine(values)(values);
}

GpParameters some_parameters() {
  GpParameters parameters(5);
  parameters << 1.5, -1, 0.3, 0.4, std::log(1e-3);
  return parameters;
}

/// The kernel as the paper has it.
double kernel(const VectorXd& a, const VectorXd& b, const GpParameters& p) {
  const double squared = std::exp(p[0]) * std::pow(a[0] - b[0], 2) +
                         std::exp(p[1]) * std::pow(a[1] - b[1], 2) +
                         std::exp(p[2]) * (a[2] != b[2] ? 1 : 0);
  const double root = std::sqrt(5 * squared);
  return std::exp(p[3]) * (1 + root + root * root / 3) * std::exp(-root);
}

MatrixXd covariance(const GpInputs& inputs, const GpParameters& p) {
  MatrixXd all(inputs.size(), inputs.size());
  for (Index i = 0; i < inputs.size(); ++i)
    for (Index j = 0; j < inputs.size(); ++j)
      all(i, j) = kernel(inputs.x.row(i).transpose(), inputs.x.row(j).transpose(), p) +
                  (i == j ? gp_noise(p) : 0);
  return all;
}

TEST_CASE("means and variances are those of the formula") {
  const GpInputs inputs = some_inputs(20);
  const VectorXd values = some_values(inputs);
  const GpParameters p = some_parameters();
  const GpPosterior posterior(inputs, p, values);
  REQUIRE(posterior.ok());
  const MatrixXd inverse = covariance(inputs, p).inverse();
  const MatrixXd points = some_inputs(90).x.bottomRows(70);
  const GpPosterior::Batch batch = posterior.predict(points);
  for (Index i = 0; i < points.rows(); ++i) {
    const VectorXd point = points.row(i).transpose();
    VectorXd k(20);
    for (Index j = 0; j < 20; ++j)
      k[j] = kernel(point, inputs.x.row(j).transpose(), p);
    CHECK(batch.means(i, 0) == doctest::Approx(k.dot(inverse * values)).epsilon(1e-8));
    CHECK(batch.variances[i] == doctest::Approx(std::exp(p[3]) - k.dot(inverse * k)).epsilon(1e-7));
    const GpPosterior::At at = posterior.at(point);
    CHECK(at.means[0] == doctest::Approx(batch.means(i, 0)).epsilon(1e-10));
    CHECK(at.variance == doctest::Approx(batch.variances[i]).epsilon(1e-8));
  }
}

TEST_CASE("predictions near a place are the same as anywhere") {
  const GpInputs inputs = some_inputs(20);
  const GpPosterior posterior(inputs, some_parameters(), some_values(inputs));
  for (const Index place : {0, 1}) {  // one that was seen, whose distance rounding makes negative
    MatrixXd points = inputs.x;
    if (place == 1)
      points.row(1) << 0.123, 0.456, 1;
    const GpPosterior::Batch all = posterior.predict(points);
    const GpPosterior::Batch near =
        posterior.predict(points, posterior.place(points.row(place).transpose()));
    for (Index i = 0; i < points.rows(); ++i) {
      CHECK(near.means(i, 0) == doctest::Approx(all.means(i, 0)).epsilon(1e-6));
      CHECK(near.variances[i] == doctest::Approx(all.variances[i]).epsilon(1e-6));
    }
  }
}

TEST_CASE("the gradient of a posterior is that of its means and variance") {
  const GpInputs inputs = some_inputs(15);
  const GpPosterior posterior(inputs, some_parameters(), some_values(inputs));
  VectorXd point(3);
  point << 0.37, 0.61, 1;
  constexpr double h = 1e-6;
  for (const auto& [by_mean, by_variance] : {std::pair{1.0, 0.0}, std::pair{0.0, 1.0}}) {
    const VectorXd gradient =
        posterior.gradient(point, posterior.at(point), VectorXd::Constant(1, by_mean), by_variance);
    for (Index j = 0; j < 2; ++j) {
      VectorXd up = point, down = point;
      up[j] += h;
      down[j] -= h;
      const auto a = posterior.at(up), b = posterior.at(down);
      const double slope =
          (by_mean * (a.means[0] - b.means[0]) + by_variance * (a.variance - b.variance)) / (2 * h);
      CHECK(gradient[j] == doctest::Approx(slope).epsilon(1e-5));
    }
    CHECK(gradient[2] == 0);
  }
}

TEST_CASE("a value left out is foretold as by a process that never saw it") {
  const GpInputs inputs = some_inputs(12);
  const VectorXd values = some_values(inputs);
  const GpParameters p = some_parameters();
  const VectorXd densities = GpPosterior(inputs, p, values).leave_one_out();
  GpInputs others{inputs.x.bottomRows(11), inputs.nominal};
  const GpPosterior without(others, p, values.tail(11));
  const GpPosterior::At at = without.at(inputs.x.row(0).transpose());
  const double variance = at.variance + gp_noise(p);
  const double expected = -0.5 * (std::log(2 * std::numbers::pi * variance) +
                                  std::pow(values[0] - at.means[0], 2) / variance);
  CHECK(densities[0] == doctest::Approx(expected).epsilon(1e-8));
}

TEST_CASE("pending points with their expected values change variances and no mean") {
  const GpInputs inputs = some_inputs(16);
  const VectorXd values = some_values(inputs).head(12);
  const GpParameters p = some_parameters();
  const GpPosterior with(inputs, p, values, MatrixXd::Zero(4, 1));
  const GpPosterior without({inputs.x.topRows(12), inputs.nominal}, p, values);
  VectorXd point(3);
  point << 0.5, 0.5, 2;
  CHECK(with.at(point).means[0] == doctest::Approx(without.at(point).means[0]).epsilon(1e-9));
  CHECK(with.at(point).variance < without.at(point).variance);
  for (Index i = 0; i < 4; ++i)
    CHECK(with.fantasies()(i, 0) ==
          doctest::Approx(without.at(inputs.x.row(12 + i).transpose()).means[0]).epsilon(1e-9));
}

TEST_CASE("drawn values of pending points have the posterior's mean and variance") {
  const GpInputs inputs = some_inputs(8);
  const VectorXd values = some_values(inputs).head(6);
  const GpParameters p = some_parameters();
  constexpr Index draws = 20'000;
  MatrixXd normals(2, draws);
  Random random(9, 0, RandomPurpose::test);
  for (double& number : normals.reshaped())
    number = random.normal();
  const GpPosterior with(inputs, p, values, normals);
  const GpPosterior without({inputs.x.topRows(6), inputs.nominal}, p, values);
  for (Index i = 0; i < 2; ++i) {
    const auto at = without.at(inputs.x.row(6 + i).transpose());
    const auto row = with.fantasies().row(i).array();
    CHECK(row.mean() == doctest::Approx(at.means[0]).epsilon(0.03));
    CHECK((row - row.mean()).square().mean() ==
          doctest::Approx(at.variance + gp_noise(p)).epsilon(0.05));
  }
}

TEST_CASE("a fit finds which features matter and that there is no noise") {
  const GpInputs inputs = some_inputs(60);
  const GpFit fit = fit_gp(inputs, some_values(inputs), default_gp_parameters(3), 200);
  CHECK(fit.parameters[0] > fit.parameters[1] + 2);
  CHECK(fit.parameters[2] > fit.parameters[1]);
  CHECK(gp_noise(fit.parameters) < 1e-3);
  // A maximum: a small change of any parameter makes nothing better.
  for (Index i = 0; i < 5; ++i)
    for (const double change : {-0.1, 0.1}) {
      GpParameters other = fit.parameters;
      other[i] += change;
      const GpFit there = fit_gp(inputs, some_values(inputs), other, 1);
      CHECK(there.log_posterior <= fit.log_posterior + 1e-3);
    }
}

TEST_CASE("equal points and constant values are fitted without an error") {
  GpInputs inputs{MatrixXd::Constant(30, 2, 0.5), {false, false}};
  const VectorXd values = VectorXd::Zero(30);
  const GpFit fit = fit_gp(inputs, values, default_gp_parameters(2), 50);
  REQUIRE(fit.parameters.allFinite());
  const GpPosterior posterior(inputs, fit.parameters, values);
  REQUIRE(posterior.ok());
  CHECK(posterior.at(VectorXd::Constant(2, 0.5)).means[0] == 0);
}

TEST_CASE("a warp rises, and what it makes has mean 0 and variance 1") {
  VectorXd losses(40);
  for (Index i = 0; i < 40; ++i)
    losses[i] = std::exp(0.3 * static_cast<double>(i));
  for (const OutputWarp& warp : {OutputWarp::affine(losses), OutputWarp::yeo_johnson(losses)}) {
    const VectorXd values = warp(losses);
    CHECK(values.mean() == doctest::Approx(0).epsilon(1e-9));
    CHECK(values.array().square().mean() == doctest::Approx(1));
    for (Index i = 1; i < 40; ++i)
      CHECK(values[i] > values[i - 1]);
    const double slope = (warp(losses[20] + 1e-4) - warp(losses[20] - 1e-4)) / 2e-4;
    CHECK(std::exp(warp.log_slope(losses[20])) == doctest::Approx(slope).epsilon(1e-5));
    CHECK(warp.unclamped(losses[0] - 1) < values[0]);
  }
  // Exponential losses become nearly evenly spaced.
  const VectorXd warped = OutputWarp::yeo_johnson(losses)(losses);
  CHECK(warped[20] - warped[0] > 0.3 * (warped[39] - warped[0]));
}

TEST_CASE("extreme losses are warped to finite values") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  VectorXd losses(8);
  losses << 1, inf, -inf, 1e308, -1e308, 5e-324, 2, 3;
  for (const OutputWarp& warp : {OutputWarp::affine(losses), OutputWarp::yeo_johnson(losses)}) {
    CHECK(warp(losses).allFinite());
    CHECK(warp(inf) == warp(1e308));
    CHECK(warp(-inf) <= warp(1));
  }
  for (const VectorXd& same : {VectorXd(VectorXd::Constant(5, 7)), VectorXd()})
    CHECK(OutputWarp::yeo_johnson(same)(same).isZero());
  const VectorXd infinite = VectorXd::Constant(3, inf);
  CHECK(OutputWarp::yeo_johnson(infinite)(infinite).isZero());
}

TEST_CASE("losses with a long tail are warped, even ones are not") {
  const GpInputs inputs = some_inputs(50);
  VectorXd even(50), tailed(50);
  for (Index i = 0; i < 50; ++i) {
    even[i] = std::sin(6 * inputs.x(i, 0)) + inputs.x(i, 1);
    tailed[i] = std::exp(6 * even[i]);
  }
  CHECK_FALSE(fit_surrogate(inputs, even, {}, WarpChoice::automatic, 2, 60).warped);
  CHECK(fit_surrogate(inputs, tailed, {}, WarpChoice::automatic, 2, 60).warped);
  CHECK_FALSE(fit_surrogate(inputs, tailed, {}, WarpChoice::none, 2, 60).warped);
  CHECK(fit_surrogate(inputs, even, {}, WarpChoice::yeo_johnson, 2, 60).warped);
}

TEST_CASE("parameters of a surrogate are restored, and damaged ones refused") {
  const GpInputs inputs = some_inputs(20);
  const auto fitted = fit_surrogate(inputs, some_values(inputs), {}, WarpChoice::automatic, 2, 20);
  const auto back = SurrogateParameters::restore(fitted.save(), 3).value_or_throw();
  CHECK(back.save() == fitted.save());
  CHECK(SurrogateParameters::restore(fitted.save(), 4).error().code() == ErrorCode::corrupt);
  CHECK(SurrogateParameters::restore({}, 3).error().code() == ErrorCode::corrupt);
}

}  // namespace
}  // namespace troupe::tune::detail
