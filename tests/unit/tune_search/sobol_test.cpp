#include <troupe/base/error.hpp>
#include <troupe/tune/search/detail/sobol.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

std::vector<std::uint64_t> slices(const std::vector<double>& values, std::uint64_t count) {
  std::vector<std::uint64_t> found(static_cast<std::size_t>(count));
  for (const double value : values)
    ++found[static_cast<std::size_t>(value * static_cast<double>(count))];
  return found;
}

/// Largest deviation of any corner box [0, a) x [0, b) of a grid from its share of the points.
double discrepancy(const std::vector<std::vector<double>>& points) {
  double worst = 0;
  for (int a = 1; a <= 16; ++a)
    for (int b = 1; b <= 16; ++b) {
      const auto inside = std::count_if(points.begin(), points.end(), [&](const auto& p) {
        return p[0] < a / 16.0 && p[1] < b / 16.0;
      });
      const double share = static_cast<double>(inside) / static_cast<double>(points.size());
      worst = std::max(worst, std::fabs(share - a * b / 256.0));
    }
  return worst;
}

TEST_CASE("the plain Sobol sequence is Joe and Kuo's without its first point") {
  // scipy.stats.qmc.Sobol(5, scramble=False).random(9)[1:]
  const std::vector<std::vector<double>> expected{
      {0.5, 0.5, 0.5, 0.5, 0.5},           {0.75, 0.25, 0.25, 0.25, 0.75},
      {0.25, 0.75, 0.75, 0.75, 0.25},      {0.375, 0.375, 0.625, 0.875, 0.375},
      {0.875, 0.875, 0.125, 0.375, 0.875}, {0.625, 0.125, 0.875, 0.625, 0.625},
      {0.125, 0.625, 0.375, 0.125, 0.125}};
  const Sobol sobol(5, 0, false);
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(sobol.point(i) == expected[i]);
}

TEST_CASE("2^k scrambled Sobol points put one into each of 2^k slices of each axis") {
  for (const std::uint64_t seed : {1ULL, 2ULL, 99ULL}) {
    const Sobol sobol(40, seed);
    for (std::size_t d = 0; d < 40; ++d) {
      std::vector<double> column;
      for (std::uint64_t i = 512; i < 1024; ++i)
        column.push_back(sobol.at(i, d));
      CHECK(slices(column, 512) == std::vector<std::uint64_t>(512, 1));
    }
  }
}

TEST_CASE("pairs of neighbouring Sobol axes fill a square evenly") {
  const Sobol sobol(2, 5);
  std::set<std::pair<int, int>> cells;
  for (std::uint64_t i = 0; i < 256; ++i) {
    const auto p = sobol.point(i);
    cells.emplace(static_cast<int>(p[0] * 16), static_cast<int>(p[1] * 16));
  }
  CHECK(cells.size() == 256);
}

TEST_CASE("points made one after the other equal those made alone") {
  for (const bool scramble : {true, false}) {
    const Sobol sobol(7, 3, scramble);
    for (const std::uint64_t first :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000003}, Sobol::period - 20}) {
      std::vector<double> rows(7 * 50);
      sobol.fill(first, rows);
      for (std::size_t i = 0; i < 50; ++i)
        for (std::size_t d = 0; d < 7; ++d)
          CHECK(rows[7 * i + d] == sobol.at(first + i, d));
    }
  }
}

TEST_CASE("a scramble depends on the seed and on nothing else") {
  CHECK(Sobol(3, 1).point(5) == Sobol(3, 1).point(5));
  CHECK(Sobol(3, 1).point(5) != Sobol(3, 2).point(5));
  const auto many = Sobol(8, 1).point(5);
  CHECK(Sobol(3, 1).point(5) == std::vector<double>(many.begin(), many.begin() + 3));
}

TEST_CASE("each scrambled point alone is uniform over the seeds") {
  double mean = 0;
  double square = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const double u = Sobol(2, seed).at(3, 1);
    REQUIRE((u > 0 && u < 1));
    mean += u / 4000;
    square += u * u / 4000;
  }
  CHECK(mean == doctest::Approx(0.5).epsilon(0.03));
  CHECK(square == doctest::Approx(1 / 3.0).epsilon(0.04));
}

TEST_CASE("Sobol points know their last dimension and refuse the next") {
  const Sobol last(Sobol::max_dimensions, 1);
  std::vector<double> column;
  for (std::uint64_t i = 0; i < 64; ++i)
    column.push_back(last.at(i, Sobol::max_dimensions - 1));
  CHECK(slices(column, 64) == std::vector<std::uint64_t>(64, 1));
  CHECK_THROWS_AS(Sobol(Sobol::max_dimensions + 1, 1), Exception);
  CHECK(Sobol(0, 1).point(3).empty());
}

TEST_CASE("the plain Halton sequence counts backwards in the first primes") {
  const Halton halton(3, 0, false);
  CHECK(halton.at(0, 0) == 1 / 2.0);
  CHECK(halton.at(4, 0) == doctest::Approx(5 / 8.0));
  CHECK(halton.at(0, 1) == doctest::Approx(1 / 3.0));
  CHECK(halton.at(3, 1) == doctest::Approx(4 / 9.0));
  CHECK(halton.at(24, 2) == doctest::Approx(1 / 125.0));
}

TEST_CASE("b^k scrambled Halton points put one into each of b^k slices") {
  const Halton halton(4, 11);
  const std::vector<std::uint64_t> counts{1024, 729, 625, 343};
  for (std::size_t d = 0; d < counts.size(); ++d) {
    std::vector<double> column;
    for (std::uint64_t i = 0; i < counts[d]; ++i)
      column.push_back(halton.at(counts[d] + i, d));
    CHECK(slices(column, counts[d]) == std::vector<std::uint64_t>(counts[d], 1));
  }
}

TEST_CASE("high Halton dimensions are scrambled apart from each other") {
  // Unscrambled, the first 500 points of these two axes lie on a few lines.
  std::vector<std::vector<double>> plain;
  std::vector<std::vector<double>> scrambled;
  const Halton without(60, 0, false);
  const Halton with(60, 4);
  for (std::uint64_t i = 0; i < 500; ++i) {
    plain.push_back({without.at(i, 58), without.at(i, 59)});
    scrambled.push_back({with.at(i, 58), with.at(i, 59)});
  }
  CHECK(discrepancy(scrambled) < 0.08);
  CHECK(discrepancy(scrambled) < discrepancy(plain) / 2);
}

TEST_CASE("a Halton point has thousands of dimensions") {
  const auto point = Halton(5000, 1).point(123456789);
  CHECK(std::all_of(point.begin(), point.end(), [](double u) { return u > 0 && u < 1; }));
  CHECK(std::set<double>(point.begin(), point.end()).size() == 5000);
}

}  // namespace
}  // namespace troupe::tune::detail
