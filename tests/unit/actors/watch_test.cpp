#include <troupe/actors/detail/watch.hpp>

#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <tests/support/captured_log.hpp>

using namespace troupe;
using namespace troupe::detail;
using namespace std::chrono_literals;

namespace {

const TrialKey trial{TrialId(3), 1};

UserProgress in_step(uint64_t call, Duration running, uint64_t step = 7) {
  return {UserActivity::step, call, step, running, trial};
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
  CHECK(verdict.cancel->reason == "step 7 did not end within 10 s (step_timeout)");
  watch.tick(1s);
  verdict = watch.look(in_step(1, 12s));
  CHECK_FALSE(verdict.cancel);
  CHECK_FALSE(verdict.expired);
  watch.tick(1s);
  CHECK_FALSE(watch.look(in_step(1, 13s)).expired);
  watch.tick(1s);
  CHECK(watch.look(in_step(1, 14s)).expired == "step 7 did not end within 10 s (step_timeout)");
}

TEST_CASE("a step that ended after all is forgotten") {
  Watch watch({.step = 10s, .grace = 2s});
  CHECK(watch.look(in_step(1, 11s)).cancel);
  watch.tick(5s);
  CHECK_FALSE(watch.look(in_step(2, 1s, 8)).expired);
}

TEST_CASE("each call of user code has the limit of its kind, and a message that names all three") {
  struct Call {
    UserActivity activity;
    Duration limit;
    std::string name;
    std::string setting;
  };
  const Call calls[] = {
      {UserActivity::prepare, 60s, "setup", "60 s (setup_timeout)"},
      {UserActivity::reset, 60s, "reset_config", "60 s (setup_timeout)"},
      {UserActivity::restore, 60s, "load_checkpoint", "60 s (setup_timeout)"},
      {UserActivity::step, 10s, "step 7", "10 s (step_timeout)"},
      {UserActivity::save, 10s, "save_checkpoint after step 7", "10 s (step_timeout)"},
      {UserActivity::cleanup, 10s, "cleanup", "10 s (step_timeout)"},
  };
  for (const Call& call : calls) {
    CAPTURE(call.name);
    Watch watch({.step = 10s, .setup = 60s, .grace = 2s});
    CHECK_FALSE(watch.look({call.activity, 1, 7, call.limit, trial}).cancel);
    const auto verdict = watch.look({call.activity, 1, 7, call.limit + 1ms, trial});
    REQUIRE(verdict.cancel);
    CHECK(verdict.cancel->call == 1);
    CHECK(verdict.cancel->reason == call.name + " did not end within " + call.setting);
    watch.tick(3s);
    CHECK(watch.look({call.activity, 1, 7, 2h, trial}).expired == verdict.cancel->reason);
  }
}

TEST_CASE("what is no call of user code has no limit and no warning") {
  Watch watch({.step = 10s, .setup = 10s, .grace = 2s});
  Watch unlimited({.grace = 2s});
  for (const UserActivity activity :
       {UserActivity::idle, UserActivity::waiting, UserActivity::ended}) {
    CHECK_FALSE(watch.look({activity, 1, 3, 1h, trial}).cancel);
    CHECK_FALSE(unlimited.look({activity, 1, 3, 1h, trial}).warning);
  }
}

TEST_CASE("a long call that nothing limits is told, with the setting that limits it") {
  const std::pair<UserActivity, std::string> calls[] = {
      {UserActivity::prepare, "setup_timeout"}, {UserActivity::reset, "setup_timeout"},
      {UserActivity::restore, "setup_timeout"}, {UserActivity::step, "step_timeout"},
      {UserActivity::save, "step_timeout"},     {UserActivity::cleanup, "step_timeout"}};
  for (const auto& [activity, setting] : calls) {
    Watch watch({.step = 0s, .setup = 0s, .grace = 2s});
    CHECK_FALSE(watch.look({activity, 1, 7, 10min, trial}).warning);
    const auto verdict = watch.look({activity, 1, 7, 11min, trial});
    CHECK(verdict.warning == setting);
    CHECK_FALSE(verdict.cancel);
    Watch limited({.step = 1h, .setup = 1h, .grace = 2s});
    CHECK_FALSE(limited.look({activity, 1, 7, 11min, trial}).warning);
  }
}

TEST_CASE("where every step is long not every step is told, but one that is longer is") {
  Watch watch({.step = 0s, .grace = 2s});
  const auto told = [&](uint64_t call, Duration running) {
    return watch.look(in_step(call, running)).warning.has_value();
  };
  CHECK(told(1, 11min));
  CHECK_FALSE(told(1, 22min));
  CHECK_FALSE(told(2, 22min));
  CHECK(told(3, 23min));
  CHECK_FALSE(told(3, 46min));
  CHECK(told(3, 47min));
}

TEST_CASE("the warning of a long call names the trial, the call and the setting") {
  const testing::CapturedLog told;
  warn_of_long_call(WorkerId(4), {UserActivity::prepare, 1, 0, 11min, trial}, "setup_timeout");
  for (const char* part : {"FailureConfig.setup_timeout", "trial=3.1", "call=setup", "660"})
    CHECK_MESSAGE(told.text().find(part) != std::string::npos, told.text());
}

TEST_CASE("a function whose trial is over has the grace time, whatever the limit of a step") {
  for (const Duration step : {Duration(0s), Duration(1s), Duration(1h)}) {
    Watch watch({.step = step, .grace = 2s});
    UserProgress unwinding{UserActivity::unwind, 4, 7, 1min, trial};
    const auto verdict = watch.look(unwinding);
    CHECK_FALSE(verdict.cancel);
    CHECK_FALSE(verdict.warning);
    watch.tick(3s);
    CHECK(watch.look(unwinding).expired ==
          "the function did not end within 2 s after the trial was told to stop");
    CHECK(watch.look(unwinding).kind == FailureKind::user);
  }
}

TEST_CASE("why a trial fails already stands before what its destructor does") {
  Watch watch({.step = 10s, .grace = 2s});
  const UserProgress leaving{UserActivity::cleanup, 4, 0, 11s, trial, "step 7 failed: no memory"};
  CHECK(watch.look(leaving).cancel);
  watch.tick(3s);
  const auto verdict = watch.look(leaving);
  CHECK(verdict.expired ==
        "step 7 failed: no memory; then the destructor did not end within 10 s (step_timeout)");
  CHECK(verdict.kind == FailureKind::user);
}

TEST_CASE("a trial before which another one's cleanup does not end has no part in it") {
  Watch watch({.step = 10s, .grace = 2s});
  const UserProgress waiting{UserActivity::cleanup, 4, 0, 11s, trial};
  CHECK(watch.look(waiting).cancel);
  watch.tick(3s);
  CHECK(watch.look(waiting).kind == FailureKind::infrastructure);
}

TEST_CASE("after an order to stop each call of the trial has the grace time") {
  Watch watch({.step = 0s, .grace = 2s});
  watch.trial_stopped(trial);
  CHECK_FALSE(watch.look(in_step(1, 1h)).expired);
  watch.tick(3s);
  const UserProgress saving{UserActivity::save, 2, 7, 1s, trial};
  CHECK_FALSE(watch.look(saving).expired);
  watch.tick(3s);
  CHECK(watch.look(saving).expired ==
        "save_checkpoint after step 7 did not end within 2 s after the trial was told to stop");
}

TEST_CASE("an order to stop is nothing to the next trial") {
  Watch watch({.step = 0s, .grace = 2s});
  watch.trial_stopped(trial);
  const UserProgress next{UserActivity::step, 1, 1, 1h, TrialKey{TrialId(4), 0}};
  CHECK_FALSE(watch.look(next).expired);
  watch.tick(3s);
  CHECK_FALSE(watch.look(next).expired);
}

TEST_CASE("durations are written for people") {
  CHECK(to_text(10s) == "10 s");
  CHECK(to_text(250ms) == "250 ms");
  CHECK(to_text(1500ms) == "1.5 s");
}
