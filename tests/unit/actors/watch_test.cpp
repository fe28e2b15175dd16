#include <troupe/actors/detail/watch.hpp>

#include <doctest/doctest.h>

using namespace troupe;
using namespace troupe::detail;
using namespace std::chrono_literals;

namespace {

UserProgress in_step(uint64_t call, Duration running, uint64_t step = 7) {
  return {UserActivity::step, call, step, running};
}

}  // namespace

TEST_CASE("a step within its time is left alone") {
  Watch watch({.step = 10s, .grace = 2s});
  const auto verdict = watch.look(in_step(1, 9s));
  CHECK_FALSE(verdict.cancel);
  CHECK_FALSE(verdict.expired);
}

TEST_CASE("a step beyond its time is asked to end once, and expires after the grace time") {
  Watch watch({.step = 10s, .grace = 2s});
  auto verdict = watch.look(in_step(1, 11s));
  REQUIRE(verdict.cancel);
  CHECK(verdict.cancel->call == 1);
  CHECK(verdict.cancel->reason == "step 7 did not end within 10 s");
  watch.tick(1s);
  verdict = watch.look(in_step(1, 12s));
  CHECK_FALSE(verdict.cancel);
  CHECK_FALSE(verdict.expired);
  watch.tick(1s);
  CHECK_FALSE(watch.look(in_step(1, 13s)).expired);
  watch.tick(1s);
  CHECK(watch.look(in_step(1, 14s)).expired == "step 7 did not end within 10 s");
}

TEST_CASE("a step that ended after all is forgotten") {
  Watch watch({.step = 10s, .grace = 2s});
  CHECK(watch.look(in_step(1, 11s)).cancel);
  watch.tick(5s);
  CHECK_FALSE(watch.look(in_step(2, 1s, 8)).expired);
}

TEST_CASE("only steps have a limit of their own, and a wait for an answer has none at all") {
  Watch watch({.step = 10s, .grace = 2s});
  CHECK_FALSE(watch.look({UserActivity::prepare, 1, 0, 1h}).cancel);
  CHECK_FALSE(watch.look({UserActivity::save, 2, 3, 1h}).cancel);
  CHECK_FALSE(watch.look({UserActivity::waiting, 3, 3, 1h}).cancel);
  CHECK_FALSE(watch.look({UserActivity::idle, 4, 3, 1h}).cancel);
}

TEST_CASE("after an order to stop each call has the grace time") {
  Watch watch({.step = 0s, .grace = 2s});
  watch.trial_stopped();
  CHECK_FALSE(watch.look(in_step(1, 1h)).expired);
  watch.tick(3s);
  const UserProgress saving{UserActivity::save, 2, 7, 1s};
  CHECK_FALSE(watch.look(saving).expired);
  watch.tick(3s);
  CHECK(watch.look(saving).expired ==
        "save_checkpoint after step 7 did not end within 2 s after the trial was told to stop");
  watch.trial_started();
  CHECK_FALSE(watch.look(saving).expired);
}

TEST_CASE("durations are written for people") {
  CHECK(to_text(10s) == "10 s");
  CHECK(to_text(250ms) == "250 ms");
  CHECK(to_text(1500ms) == "1.5 s");
}
