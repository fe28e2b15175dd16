#include <troupe/base/random.hpp>
#include <troupe/tune/search/detail/acquisition_search.hpp>
#include <troupe/tune/search/detail/lbfgs.hpp>
#include <troupe/tune/search/detail/trust_region.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

GpPosterior some_posterior(std::uint64_t seed, Index pending = 0, Index samples = 1) {
  Random random(seed, 0, RandomPurpose::test);
  GpInputs inputs{MatrixXd(10 + pending, 2), {false, false}};
  for (double& x : inputs.x.reshaped())
    x = random.uniform();
  VectorXd values(10);
  for (double& value : values)
    value = random.normal();
  MatrixXd normals(pending, samples);
  for (double& number : normals.reshaped())
    number = random.normal();
  GpParameters parameters = default_gp_parameters(2);
  parameters.head(2).setConstant(2);
  return GpPosterior(inputs, parameters, values, normals);
}

void check_gradient(const Acquisition& acquisition) {
  VectorXd point(2);
  point << 0.43, 0.71;
  VectorXd gradient, ignored;
  const double value = acquisition(point, gradient);
  CHECK(value == doctest::Approx(acquisition(MatrixXd(point.transpose()))[0]).epsilon(1e-9));
  constexpr double h = 1e-6;
  for (Index j = 0; j < 2; ++j) {
    VectorXd up = point, down = point;
    up[j] += h;
    down[j] -= h;
    const double slope = (acquisition(up, ignored) - acquisition(down, ignored)) / (2 * h);
    CHECK(gradient[j] == doctest::Approx(slope).epsilon(1e-4));
  }
}

TEST_CASE("the logarithm of the expected excess is right where it can be computed otherwise") {
  for (const double z : {-20.0, -3.0, 0.0, 2.0, 30.0}) {
    double sum = 0;  // the integral of the distribution function up to z
    constexpr int steps = 200'000;
    const double low = std::min(z, 0.0) - 12;
    for (int i = 0; i < steps; ++i)
      sum += std::exp(log_normal_cdf(low + (z - low) * (i + 0.5) / steps)) * (z - low) / steps;
    CHECK(log_expected_excess(z) == doctest::Approx(std::log(sum)).epsilon(1e-5));
  }
}

TEST_CASE("the logarithms rise without a step down to where nothing else is left") {
  double excess = -HUGE_VAL, cdf = -HUGE_VAL;
  for (double z = -1000; z < 5; z += 0.01) {
    REQUIRE(log_expected_excess(z) > excess);
    REQUIRE(log_normal_cdf(z) >= cdf);
    excess = log_expected_excess(z);
    cdf = log_normal_cdf(z);
  }
  CHECK(log_expected_excess(-24.999999) - log_expected_excess(-25.000001) ==
        doctest::Approx(5e-5).epsilon(0.05));
}

TEST_CASE("gradients of one objective, with fantasies and a constraint") {
  Acquisition acquisition;
  acquisition.improve_on(some_posterior(1, 3, 8), VectorXd::Constant(8, -0.5));
  acquisition.constrain(some_posterior(2), 0.3);
  acquisition.constrain(some_posterior(3), 0.1, 4);
  check_gradient(acquisition);
  acquisition.constrain(some_posterior(4), 0.1, 1, 3);
  check_gradient(acquisition);
}

TEST_CASE("gradients of two and of three objectives") {
  Random random(5, 0, RandomPurpose::test);
  for (const Index count : {2, 3}) {
    std::vector<GpPosterior> posteriors;
    std::vector<VectorXd> front;
    for (Index m = 0; m < count; ++m) {
      posteriors.push_back(some_posterior(static_cast<std::uint64_t>(10 + m)));
      VectorXd point(count);
      for (double& value : point)
        value = random.normal() - 0.5;
      front.push_back(point);
    }
    Acquisition acquisition;
    acquisition.improve_on(std::move(posteriors),
                           improvement_boxes(front, VectorXd::Constant(count, 2)));
    check_gradient(acquisition);
  }
}

TEST_CASE("the best of a hundred categories, or of thousands, is found where it is the last") {
  for (const std::int64_t count : {100, 3000}) {
    List names;
    for (std::int64_t i = 0; i < count; ++i)
      names.emplace_back(i);
    const Design design(ParamSpace{{"c", choice(names)}, {"x", uniform(0, 1)}});
    const Features features(design);
    std::vector<Point> points;
    VectorXd values = VectorXd::Ones(12);
    for (int i = 0; i < 11; ++i)
      points.push_back({static_cast<double>(i), 0.5});
    points.push_back({static_cast<double>(count - 1), 0.5});
    values[11] = -3;
    Acquisition acquisition;
    acquisition.constrain(GpPosterior({features(points), features.nominal()},
                                      default_gp_parameters(features.size()), values),
                          -1);
    const AcquisitionSearch few{.spread = 4, .near_best = 0, .starts = 2};
    bool found = false;
    for (std::uint64_t seed = 0; seed < 20 && !found; ++seed) {
      const auto ranked = search_acquisition(
          design, features, acquisition, VectorXd::Ones(features.size()), {points[0]},
          Sobol(design.size(), 1), Random(seed, 0, RandomPurpose::test), few);
      found = ranked.at(0).point[0] == static_cast<double>(count - 1);
      CHECK((found || count > 1024));  // at once where all are tried
    }
    CHECK(found);
  }
}

TEST_CASE("boxes are disjoint and cover exactly what would be an improvement") {
  Random random(6, 0, RandomPurpose::test);
  for (const Index count : {1, 2, 3}) {
    std::vector<VectorXd> front;
    for (int i = 0; i < 8; ++i) {
      VectorXd point(count);
      for (double& value : point)
        value = random.uniform();
      front.push_back(point);
    }
    const VectorXd reference = VectorXd::Constant(count, 0.9);
    const auto boxes = improvement_boxes(front, reference);
    for (int i = 0; i < 2000; ++i) {
      VectorXd y(count);
      for (double& value : y)
        value = random.uniform(-0.2, 1.1);
      const bool improves =
          (y.array() < reference.array()).all() &&
          std::none_of(front.begin(), front.end(), [&](const VectorXd& p) {
            return (p.array() < reference.array()).all() && (p.array() <= y.array()).all();
          });
      const auto inside = std::count_if(boxes.begin(), boxes.end(), [&](const ImprovementBox& box) {
        return (y.array() >= box.lower.array()).all() && (y.array() < box.upper.array()).all();
      });
      CHECK(inside == (improves ? 1 : 0));
    }
  }
}

TEST_CASE("the expected improvement of two objectives is the average of improvements") {
  std::vector<VectorXd> front(2, VectorXd(2));
  front[0] << -0.5, 0.4;
  front[1] << 0.3, -0.6;
  const VectorXd reference = VectorXd::Constant(2, 1.5);
  const auto boxes = improvement_boxes(front, reference);
  const GpPosterior a = some_posterior(21), b = some_posterior(22);
  VectorXd point(2), ignored;
  point << 0.2, 0.9;
  const auto at_a = a.at(point), at_b = b.at(point);
  Random random(8, 0, RandomPurpose::test);
  double sum = 0;
  constexpr int draws = 200'000;
  for (int i = 0; i < draws; ++i) {
    const double y[] = {random.normal(at_a.means[0], std::sqrt(at_a.variance)),
                        random.normal(at_b.means[0], std::sqrt(at_b.variance))};
    for (const ImprovementBox& box : boxes) {
      double volume = 1;
      for (Index m = 0; m < 2; ++m)
        volume *= std::max(0.0, box.upper[m] - std::max(box.lower[m], y[m]));
      sum += volume;
    }
  }
  Acquisition acquisition;
  acquisition.improve_on(std::vector<GpPosterior>{a, b}, boxes);
  CHECK(std::exp(acquisition(point, ignored)) == doctest::Approx(sum / draws).epsilon(0.02));
}

TEST_CASE("a minimum inside of a box and one on its side are found") {
  const SmoothFunction rosenbrock = [](const VectorXd& x, VectorXd& gradient) {
    gradient[0] = -400 * x[0] * (x[1] - x[0] * x[0]) - 2 * (1 - x[0]);
    gradient[1] = 200 * (x[1] - x[0] * x[0]);
    return 100 * std::pow(x[1] - x[0] * x[0], 2) + std::pow(1 - x[0], 2);
  };
  BoxSearch options;
  options.gradient_tolerance = 1e-6;
  options.value_tolerance = 0;
  const VectorXd start = VectorXd::Constant(2, -1.5), low = VectorXd::Constant(2, -2);
  const auto inside = minimise_in_box(rosenbrock, start, low, VectorXd::Constant(2, 2), options);
  CHECK(inside.x[0] == doctest::Approx(1).epsilon(1e-4));
  CHECK(inside.evaluations <= options.max_evaluations);
  const auto side = minimise_in_box(rosenbrock, start, low, VectorXd::Constant(2, 0.5), options);
  CHECK(side.x[0] == doctest::Approx(0.5));
  CHECK(side.x[1] == doctest::Approx(0.25).epsilon(1e-3));
}

TEST_CASE("a search backs away from where the function does not exist") {
  const SmoothFunction function = [](const VectorXd& x, VectorXd& gradient) {
    gradient[0] = -1;
    return x[0] > 0.7 ? std::nan("") : -x[0];
  };
  const auto found = minimise_in_box(function, VectorXd::Zero(1), VectorXd::Zero(1),
                                     VectorXd::Ones(1), BoxSearch{});
  CHECK(found.x[0] <= 0.7);
  CHECK(found.x[0] > 0.5);
}

Neighbourhood around_minimum(Index points, Index d, const VectorXd& minimum) {
  Random random(4, 0, RandomPurpose::test);
  Neighbourhood around{MatrixXd(points, d), VectorXd(points), VectorXd::Ones(d)};
  for (double& x : around.points.reshaped())
    x = random.uniform();
  const auto loss = [&](const VectorXd& x) {
    const VectorXd s = x - minimum;
    return 3 + 10 * s.squaredNorm() + 5 * s[0] * s[1];
  };
  Index best = 0;
  for (Index i = 0; i < points; ++i)
    around.losses[i] = loss(around.points.row(i).transpose());
  around.losses.minCoeff(&best);
  std::swap(around.losses[0], around.losses[best]);
  around.points.row(0).swap(around.points.row(best));
  return around;
}

TEST_CASE("the minimum of a quadratic function is found from enough points") {
  VectorXd minimum(3);
  minimum << 0.3, 0.6, 0.45;
  const auto model = TrustModel::fit(around_minimum(14, 3, minimum));
  REQUIRE(model);
  const TrustStep step = model->step(10);
  CHECK((step.point - minimum).norm() < 1e-6);
  CHECK(step.gain > 0);
  // With less of them: a model that shows the way. With too few: none.
  const auto few = TrustModel::fit(around_minimum(7, 3, minimum));
  REQUIRE(few);
  CHECK(few->step(0.2).length <= 0.2 + 1e-9);
  CHECK_FALSE(TrustModel::fit(around_minimum(4, 3, minimum)));
}

TEST_CASE("a step stays in the unit cube and in its radius") {
  VectorXd outside(2);
  outside << 1.4, 0.5;
  const auto model = TrustModel::fit(around_minimum(12, 2, outside));
  REQUIRE(model);
  const TrustStep step = model->step(10);
  CHECK(step.point[0] == 1);
  CHECK((step.point.array() >= 0).all());
  CHECK((step.point.array() <= 1).all());
}

TEST_CASE("the radius grows after good steps, shrinks after bad ones, and is kept") {
  TrustRegion region;
  CHECK(*region.radius(0.4) == 0.4);
  const TrustStep step{VectorXd(), 1, 0.4, 0.4};
  region.begin(TrialId(3), step, 10);
  CHECK(region.waits_for(TrialId(3)));
  TrustRegion copy;
  REQUIRE(copy.restore(region.save()));
  for (TrustRegion* r : {&region, &copy}) {
    r->end(9);  // as foretold
    CHECK(*r->radius(0.1) == 0.8);
    CHECK(r->successful());
    r->begin(TrialId(5), step, 9);
    r->end(HUGE_VAL);  // failed
    CHECK(*r->radius(0.1) == 0.2);
    CHECK_FALSE(r->successful());
  }
  CHECK(copy.save() == region.save());
  region.moved(0.1);
  CHECK(*region.radius(0.1) == 0.2);
  region.moved(0.5);
  CHECK(*region.radius(0.1) == 0.1);
  CHECK(TrustRegion().restore({}).error().code() == ErrorCode::corrupt);
}

}  // namespace
}  // namespace troupe::tune::detail
