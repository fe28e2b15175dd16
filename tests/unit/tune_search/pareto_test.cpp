#include <troupe/base/error.hpp>
#include <troupe/base/random.hpp>
#include <troupe/tune/search/detail/pareto.hpp>
#include <troupe/tune/search/pareto.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Few different values, so that ties are frequent.
std::vector<Losses> random_table(std::uint64_t seed, std::size_t count, std::size_t objectives,
                                 std::uint64_t levels) {
  Random random(seed, 0, RandomPurpose::test);
  std::vector<Losses> table(count, Losses(objectives));
  for (Losses& row : table)
    for (double& loss : row)
      loss = static_cast<double>(random.below(levels)) / static_cast<double>(levels);
  return table;
}

/// By definition: peels off what nobody left over dominates.
std::vector<std::uint32_t> peeled(const std::vector<Losses>& points) {
  constexpr std::uint32_t left_over = ~0U;
  std::vector<std::uint32_t> ranks(points.size(), left_over);
  for (std::uint32_t rank = 0; std::count(ranks.begin(), ranks.end(), left_over) > 0; ++rank) {
    std::vector<std::size_t> front;
    for (std::size_t i = 0; i < points.size(); ++i) {
      bool free = ranks[i] == left_over;
      for (std::size_t j = 0; free && j < points.size(); ++j)
        free = !(ranks[j] == left_over && dominates(points[j], points[i]));
      if (free)
        front.push_back(i);
    }
    for (const std::size_t i : front)
      ranks[i] = rank;
  }
  return ranks;
}

/// Inclusion and exclusion over all subsets.
double by_inclusion(const std::vector<Losses>& points, const Losses& reference) {
  double total = 0;
  for (std::uint32_t subset = 1; subset < 1U << points.size(); ++subset) {
    double part = -1;
    Losses corner(reference.size(), -inf);
    for (std::size_t i = 0; i < points.size(); ++i)
      if ((subset >> i & 1U) != 0) {
        part = -part;
        for (std::size_t m = 0; m < corner.size(); ++m)
          corner[m] = std::max(corner[m], points[i][m]);
      }
    for (std::size_t m = 0; m < corner.size(); ++m)
      part *= std::max(0.0, reference[m] - corner[m]);
    total += part;
  }
  return total;
}

TEST_CASE("a point dominates another when it is nowhere worse and somewhere better") {
  CHECK(dominates(Losses{1, 2}, Losses{1, 3}));
  CHECK(!dominates(Losses{1, 2}, Losses{1, 2}));
  CHECK(!dominates(Losses{0, 3}, Losses{1, 2}));
  CHECK(dominates(Losses{1, 2}, Losses{1, nan}));
  CHECK(!dominates(Losses{nan}, Losses{inf}));
  CHECK(dominates(Losses{-inf}, Losses{1e308}));
}

TEST_CASE("ranks equal those found by peeling off fronts") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto table = random_table(seed, 1 + seed * 2, 1 + seed % 5, 3 + seed % 17);
    CHECK(pareto_ranks(table) == peeled(table));
  }
}

TEST_CASE("infeasible points come after the feasible ones, by their violation") {
  const std::vector<Losses> points{{5, 5}, {0, 0}, {1, 1}, {0, 0}, {4, 6}, {0, 0}};
  CHECK(pareto_ranks(points, std::vector<double>{0, 2, -1, 1, 0, 2}) ==
        std::vector<std::uint32_t>{1, 3, 0, 2, 1, 3});
  CHECK(pareto_ranks(points, std::vector<double>{nan, 2, 3, 1, inf, 2}) ==
        std::vector<std::uint32_t>{3, 1, 2, 0, 3, 1});
  CHECK(pareto_front(points) == std::vector<std::size_t>{1, 3, 5});
}

TEST_CASE("the crowding distance is the gap between the neighbours") {
  const std::vector<Losses> front{{0, 10}, {1, 6}, {4, 5}, {10, 0}};
  const auto distances = crowding_distances(front);
  CHECK(distances[0] == inf);
  CHECK(distances[1] == doctest::Approx(0.4 + 0.5));
  CHECK(distances[2] == doctest::Approx(0.9 + 0.6));
  CHECK(distances[3] == inf);
}

TEST_CASE("an objective that is the same everywhere crowds nobody") {
  const auto distances = crowding_distances(std::vector<Losses>{{0, 3}, {1, 3}, {2, 3}});
  CHECK(distances == std::vector<double>{inf, 1, inf});
  CHECK(crowding_distances(std::vector<Losses>{{2, 2}, {2, 2}}) == std::vector<double>{0, 0});
  CHECK(crowding_distances({}).empty());
}

TEST_CASE("infinite and huge losses leave crowding distances that can be compared") {
  const std::vector<Losses> points{{-inf, nan}, {-1e308, 2}, {0, 1}, {1e308, 0.5}, {inf, 0}};
  for (const double distance : crowding_distances(points))
    CHECK(!std::isnan(distance));
  CHECK(crowding_distances(points)[2] == doctest::Approx(1 + 1.5 / 2));
}

TEST_CASE("hypervolumes of one to five objectives equal inclusion and exclusion") {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const std::size_t objectives = 1 + seed % 5;
    const auto table = random_table(seed, seed % 11, objectives, 4 + seed % 13);
    const Losses reference(objectives, seed % 3 == 0 ? 0.6 : 1.1);
    CHECK(hypervolume(table, reference) ==
          doctest::Approx(by_inclusion(table, reference)).epsilon(1e-12));
  }
}

TEST_CASE("the hypervolume of many points equals the share of random points below them") {
  for (const std::size_t objectives : {2U, 3U, 4U, 6U}) {
    const auto table = random_table(objectives, 60, objectives, 1'000'000);
    const Losses reference(objectives, 1.0);
    Random random(77, objectives, RandomPurpose::test);
    int below = 0;
    for (int i = 0; i < 40'000; ++i) {
      Losses probe(objectives);
      for (double& x : probe)
        x = random.uniform();
      below += std::any_of(table.begin(), table.end(),
                           [&](const Losses& point) { return dominates(point, probe); });
    }
    CHECK(std::fabs(hypervolume(table, reference) - below / 40'000.0) < 0.01);
  }
}

TEST_CASE("points beyond the reference count nothing, endless ones everything") {
  const Losses reference{1, 1};
  CHECK(hypervolume({}, reference) == 0);
  CHECK(hypervolume(std::vector<Losses>{{2, 0}, {1, 0}, {nan, 0}}, reference) == 0);
  CHECK(hypervolume(std::vector<Losses>{{-inf, 0}, {0.5, 0.5}}, reference) == inf);
  CHECK(hypervolume(std::vector<Losses>{{-inf, 2}, {0.5, 0.5}}, reference) == 0.25);
}

TEST_CASE("the front of results obeys modes and constraints, and leaves out what has no number") {
  const std::vector<Metrics> results{
      {{"acc", 0.9}, {"ms", 10}, {"mb", -1}}, {{"acc", 0.8}, {"ms", 5}, {"mb", -1}},
      {{"acc", 0.8}, {"ms", 6}, {"mb", -1}},  {{"acc", 0.99}, {"ms", 1}, {"mb", 3}},
      {{"acc", nan}, {"ms", 1}, {"mb", -1}},  {{"ms", 1}, {"mb", -1}}};
  const std::vector<Objective> objectives{{"acc", Mode::max}, {"ms", Mode::min}};
  CHECK(tune::pareto_front(results, objectives, {"mb"}) == std::vector<std::size_t>{0, 1});
  CHECK(tune::pareto_front(results, objectives) == std::vector<std::size_t>{3});
  CHECK(tune::hypervolume(results, objectives, {0.5, 20}, {"mb"}) ==
        doctest::Approx(0.4 * 10 + 0.3 * 5));
  CHECK_THROWS_AS(tune::pareto_front(results, {}), Exception);
  CHECK_THROWS_AS(tune::hypervolume(results, objectives, {1}), Exception);
  for (const double wrong : {nan, inf, -inf})
    CHECK_THROWS_WITH_AS(tune::hypervolume(results, objectives, {0.5, wrong}),
                         doctest::Contains("the reference value of 'ms' is"), Exception);
}

}  // namespace
}  // namespace troupe::tune::detail
