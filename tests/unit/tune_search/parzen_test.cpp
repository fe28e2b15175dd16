#include <troupe/tune/search/detail/normal.hpp>
#include <troupe/tune/search/detail/parzen.hpp>
#include <troupe/tune/search/detail/tpe_model.hpp>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

/// Points with the columns that an estimator reads.
struct Data {
  std::vector<Axis> axes{};
  std::vector<ParzenColumn> columns{};
  std::vector<std::size_t> block{};
  std::vector<std::uint32_t> members{};

  explicit Data(std::vector<Domain> domains) : columns(domains.size()) {
    for (std::size_t a = 0; a < domains.size(); ++a) {
      axes.emplace_back("x" + std::to_string(a), std::move(domains[a]));
      block.push_back(a);
    }
  }
  void add(const Point& point) {
    members.push_back(static_cast<std::uint32_t>(members.size()));
    for (std::size_t a = 0; a < axes.size(); ++a)
      columns[a].add(point[a], axes[a].categorical());
  }
  [[nodiscard]] Parzen estimator(const ParzenOptions& options = {}) {
    return {axes, block, columns, members, age_weights(members.size()), options};
  }
};

Data uniform_points(std::vector<Domain> domains, std::size_t count, std::uint64_t seed) {
  Data data(std::move(domains));
  Random random(seed, 0, RandomPurpose::test);
  for (std::size_t i = 0; i < count; ++i) {
    Point point;
    for (const Axis& axis : data.axes)
      point.push_back(axis.snap(axis.from_uniform(random.uniform())));
    data.add(point);
  }
  return data;
}

// See tests/golden/tune_search/parzen.py.
TEST_CASE("densities are those of Optuna 5, for every kind of parameter") {
  std::ifstream golden(std::string(TROUPE_TESTS_DIR) + "/golden/tune_search/parzen.txt");
  const double log_width = -std::log(1e-6);
  const auto read = [&](const Data& data) {
    std::vector<double> raw(6);
    for (double& value : raw)
      golden >> value;
    return Point{(raw[0] + 5) / 15,
                 1 + std::log(raw[1]) / log_width,
                 data.axes[2].encode(static_cast<std::int64_t>(raw[2])).value(),
                 data.axes[3].encode(static_cast<std::int64_t>(raw[3])).value(),
                 (std::round(raw[4] / 0.05) + 0.5) / 11,
                 raw[5]};
  };
  std::size_t groups = 0;
  for (std::size_t count = 0; golden >> count; ++groups) {
    Data data({uniform(-5, 10), loguniform(1e-6, 1), randint(0, 21), lograndint(16, 1025),
               quniform(0, 0.5, 0.05), choice({"x", "y", "z"})});
    for (std::size_t i = 0; i < count; ++i)
      data.add(read(data));
    for (int i = 0; i < 4; ++i) {
      const Point point = read(data);
      double expected = 0;
      golden >> expected;
      // Ours is a density in the unit cube.
      const double found =
          data.estimator().log_density({point})[0] - std::log(15.0) - std::log(log_width);
      CHECK(found == doctest::Approx(expected).epsilon(1e-9));
    }
  }
  CHECK(groups == 6);
}

TEST_CASE("on a discrete axis the probabilities of all values add up to 1") {
  for (const Domain& domain : {lograndint(3, 2000), lograndint(1, 3), randint(0, 7),
                               quniform(0.8, 1, 0.1), choice({1, "a", true})}) {
    Data data = uniform_points({domain}, 30, 11);
    const Axis& axis = data.axes[0];
    std::vector<Parzen::Row> points;
    for (std::uint64_t i = 0; i < axis.count(); ++i)
      points.push_back({axis.coordinate(i)});
    for (const double sharpness : {1.0, 6.0}) {
      double sum = 0;
      const Parzen parzen = data.estimator({.sharpness = sharpness});
      for (const double log : parzen.log_density(points))
        sum += std::exp(log);
      CHECK(std::abs(sum - 1) < 1e-9);
    }
  }
}

TEST_CASE("kernels that are passed over because they are far away do not count") {
  Data data = uniform_points({lograndint(1, 200), choice({1, 2, 3}), randint(0, 30)}, 400, 12);
  std::vector<Parzen::Row> points;
  for (std::uint64_t i = 0; i < 199; ++i)
    for (const double category : {0.0, 1.0, 2.0})
      for (std::uint64_t j = 0; j < 30; ++j)
        points.push_back({data.axes[0].coordinate(i), category, data.axes[2].coordinate(j)});
  double sum = 0;
  for (const double log : data.estimator({.sharpness = 50}).log_density(points))
    sum += std::exp(log);
  CHECK(std::abs(sum - 1) < 1e-8);
}

TEST_CASE("fine grids have the probabilities that a continuum gives their cells") {
  for (const std::int64_t count : {300, 3'000, 100'000}) {
    Data grid({randint(0, count)});
    Data reals({uniform(0, 1)});
    for (int i = 0; i < 200; ++i) {
      const double x = grid.axes[0].snap(0.3 + 0.001 * i);
      grid.add({x});
      reals.add({x});
    }
    for (const double at : {0.05, 0.29, 0.4, 0.53, 0.9}) {
      const double x = grid.axes[0].snap(at);
      const auto [low, high] = grid.axes[0].cell(x);
      double mean = 0;  // over the cell, by Simpson's rule
      for (int i = 0; i <= 10; ++i) {
        const double factor = i == 0 || i == 10 ? 1 : i % 2 == 1 ? 4 : 2;
        const std::vector<double> point = {low + (high - low) * i / 10};
        mean += factor / 30 * std::exp(reals.estimator().log_density({point})[0]);
      }
      const double found = grid.estimator().log_density({{x}})[0];
      CHECK(found == doctest::Approx(std::log(mean * (high - low))).epsilon(1e-7));
    }
  }
}

TEST_CASE("on a continuous axis the density integrates to 1") {
  Data data = uniform_points({uniform(0, 1)}, 12, 5);
  std::vector<Parzen::Row> points;
  for (int i = 0; i < 20000; ++i)
    points.push_back({(i + 0.5) / 20000});
  double sum = 0;
  for (const double log : data.estimator().log_density(points))
    sum += std::exp(log) / 20000;
  CHECK(std::abs(sum - 1) < 1e-6);
}

TEST_CASE("samples come as often as the density says") {
  for (const Domain& domain : {randint(0, 12), lograndint(1, 40), choice({1, 2, 3, 4, 5})}) {
    Data data = uniform_points({domain}, 9, 3);
    const Parzen parzen = data.estimator();
    const Axis& axis = data.axes[0];
    constexpr std::size_t count = 20000;
    std::vector<double> seen(axis.count());
    Random random(1, 2, RandomPurpose::test);
    for (const Parzen::Row& point : parzen.sample(random, count))
      ++seen[axis.index(point[0])];
    double chi2 = 0;
    for (std::uint64_t i = 0; i < axis.count(); ++i) {
      const double expected = count * std::exp(parzen.log_density({{axis.coordinate(i)}})[0]);
      chi2 += (seen[i] - expected) * (seen[i] - expected) / expected;
    }
    const auto freedom = static_cast<double>(axis.count() - 1);
    CHECK(chi2 < freedom + 4 * std::sqrt(2 * freedom));
  }
}

TEST_CASE("kernels get narrower where points are dense, down to the clip divided by sharpness") {
  Data data({uniform(0, 1)});
  for (int i = 0; i < 8; ++i)
    data.add({0.5 + 1e-7 * i});
  const std::vector<double> top = {0.5};
  const double blunt = data.estimator().log_density({top})[0];
  const double sharp = data.estimator({.sharpness = 4}).log_density({top})[0];
  const double points = data.estimator({.magic_clip = false}).log_density({top})[0];
  CHECK(std::exp(blunt) == doctest::Approx((8 * 10 * 0.39894 + 1.04) / 9).epsilon(0.01));
  CHECK(std::exp(sharp) == doctest::Approx((8 * 40 * 0.39894 + 1.04) / 9).epsilon(0.01));
  CHECK(std::exp(points) > 1e5);
}

TEST_CASE("sharp kernels on a grid still reach the neighbouring values") {
  for (const Domain& domain : {randint(0, 10), lograndint(1, 20)}) {
    Data data({domain});
    const double top = data.axes[0].coordinate(4);
    for (int i = 0; i < 20; ++i)
      data.add({top});
    const std::vector<double> next = {data.axes[0].coordinate(5)};
    CHECK(data.estimator({.sharpness = 100}).log_density({next})[0] > std::log(0.05));
  }
}

TEST_CASE("a lone kernel is nobody's neighbour, and narrower among many axes") {
  const std::vector<std::uint32_t> lone = {2};
  const auto density = [&](std::size_t axes, double x, bool third, const ParzenOptions& options) {
    Data data(std::vector<Domain>(axes, uniform(0, 1)));
    data.add(Point(axes, 0.2));
    data.add(Point(axes, 0.8));
    if (third)
      data.add(Point(axes, 0.5));
    return std::exp(data.estimator(options).log_density({Point(axes, x)})[0]);
  };
  // A fifth of the range wide; the other two, and the prior, are what they were.
  const double kernel = normal_pdf(0.45 / 0.2) / 0.2 / std::erf(2.5 * inv_sqrt_2);
  const double others = 3 * density(1, 0.05, false, {});
  CHECK(4 * density(1, 0.05, true, {.lone = lone}) == doctest::Approx(others + kernel));
  CHECK(4 * density(1, 0.05, true, {}) != doctest::Approx(others + kernel).epsilon(0.05));
  // On six axes half as wide.
  const double six = std::pow(normal_pdf(0) / 0.1 / std::erf(5 * inv_sqrt_2), 6);
  CHECK(4 * density(6, 0.5, true, {.lone = lone}) == doctest::Approx(six).epsilon(0.01));
}

TEST_CASE("what columns remember does not show") {
  Data used = uniform_points({uniform(0, 1), randint(0, 50)}, 80, 7);
  for (std::size_t members = 1; members < 80; members += 13) {
    used.members.resize(members);
    std::iota(used.members.begin(), used.members.end(), 0U);
    Data fresh = uniform_points({uniform(0, 1), randint(0, 50)}, 80, 7);
    fresh.members = used.members;
    const std::vector<double> point = {0.3, used.axes[1].coordinate(20)};
    CHECK(used.estimator().log_density({point}) == fresh.estimator().log_density({point}));
  }
}

TEST_CASE("old observations weigh less, the last 25 fully") {
  CHECK(age_weights(0).empty());
  CHECK(age_weights(25) == std::vector<double>(25, 1.0));
  const std::vector<double> weights = age_weights(28);
  CHECK(weights[0] == doctest::Approx(1.0 / 28));
  CHECK(weights[1] == doctest::Approx((1 + 1.0 / 28) / 2));
  CHECK(weights[2] == 1);
  CHECK(weights[27] == 1);
}

}  // namespace
}  // namespace troupe::tune::detail
