#include <troupe/tune/search/detail/neighbours.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("a point is crowded when all of its coordinates are next to those of one trial") {
  History history;
  history.begin(TrialId(0), {0.5, 0.5, 2}, 0);
  history.begin(TrialId(1), {0.1, missing, 1}, 1);
  Neighbours neighbours;
  CHECK(!neighbours.crowded(history, {0.5, 0.5, 2}));
  neighbours.follow(history);
  CHECK(neighbours.crowded(history, {0.5 + 9e-7, 0.5 + 9e-7, 2}));
  CHECK(neighbours.crowded(history, {0.5 + 9e-7, 0.5 - 9e-7, 2}));
  CHECK(!neighbours.crowded(history, {0.5 + 2e-6, 0.5 - 2e-6, 2}));
  CHECK(!neighbours.crowded(history, {0.5, 0.5, 1}));
  CHECK(neighbours.crowded(history, {0.1, missing, 1}));
  CHECK(!neighbours.crowded(history, {0.1, 0, 1}));
}

TEST_CASE("it follows trials that come, that move while they run, and that end") {
  Random random(3, 3, RandomPurpose::test);
  const auto point = [&] { return Point{random.uniform(), random.uniform()}; };
  History history;
  Neighbours followed;
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
