#include "benchmarks/regret_rows.hpp"

#include <troupe/base/error.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

namespace troupe::bench {
namespace {

const std::vector<RegretRow>& anchors() {
  static const auto rows =
      read_regret_rows(std::filesystem::path(TROUPE_TESTS_DIR) / "../benchmarks/anchors.csv");
  return rows;
}

std::vector<RegretRow> of(const std::string& who) {
  std::vector<RegretRow> result;
  for (const RegretRow& row : anchors())
    if (row.who() == who)
      result.push_back(row);
  return result;
}

RegretRow row(const std::string& function, std::uint64_t seed, double regret) {
  RegretRow result{"mine", "s", function};
  result.seed = seed;
  result.evaluations = 100;
  result.regret = regret;
  return result;
}

TEST_CASE("the ratios of other optimisers are those that were computed from their rows elsewhere") {
  const Comparison gp = compare(of("v5:gp"), of("v5:tpe"), 100, Half::both);
  CHECK(gp.functions == 23);
  CHECK(gp.ratio == doctest::Approx(0.103).epsilon(0.01));
  CHECK(gp.low == doctest::Approx(0.079).epsilon(0.1));
  CHECK(gp.high == doctest::Approx(0.137).epsilon(0.1));
  const Comparison cma = compare(of("v5:cma"), of("v5:tpe"), 200, Half::both);
  CHECK(cma.ratio == doctest::Approx(0.635).epsilon(0.01));
  const Comparison random = compare(of("v5:random"), of("v5:gp"), 100, Half::both);
  CHECK(random.ratio == doctest::Approx(28.747).epsilon(0.02));
  CHECK(random.worse > random.better);
}

TEST_CASE("an optimiser beside itself is neither better nor worse") {
  const Comparison self = compare(of("v5:tpe"), of("v5:tpe"), 100, Half::both);
  CHECK(self.ratio == doctest::Approx(1));
  CHECK(self.low < 1);
  CHECK(self.high > 1);
  CHECK(self.better == 0);
  CHECK(self.worse == 0);
}

TEST_CASE("the halves divide the functions by their place in the suite") {
  CHECK(belongs("branin2", Half::development));
  CHECK(belongs("camel2", Half::held_out));
  CHECK(!belongs("camel2", Half::development));
  const auto tpe = of("v5:tpe");
  CHECK(compare(tpe, tpe, 100, Half::development).functions == 12);
  CHECK(compare(tpe, tpe, 100, Half::held_out).functions == 11);
}

TEST_CASE("functions count by their median, ratios are clipped, the worst one is named") {
  std::vector<RegretRow> ours, theirs;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    ours.push_back(row("sphere10s", seed, seed == 4 ? 1e6 : 0));  // one bad search counts little
    theirs.push_back(row("sphere10s", seed, 1e6));
    ours.push_back(row("levy5", seed, 4 + 0.01 * static_cast<double>(seed)));
    theirs.push_back(row("levy5", seed, 1));
  }
  const Comparison comparison = compare(ours, theirs, 100, Half::both);
  CHECK(comparison.ratio == doctest::Approx(std::sqrt(1e-3 * 4.02)).epsilon(1e-3));
  CHECK(comparison.worst == doctest::Approx(4.02).epsilon(1e-3));
  CHECK(comparison.worst_function == "levy5");
  CHECK(comparison.better == 1);
  CHECK(comparison.worse == 1);
  CHECK(compare(ours, theirs, 50, Half::both).functions == 0);
}

TEST_CASE("on a table, a little more than nothing is nearly as good as nothing") {
  const std::vector<RegretRow> none{row("fashion_mlp", 0, 0)};
  const std::vector<RegretRow> little{row("fashion_mlp", 0, 0.0005)};  // one image of 2,000
  const Comparison comparison = compare(little, none, 100, Half::both);
  CHECK(comparison.ratio > 1);
  CHECK(comparison.ratio < 2);
  CHECK(compare({row("levy5", 0, 0.0005)}, {row("levy5", 0, 0)}, 100, Half::both).ratio > 10);
}

TEST_CASE("rows are written as they are read; a damaged line is named") {
  const RegretRow& first = anchors().front();
  CHECK(to_csv(first) == "v5,tpe,branin2,0,25,0.0960989,0.077,0");
  const auto file = std::filesystem::temp_directory_path() / "troupe_regret_rows_test.csv";
  std::ofstream(file) << to_csv(first) << "\nv5,tpe,branin2,0,25,x,0,0\n";
  try {
    (void)read_regret_rows(file);
    FAIL("not refused");
  } catch (const Exception& error) {
    CHECK(error.error().code() == ErrorCode::corrupt);
    CHECK(std::string(error.what()).find("line 2") != std::string::npos);
  }
  std::filesystem::remove(file);
  CHECK_THROWS_AS((void)read_regret_rows(file), Exception);
}

}  // namespace
}  // namespace troupe::bench
