#include <troupe/base/clock.hpp>

#include <doctest/doctest.h>

using namespace troupe;
using namespace std::chrono_literals;

TEST_CASE("adding to a moment saturates, so that a deadline can be never") {
  const TimePoint now{1'000};
  CHECK(now + Duration::max() == TimePoint::never());
  CHECK(TimePoint::never() + 1s == TimePoint::never());
  CHECK((TimePoint{-5} - Duration::max()).ns == INT64_MIN);
  CHECK((TimePoint{0} - Duration::min()) == TimePoint::never());
  CHECK(TimePoint::never() - TimePoint{-1} == Duration::max());
  CHECK(TimePoint{INT64_MIN} - TimePoint{1} == Duration::min());
  CHECK((now + 5ns).ns == 1'005);
  CHECK(now - TimePoint{400} == 600ns);
}

TEST_CASE("a virtual clock moves only when told") {
  VirtualClock clock(TimePoint{50}, 1'700'000'000'000);
  CHECK(clock.now() == TimePoint{50});
  CHECK(clock.wall_ms() == 1'700'000'000'000);
  clock.advance(1500ms);
  CHECK(clock.now() == TimePoint{50} + 1500ms);
  CHECK(clock.wall_ms() == 1'700'000'001'500);
  clock.advance_to(TimePoint{10});
  CHECK(clock.now() == TimePoint{50} + 1500ms);
  clock.advance_to(TimePoint{50} + 2s);
  CHECK(clock.now() == TimePoint{50} + 2s);
}

TEST_CASE("the real clock does not go back and knows the century") {
  const TimePoint first = real_clock().now();
  CHECK(real_clock().now() >= first);
  CHECK(real_clock().wall_ms() > 1'600'000'000'000);
}
