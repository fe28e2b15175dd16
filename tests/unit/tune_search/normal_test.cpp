#include <troupe/base/random.hpp>
#include <troupe/tune/search/detail/normal.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

// The expected values were computed with 60 to 500 digits.

namespace {

using namespace troupe;
using namespace troupe::tune::detail;

constexpr double infinity = std::numeric_limits<double>::infinity();

bool near(double value, double expected, double relative) {
  if (value == expected)
    return true;
  return std::abs(value - expected) <= relative * std::abs(expected);
}

struct Pair {
  double x, y;
};

TEST_CASE("log_ndtr agrees with high precision in both tails") {
  const Pair table[] = {
      {-1e10, -5e+19},
      {-1000, -500007.82669481216},
      {-100, -5005.524208694205},
      {-38.5, -745.695270290411},
      {-25, -316.63940800802027},
      {-20, -203.91715537109727},
      {-10, -53.23128515051247},
      {-5.5, -17.77937635262526},
      {-2, -3.783184333682032},
      {-1, -1.8410216450092636},
      {-0.5, -1.1759117615936185},
      {0, -0.6931471805599453},
      {0.25, -0.5129840754094305},
      {1, -0.17275377902344988},
      {2.5, -0.006229025485860002},
      {5, -2.866516129637636e-07},
      {8, -6.220960574271786e-16},
  };
  for (const Pair& row : table)
    CHECK_MESSAGE(near(log_ndtr(row.x), row.y, 1e-13), row.x << ": " << log_ndtr(row.x));
  CHECK(log_ndtr(-infinity) == -infinity);
  CHECK(log_ndtr(infinity) == 0);
  CHECK(std::isnan(log_ndtr(std::numeric_limits<double>::quiet_NaN())));
}

TEST_CASE("erfcx agrees with high precision and does not underflow") {
  const Pair table[] = {
      {-26, 7.657724931490568e+293},
      {-5, 144009798674.66104},
      {-1, 5.008980080762283},
      {-0.1, 1.1236433541992095},
      {0, 1.0},
      {0.1, 0.8964569799691267},
      {0.5, 0.6156903441929259},
      {1, 0.427583576155807},
      {2.5, 0.2108063640611436},
      {5, 0.11070463773306863},
      {9.75, 0.05756592336481547},
      {20, 0.02817434874105132},
      {24.9, 0.022639987776049506},
      {25.1, 0.02245987581758139},
      {60, 0.009401854275176388},
      {1e5, 5.6418958351954685e-06},
      {1e200, 5.641895835477563e-201},
  };
  for (const Pair& row : table)
    CHECK_MESSAGE(near(erfcx(row.x), row.y, 1e-13), row.x << ": " << erfcx(row.x));
  CHECK(erfcx(-40) == infinity);
  CHECK(erfcx(infinity) == 0);
}

TEST_CASE("the mass of an interval has its digits in tails and in narrow cells") {
  const struct {
    double low, high, log_mass;
  } table[] = {
      {-1, 1, -0.38171514630212605},       {-40, -39, -765.0831565643775},
      {39, 40, -765.0831565643775},        {10, 10.0001, -60.12977886518277},
      {-3, -2.999999, -19.23444759102896}, {-0.5, 0.25, -1.2372925013224503},
      {-1e-8, 1e-8, -18.646472096597094},  {0, 30, -0.6931471805599453},
      {-8, 9, -6.22208916267774e-16},      {1000, 1001, -500007.82669481216},
      {20, 20.5, -203.91719446460897},     {0.3, 0.7, -1.96522092863028},
      {2, 8, -3.783184333682059},          {-8, -2, -3.783184333682059},
  };
  for (const auto& row : table) {
    const double found = log_normal_mass(row.low, row.high);
    CHECK_MESSAGE(near(found, row.log_mass, 1e-12), row.low << ".." << row.high << ": " << found);
  }
  CHECK(log_normal_mass(-infinity, infinity) == 0);
  CHECK(near(log_normal_mass(-infinity, -5), log_ndtr(-5), 1e-13));
  CHECK(log_normal_mass(1, 1) == -infinity);
  CHECK(log_normal_mass(2, 1) == -infinity);
}

TEST_CASE("the masses of cells add up to the whole, whatever formula each takes") {
  for (const double width : {1e-4, 2e-4, 0.01, 0.37}) {
    double sum = 0;
    const auto cells = static_cast<int>(12 / width);
    for (int i = 0; i < cells; ++i)
      sum += std::exp(log_normal_mass(-6 + i * width, -6 + (i + 1) * width));
    CHECK(near(sum, std::exp(log_normal_mass(-6, -6 + cells * width)), 1e-10));
  }
}

TEST_CASE("log_ndtr_inverse inverts log_ndtr, however improbable the value is") {
  const Pair table[] = {
      {-1e-3, 3.090380786917045}, {-0.1, 1.3096177994584932},  {-0.5, 0.27028802073873587},
      {-1, -0.33747496376420244}, {-5, -2.4709386372615882},   {-50, -9.674825283612357},
      {-745, -38.4819489643302},  {-1e4, -141.37983987312717}, {-1e8, -14142.134882976301},
  };
  for (const Pair& row : table) {
    const double found = log_ndtr_inverse(row.x);
    CHECK_MESSAGE(near(found, row.y, 1e-13), row.x << ": " << found);
  }
  CHECK(std::abs(log_ndtr_inverse(std::log(0.5))) < 1e-15);
  CHECK(log_ndtr_inverse(0) == infinity);
  CHECK(log_ndtr_inverse(-infinity) == -infinity);
  for (double z = -60; z < 5; z += 0.37)
    CHECK(near(log_ndtr_inverse(log_ndtr(z)), z, z < 0 ? 1e-12 : 1e-9));
}

TEST_CASE("quantiles of the normal distribution are right and symmetric") {
  CHECK(normal_quantile(0.5) == 0);
  CHECK(near(normal_quantile(0.975), 1.9599639845400543, 1e-14));
  CHECK(near(normal_quantile(1e-20), -9.262340089798409, 1e-14));
  CHECK(near(normal_quantile(0.25), -normal_quantile(0.75), 1e-15));
  CHECK(normal_quantile(0) == -infinity);
  CHECK(normal_quantile(1) == infinity);
}

TEST_CASE("quantiles of the truncated normal agree with high precision") {
  const struct {
    double u, low, high, z;
  } table[] = {
      {0.5, -1, 2, 0.17116391801782477},
      {0.25, 10, 11, 10.028448229970149},
      {0.75, -12, -10, -10.028449055361556},
      {1e-12, -8, 8, -7.034397104979646},
      {0.999999, -8, 8, 4.75342430869137},
      {0.5, 38, 39, 38.018223745586276},
      {0.125, -0.001, 0.001, -0.0007499999453124974},
      {0.3, -2, 100, -0.479124326402091},
      {0.5, 100, 200, 100.00693053875243},
      {0.9, -200, -100, -100.00105349427952},
  };
  for (const auto& row : table) {
    const double found = truncated_normal_quantile(row.u, row.low, row.high);
    CHECK_MESSAGE(near(found, row.z, 1e-10),
                  row.u << " of " << row.low << ".." << row.high << ": " << found);
  }
}

TEST_CASE("truncated normal values stay in their interval and rise with the quantile") {
  Random random(7, 1, RandomPurpose::test);
  for (int i = 0; i < 2000; ++i) {
    const double low = random.uniform(-50, 50);
    const double high = low + std::exp(random.uniform(-20, 4));
    double last = low;
    for (const double u : {0.0, 1e-9, 0.01, 0.3, 0.5, 0.9, 0.999999, 1.0}) {
      const double z = truncated_normal_quantile(u, low, high);
      REQUIRE(z >= last - 1e-12 * (1 + std::abs(last)));
      REQUIRE(z <= high);
      last = z;
    }
  }
}

TEST_CASE("sums in log space neither overflow nor lose small terms") {
  CHECK(near(log_add_exp(1000, 1000), 1000.6931471805599453, 1e-15));
  CHECK(log_add_exp(-infinity, -3) == -3);
  CHECK(log_add_exp(-infinity, -infinity) == -infinity);
  CHECK(near(log_sub_exp(-1000, -1000.5), -1000 + std::log(-std::expm1(-0.5)), 1e-15));
  CHECK(log_sub_exp(2, -infinity) == 2);
  CHECK(log_sum_exp({}) == -infinity);
  const std::vector<double> terms = {-2000, -2000.5, -2003, -infinity};
  CHECK(near(log_sum_exp(terms), -2000 + std::log(1 + std::exp(-0.5) + std::exp(-3.0)), 1e-15));
  const std::vector<double> large = {1e4, infinity};
  CHECK(log_sum_exp(large) == infinity);
}

}  // namespace
