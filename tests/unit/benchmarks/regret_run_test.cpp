#include "benchmarks/regret_run.hpp"

#include <troupe/base/error.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::bench {
namespace {

TEST_CASE("a search has a row at every checkpoint, with what was reached until there") {
  const auto rows = run_regret(test_function("branin2"), {.searcher = "random", .budget = 120});
  std::vector<std::uint64_t> evaluations;
  double before = 1e300;
  for (const RegretRow& row : rows) {
    evaluations.push_back(row.evaluations);
    CHECK(row.function == "branin2");
    CHECK(row.sampler == "random");
    CHECK(row.regret >= 0);
    CHECK(row.regret <= before);
    CHECK(row.duplicates == 0);
    before = row.regret;
  }
  CHECK(evaluations == std::vector<std::uint64_t>{25, 50, 96, 100, 120});
}

TEST_CASE("random search reaches the same in batches, whose rows need not end with one") {
  const RegretRun one{.searcher = "random", .budget = 50, .seed = 4};
  RegretRun eight = one;
  eight.parallel = 8;
  const auto a = run_regret(test_function("levy5n"), one);
  const auto b = run_regret(test_function("levy5n"), eight);
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].regret == b[i].regret);
    CHECK(b[i].sampler == "random_p8");
  }
}

TEST_CASE("seeds differ, and a seed gives the same again") {
  std::set<double> regrets;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const RegretRun run{.searcher = "random", .budget = 25, .seed = seed};
    const double regret = run_regret(test_function("cond"), run).back().regret;
    CHECK(run_regret(test_function("cond"), run).back().regret == regret);
    regrets.insert(regret);
  }
  CHECK(regrets.size() == 5);
}

TEST_CASE("with noise, the regret is the true value of the point that looked best") {
  TestFunction function = test_function("branin2");
  function.noise = 1e6;  // the best looking point is any
  const RegretRun run{.searcher = "random", .budget = 200};
  const auto noisy = run_regret(function, run);
  const auto exact = run_regret(test_function("branin2"), run);
  CHECK(noisy.back().regret > exact.back().regret);
  CHECK(noisy.back().regret < 1e3);  // a value of the function, not an observation
}

TEST_CASE("a search that is exhausted keeps what it has") {
  const TestFunction small{
      .name = "small", .space = {{"x", tune::randint(0, 5)}}, .value = [](const Config& config) {
        return config.at("x").as_double();
      }};
  const auto rows = run_regret(small, {.searcher = "random", .budget = 60, .parallel = 3});
  REQUIRE(rows.size() == 3);
  CHECK(rows.back().evaluations == 60);
  CHECK(rows.back().regret == 0);
}

TEST_CASE("a searcher that is not there is refused") {
  CHECK_THROWS_AS((void)run_regret(test_function("cond"), {.searcher = "guess"}), Exception);
}

}  // namespace
}  // namespace troupe::bench
