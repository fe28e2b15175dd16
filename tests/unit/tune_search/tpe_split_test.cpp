#include <troupe/base/random.hpp>
#include <troupe/tune/search/detail/pareto.hpp>
#include <troupe/tune/search/detail/tpe_split.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

using State = Observation::State;
using Indices = std::vector<std::uint32_t>;

Observation observation(State state, std::vector<double> losses, std::uint64_t step = 1,
                        double excess = 0) {
  Observation o;
  o.state = state;
  o.losses = std::move(losses);
  o.step = step;
  o.set_excess({excess});
  return o;
}

std::vector<std::vector<double>> random_front(std::uint64_t seed, std::size_t count,
                                              std::size_t objectives) {
  Random random(seed, 0, RandomPurpose::test);
  std::vector<std::vector<double>> front(count, std::vector<double>(objectives));
  for (auto& row : front) {
    double norm = 0;
    for (double& x : row) {
      x = random.uniform(0.01, 1);
      norm += x * x;
    }
    for (double& x : row)
      x = 2 - x / std::sqrt(norm);
  }
  return front;
}

TEST_CASE("complete trials go before pruned ones, and those before infeasible ones") {
  const std::vector<Observation> all = {
      observation(State::pruned, {}, 0),         // 0: never reported: the last pruned one
      observation(State::complete, {5}),         // 1
      observation(State::pruned, {1}, 3),        // 2
      observation(State::complete, {-9}, 1, 2),  // 3: violates by 2
      observation(State::pruned, {0.5}, 3),      // 4: as far as 2, and better
      observation(State::pruned, {-4}, 2),       // 5
      observation(State::complete, {7}),         // 6
      observation(State::pruned, {-9}, 9, 1),    // 7: violates by 1
      observation(State::failed, {-100}),        // 8
      observation(State::running, {-100}),       // 9
  };
  const Indices order = {1, 6, 4, 2, 5, 0, 7, 3};
  for (std::size_t count = 0; count <= 10; ++count) {
    const TpeSplit split = TpeSplitter().split(all, count, true);
    Indices expected(order.begin(),
                     order.begin() + static_cast<long>(std::min<std::size_t>(count, 8)));
    std::sort(expected.begin(), expected.end());
    CHECK(split.good == expected);
    CHECK(split.good.size() + split.others.size() == all.size());
    CHECK(std::is_sorted(split.others.begin(), split.others.end()));
    for (std::size_t i = 0; i < split.good.size(); ++i)
      CHECK(order[split.ranks[i]] == split.good[i]);
  }
}

TEST_CASE("running trials are bad with the constant liar, and nothing without it") {
  const std::vector<Observation> all = {observation(State::running, {}),
                                        observation(State::complete, {1})};
  CHECK(TpeSplitter().split(all, 1, true).others == Indices{0});
  CHECK(TpeSplitter().split(all, 1, false).others.empty());
}

TEST_CASE("failed trials are bad and listed, or left out") {
  const std::vector<Observation> all = {observation(State::failed, {-1}),
                                        observation(State::complete, {1}),
                                        observation(State::failed, {})};
  const TpeSplit split = TpeSplitter().split(all, 2, true);
  CHECK(split.good == Indices{1});
  CHECK(split.others == Indices{0, 2});
  CHECK(split.failed == Indices{0, 2});
  CHECK(TpeSplitter().split(all, 2, true, false).others.empty());
}

TEST_CASE("with several objectives whole ranks are good first") {
  std::vector<Observation> all;
  for (const auto& losses :
       std::vector<std::vector<double>>{{3, 3}, {0, 2}, {2, 0}, {1, 1}, {1.5, 1.5}, {2.5, 2.5}})
    all.push_back(observation(State::complete, losses));
  CHECK(TpeSplitter().split(all, 3, true).good == Indices{1, 2, 3});
  CHECK(TpeSplitter().split(all, 4, true).good == Indices{1, 2, 3, 4});
  const TpeSplit split = TpeSplitter().split(all, 5, true);
  CHECK(split.good == Indices{1, 2, 3, 4, 5});
  CHECK(split.others == Indices{0});
  CHECK(split.several);
}

TEST_CASE("a part of a rank is chosen by the volume it covers, whatever was chosen before") {
  Random random(3, 1, RandomPurpose::test);
  TpeSplitter used;
  std::vector<Observation> all;
  for (int i = 0; i < 60; ++i) {
    const double x = random.uniform();
    all.push_back(observation(State::complete, {x, 1 - x + 0.3 * random.uniform()}));
    const std::size_t count = (all.size() + 9) / 10;
    const TpeSplit split = used.split(all, count, true);
    CHECK(split.good.size() == count);
    CHECK(split.good == TpeSplitter().split(all, count, true).good);
  }
}

TEST_CASE("a greedy subset covers at least 1 - 1/e of what is possible") {
  for (const std::size_t objectives : {2U, 3U}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const auto front = random_front(seed, 9, objectives);
      std::vector<double> reference(objectives, 0);
      for (const auto& row : front)
        for (std::size_t k = 0; k < objectives; ++k)
          reference[k] = std::max(reference[k], 1.1 * row[k]);
      const auto volume = [&](const std::vector<std::size_t>& of) {
        std::vector<Losses> rows;
        for (const std::size_t i : of)
          rows.push_back(front[i]);
        return hypervolume(rows, reference);
      };
      double best = 0;
      for (std::size_t a = 0; a < 9; ++a)
        for (std::size_t b = 0; b < a; ++b)
          for (std::size_t c = 0; c < b; ++c)
            best = std::max(best, volume({a, b, c}));
      const auto chosen = covering_subset(front, 3);
      REQUIRE(chosen.size() == 3);
      CHECK(volume(chosen) >= (1 - std::exp(-1)) * best);
      for (std::size_t i = 0; i < 9; ++i)  // the first one is the best single one
        CHECK(volume({chosen[0]}) >= volume({i}) - 1e-12);
    }
  }
}

TEST_CASE("infinite and huge losses leave a subset of the right size") {
  const std::vector<std::vector<double>> front = {
      {infinity, -infinity}, {1e308, -1e308}, {0, 0}, {-1e308, 1e308}, {5e-324, -5e-324}};
  for (std::size_t count = 0; count <= 5; ++count) {
    auto chosen = covering_subset(front, count);
    std::sort(chosen.begin(), chosen.end());
    CHECK(std::unique(chosen.begin(), chosen.end()) == chosen.end());
    CHECK(chosen.size() == count);
  }
}

}  // namespace
}  // namespace troupe::tune::detail
