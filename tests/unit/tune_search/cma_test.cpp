#include <troupe/tune/search/detail/category_model.hpp>
#include <troupe/tune/search/detail/cma.hpp>
#include <troupe/tune/search/detail/quadratic_model.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Function = std::function<double(const VectorXd&)>;

const Cma::Cells no_cells = [](std::size_t, double x) { return std::pair(x, x); };
/// Ten equal cells.
const Cma::Cells ten_cells = [](std::size_t, double x) {
  const double low = std::min(std::floor(x * 10), 9.0) / 10;
  return std::pair(low, low + 0.1);
};

void step(Cma& cma, const Function& f, std::uint64_t seed, const Cma::Cells& cells = no_cells) {
  std::vector<std::pair<double, Cma::Told>> population;
  for (std::size_t i = 0; i < cma.settings().population; ++i) {
    Random random(seed, cma.generation(), RandomPurpose::test, static_cast<std::uint32_t>(i));
    const Cma::Sample sample = cma.sample(random);
    population.push_back({f(sample.point), {sample.x}});
  }
  std::stable_sort(population.begin(), population.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Cma::Told> told;
  for (const auto& entry : population)
    told.push_back(entry.second);
  cma.tell(told, population.front().first, population.back().first, cells);
}

Cma start(CmaSettings settings, double sigma = 0.2) {
  const auto d = static_cast<Index>(settings.dimensions);
  settings.population = CmaSettings::default_population(settings.dimensions);
  return Cma(std::move(settings), VectorXd::Constant(d, 0.5), sigma);
}

VectorXd target(Index d) {
  VectorXd t(d);
  for (Index j = 0; j < d; ++j)
    t[j] = 0.3 + 0.4 * static_cast<double>(j) / static_cast<double>(d);
  return t;
}

double sphere(const VectorXd& x) {
  return (x - target(x.size())).squaredNorm();
}

/// Condition 1e6 along directions that are not those of the axes.
double ellipsoid(const VectorXd& x) {
  const VectorXd y = x - target(x.size());
  double sum = 0;
  for (Index j = 0; j < y.size(); ++j) {
    const double mixed = y[j] + (j > 0 ? y[j - 1] : y[y.size() - 1]) * 0.9;
    sum +=
        std::pow(1e6, static_cast<double>(j) / static_cast<double>(y.size() - 1)) * mixed * mixed;
  }
  return sum;
}

TEST_CASE("the distribution converges to the minimum of smooth functions") {
  Cma easy = start({.dimensions = 10});
  for (int i = 0; i < 150; ++i)
    step(easy, sphere, 1);
  CHECK(sphere(easy.mean()) < 1e-8);
  Cma hard = start({.dimensions = 6});
  for (int i = 0; i < 600; ++i)
    step(hard, ellipsoid, 2);
  CHECK(ellipsoid(hard.mean()) < 1e-8);
  CHECK(hard.shape().isApprox(hard.shape().transpose(), 0));
}

TEST_CASE("one dimension is enough, and the diagonal for a hundred") {
  Cma line = start({.dimensions = 1});
  for (int i = 0; i < 80; ++i)
    step(line, sphere, 3);
  CHECK(sphere(line.mean()) < 1e-10);
  Cma wide = start({.dimensions = 100, .separable = true});
  for (int i = 0; i < 400; ++i)
    step(wide, sphere, 4);
  CHECK(sphere(wide.mean()) < 1e-2);
}

TEST_CASE("a minimum on the border is found, and no point lies outside") {
  const auto corner = [](const VectorXd& x) {
    REQUIRE((x.minCoeff() >= 0 && x.maxCoeff() <= 1));
    return x.sum();
  };
  Cma cma = start({.dimensions = 4});
  for (int i = 0; i < 100; ++i)
    step(cma, corner, 5);
  CHECK(cma.mean().sum() < 0.01);
}

TEST_CASE("a run restored at any generation goes on bit by bit") {
  for (const bool separable : {false, true})
    for (const bool rates : {false, true}) {
      Cma cma = start({.dimensions = 5,
                       .separable = separable,
                       .adapt_learning_rate = rates,
                       .stepped = {1, 4}});
      for (int i = 0; i < 60; ++i) {
        auto restored = Cma::restore(cma.settings(), cma.save());
        REQUIRE(restored.has_value());
        CHECK(restored->save() == cma.save());
        step(cma, ellipsoid, 6, ten_cells);
        step(*restored, ellipsoid, 6, ten_cells);
        REQUIRE(restored->save() == cma.save());
      }
    }
}

TEST_CASE("damaged states are refused") {
  Cma cma = start({.dimensions = 3});
  step(cma, sphere, 1);
  CmaSettings other = cma.settings();
  other.dimensions = 4;
  CHECK(!Cma::restore(other, cma.save()).has_value());
  CHECK(!Cma::restore(cma.settings(), Value()).has_value());
  Value state = cma.save();
  state.as_map()["numbers"].as_list()[3] = "x";
  CHECK(!Cma::restore(cma.settings(), state).has_value());
}

TEST_CASE("numbers that no run can have are refused") {
  Cma cma = start({.dimensions = 3, .adapt_learning_rate = true});
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    step(cma, sphere, seed);
  const auto refused = [&](std::size_t place, double number) {
    Value state = cma.save();
    state.as_map()["numbers"].as_list().at(place) = number;
    return !Cma::restore(cma.settings(), state).has_value();
  };
  const std::size_t all = cma.save().as_map().at("numbers").as_list().size();
  for (std::size_t place = 0; place < all; ++place)
    for (const double number : {std::nan(""), HUGE_VAL, -HUGE_VAL})
      CHECK(refused(place, number));
  constexpr std::size_t scale = 4;
  constexpr std::size_t shape = 13;  // column by column
  for (const double number : {0.0, -1.0}) {
    CHECK(refused(0, number));  // the step size
    CHECK(refused(scale, number));
    CHECK(refused(shape, number));    // a variance
    CHECK(refused(all - 1, number));  // a learning rate
  }
  CHECK(refused(all - 1, 1.001));
  CHECK(refused(shape + 1, 0.123));  // not symmetric any more
  Value state = cma.save();
  for (const std::size_t place : {shape + 1, shape + 3})
    state.as_map()["numbers"].as_list().at(place) = 1e6;  // symmetric, and no covariance
  CHECK(!Cma::restore(cma.settings(), state).has_value());
  state = cma.save();
  state.as_map()["losses"].as_list().pop_back();
  CHECK(!Cma::restore(cma.settings(), state).has_value());
}

TEST_CASE("stepped coordinates never lose sight of the neighbouring values") {
  Cma cma = start({.dimensions = 3, .stepped = {0, 1, 2}});
  const auto rounded = [](const VectorXd& x) {
    return ((x * 10).array().floor() - 6).matrix().squaredNorm();
  };
  for (int i = 0; i < 200; ++i)
    step(cma, rounded, 7, ten_cells);
  std::map<int, int> values;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    Random random(1, 1, RandomPurpose::test, i);
    ++values[static_cast<int>(std::floor(cma.sample(random).point[1] * 10))];
  }
  CHECK(values[6] > 1000);
  // The margin for each side is 1 / (2 d population) = 0.024.
  CHECK(values[5] > 20);
  CHECK(values[7] > 20);
}

TEST_CASE("a point from far away pulls no farther than a likely one") {
  Cma cma = start({.dimensions = 2}, 0.01);
  std::vector<Cma::Told> told;
  for (std::size_t i = 0; i < cma.settings().population; ++i)
    told.push_back({VectorXd::Constant(2, 1e6), true});
  cma.tell(told, 0, 1, no_cells);
  CHECK((cma.mean() - VectorXd::Constant(2, 0.5)).norm() <= 0.01 * cma.likely_distance() * 1.5);
  CHECK(std::isfinite(cma.sigma()));
}

TEST_CASE("a run is over when nothing gets better any more") {
  Cma flat = start({.dimensions = 2});
  int generations = 0;
  for (; generations < 1000 && !flat.done(); ++generations)
    step(
        flat, [](const VectorXd&) { return 1.0; }, 8);
  CHECK(generations > 10);
  CHECK(generations < 100);
  Cma converged = start({.dimensions = 3});  // all deviations below 1e-7
  for (generations = 0; generations < 2000 && !converged.done(); ++generations)
    step(converged, sphere, 9);
  CHECK(generations < 500);
  CHECK(sphere(converged.mean()) < 1e-12);
}

TEST_CASE("unknown and infinite losses leave the distribution finite") {
  Cma cma = start({.dimensions = 3});
  const double inf = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 50; ++i)
    step(
        cma, [&](const VectorXd& x) { return x[0] < 0.5   ? inf
                                             : x[1] < 0.5 ? -inf
                                                          : 1e308; }, 10);
  CHECK(cma.mean().allFinite());
  CHECK(!cma.done());
}

TEST_CASE("with learning rates noise does not make the distribution collapse") {
  double plain = 0;
  double adapted = 0;
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    for (const bool rates : {false, true}) {
      Cma cma = start({.dimensions = 5, .adapt_learning_rate = rates});
      std::uint32_t calls = 0;
      for (int i = 0; i < 1000; ++i)
        step(
            cma,
            [&](const VectorXd& x) {
              return sphere(x) + 0.05 * Random(seed, ++calls, RandomPurpose::test).normal();
            },
            seed);
      (rates ? adapted : plain) += sphere(cma.mean()) / 3;
    }
  CHECK(adapted < plain / 2);
}

TEST_CASE("a covariance to begin with is sampled as given") {
  MatrixXd covariance(2, 2);
  covariance << 0.004, 0.003, 0.003, 0.004;
  const Cma cma({.dimensions = 2, .population = 6}, VectorXd::Constant(2, 0.5), covariance);
  CHECK((cma.sigma() * cma.sigma() * cma.shape()).isApprox(covariance, 1e-12));
  double both = 0;
  for (std::uint32_t i = 0; i < 4000; ++i) {
    Random random(3, 3, RandomPurpose::test, i);
    const VectorXd y = cma.sample(random).x - cma.mean();
    both += y[0] * y[1] / 4000;
  }
  CHECK(both == doctest::Approx(0.003).epsilon(0.1));
}

TEST_CASE("categories follow the good configurations, and none vanishes") {
  CategoryModel model({3, 2});
  Random random(1, 2, RandomPurpose::test);
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < 100; ++i)
    rows.push_back({0.5, i < 20 ? 2.0 : static_cast<double>(i % 3), std::nan("")});
  std::vector<const std::vector<double>*> best_first;
  for (const std::vector<double>& row : rows)
    best_first.push_back(&row);
  model.learn(best_first, std::vector<std::size_t>{1, 2});
  CHECK(model.probabilities(0)[2] > 0.7);
  CHECK(model.probabilities(0)[0] > 0.02);
  CHECK(model.probabilities(1)[0] == doctest::Approx(0.5));
  int chosen = 0;
  for (int i = 0; i < 1000; ++i)
    chosen += model.sample(random)[0] == 2 ? 1 : 0;
  CHECK(chosen / 1000.0 == doctest::Approx(model.probabilities(0)[2]).epsilon(0.1));
  CategoryModel other({3, 2});
  REQUIRE(other.restore(model.save()).has_value());
  CHECK(other.save() == model.save());
  CHECK(!CategoryModel({3}).restore(model.save()).has_value());
}

struct Data {
  MatrixXd coordinates;
  MatrixXd extra;
  VectorXd values;
  VectorXd weights;
};

/// (x0 - 1)^2 + 4 (x1 + 2)^2 + x0 x1 + 3 where category 1, 7 where category 0.
Data quadratic(Index points) {
  Data data{MatrixXd(2, points), MatrixXd::Zero(2, points), VectorXd(points), VectorXd(points)};
  Random random(5, 5, RandomPurpose::test);
  for (Index i = 0; i < points; ++i) {
    const double x = random.normal();
    const double y = random.normal();
    const auto category = static_cast<Index>(random.below(2));
    data.coordinates.col(i) << x, y;
    data.extra(category, i) = 1;
    data.values[i] = (x - 1) * (x - 1) + 4 * (y + 2) * (y + 2) + x * y + (category == 1 ? 3 : 7);
    data.weights[i] = 1 + random.uniform();
  }
  return data;
}

TEST_CASE("a regression of enough points finds the quadratic that they come from") {
  const Data data = quadratic(40);
  const auto model =
      QuadraticModel::fit(data.coordinates, MatrixXd(0, 40), data.values, data.weights, 4);
  REQUIRE(model.has_value());
  const auto with = QuadraticModel::fit(data.coordinates, data.extra, data.values, data.weights, 4);
  REQUIRE(with.has_value());
  // Minimum of the quadratic: 2 (x - 1) + y = 0, 8 (y + 2) + x = 0.
  const VectorXd minimum = with->minimiser().value();
  CHECK(minimum[0] == doctest::Approx(32 / 15.0).epsilon(0.05));
  CHECK(minimum[1] == doctest::Approx(-34 / 15.0).epsilon(0.05));
  const VectorXd both = with->predict(MatrixXd::Constant(2, 2, 0.3), MatrixXd::Identity(2, 2));
  CHECK(both[0] - both[1] == doctest::Approx(4).epsilon(0.15));
  CHECK(std::fabs(with->left_out()[3] - data.values[3]) < 1);
}

TEST_CASE("what a regression predicts for a point left out is what a fit without it predicts") {
  const Data data = quadratic(30);
  const MatrixXd none(0, 30);
  const auto all = QuadraticModel::fit(data.coordinates, none, data.values, data.weights, 4);
  const auto rest = QuadraticModel::fit(data.coordinates.rightCols(29), none.rightCols(29),
                                        data.values.tail(29), data.weights.tail(29), 0);
  REQUIRE((all && rest));
  const VectorXd predicted = rest->predict(data.coordinates.leftCols(1), MatrixXd(0, 1));
  CHECK(all->left_out()[0] == doctest::Approx(predicted[0]).epsilon(1e-5));
}

TEST_CASE(
    "too few points or too many coordinates give no regression, and a saddle has no minimum") {
  const Data data = quadratic(3);
  CHECK(!QuadraticModel::fit(data.coordinates, MatrixXd(0, 3), data.values, data.weights, 0));
  CHECK(QuadraticModel::useful_points(41, 0) == 0);
  CHECK(QuadraticModel::useful_points(3, 98) == 0);
  const MatrixXd many = MatrixXd::Random(41, 200);
  CHECK(
      !QuadraticModel::fit(many, MatrixXd(0, 200), VectorXd::Random(200), VectorXd::Ones(200), 0));
  Data saddle = quadratic(40);
  for (Index i = 0; i < 40; ++i)
    saddle.values[i] = saddle.coordinates(0, i) * saddle.coordinates(1, i);
  const auto model =
      QuadraticModel::fit(saddle.coordinates, MatrixXd(0, 40), saddle.values, saddle.weights, 0);
  REQUIRE(model.has_value());
  CHECK(!model->minimiser());
}

}  // namespace
}  // namespace troupe::tune::detail
