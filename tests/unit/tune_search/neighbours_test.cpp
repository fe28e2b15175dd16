#include <troupe/tune/search/detail/neighbours.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("a point is crowded when all of its coordinates are next to those of one trial") {
  History history;
  history.begin(TrialId(0), {0.5, 0.5, 2}, 0);
  history.begin(TrialId(1), {0.1, missing, 1}, 1);
  Neighbours neighbours({0, 1});
  CHECK(!neighbours.crowded(history, {0.5, 0.5, 2}));
  neighbours.follow(history);
  CHECK(neighbours.crowded(history, {0.5 + 9e-7, 0.5 + 9e-7, 2}));
  CHECK(neighbours.crowded(history, {0.5 + 9e-7, 0.5 - 9e-7, 2}));
  CHECK(!neighbours.crowded(history, {0.5 + 2e-6, 0.5 - 2e-6, 2}));
  CHECK(!neighbours.crowded(history, {0.5, 0.5, 1}));
  CHECK(neighbours.crowded(history, {0.1, missing, 1}));
  CHECK(!neighbours.crowded(history, {0.1, 0, 1}));
}

TEST_CASE("whichever axes are looked at first, the same points are crowded") {
  // A cluster as dense as it can be, on both sides of zero and of the ends of cells.
  Random random(5, 3, RandomPurpose::test);
  History history;
  const auto near_zero = [&] { return random.uniform(-8e-6, 8e-6); };
  const auto point = [&] { return Point{near_zero(), near_zero(), near_zero(), near_zero()}; };
  for (std::uint32_t i = 0; i < 3000; ++i)
    history.begin(TrialId(i), point(), i);
  std::vector<Neighbours> all{Neighbours(), Neighbours({2}), Neighbours({0, 1}),
                              Neighbours({0, 1, 2, 3})};
  for (Neighbours& neighbours : all)
    neighbours.follow(history);
  int crowded = 0;
  for (int i = 0; i < 1000; ++i) {
    const Point next = point();
    const bool expected = all[0].crowded(history, next);
    crowded += expected ? 1 : 0;
    for (const Neighbours& neighbours : all)
      REQUIRE(neighbours.crowded(history, next) == expected);
  }
  CHECK(crowded > 100);
  CHECK(crowded < 900);
}

TEST_CASE("it follows trials that come, that move while they run, and that end") {
  Random random(3, 3, RandomPurpose::test);
  const auto point = [&] { return Point{random.uniform(), random.uniform()}; };
  History history;
  Neighbours followed({0, 1});
  for (std::uint32_t i = 0; i < 200; ++i) {
    history.begin(TrialId(i), point(), i);
    if (i % 3 == 0)
      followed.follow(history);
    history.amend(TrialId(i / 2), point(), 1000 + i);
    if (Observation* over = history.find(TrialId(i / 4)); i % 2 == 0)
      history.finish(*over, Observation::State::complete);
  }
  followed.follow(history);
  for (const Observation& o : history.all()) {
    CHECK(followed.crowded(history, o.point));
    CHECK(!followed.crowded(history, {o.point[0], o.point[1] + 1e-4}));
  }
}

}  // namespace
}  // namespace troupe::tune::detail
