#include <doctest/doctest.h>
#include <tests/integration/actors/fixture.hpp>
#include <tests/support/captured_log.hpp>

// Calls of user code that never end, one of each kind, in processes and threads.

using namespace troupe;
using namespace troupe::testing;
using namespace std::chrono_literals;

namespace {

constexpr Isolation both[] = {Isolation::process, Isolation::thread};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// What is left behind ends with the test.
struct HangingStage : Stage {
  explicit HangingStage(Isolation isolation) : Stage(hasty()) {
    loop.isolation = isolation;
    loop.concurrency = 1;
  }
  ~HangingStage() {
    ++hanging_calls;
    hanging_calls.notify_all();
  }

  void check_ended(uint32_t trial, const std::string& beginning,
                   FailureKind kind = FailureKind::user) {
    const Outcome& outcome = loop.outcomes[trial];
    CAPTURE(outcome.message);
    CHECK(outcome.ended == "worker exited");
    CHECK(outcome.kind == kind);
    CHECK(outcome.message.substr(0, beginning.size()) == beginning);
    CHECK(counters.abandoned_threads == (loop.isolation == Isolation::thread ? 1 : 0));
  }
};

}  // namespace

TEST_CASE("an endless setup is ended by setup_timeout") {
  for (const Isolation isolation : both) {
    HangingStage stage(isolation);
    stage.options.setup_timeout = 1s;
    stage.add("Hangs", {{"in", "setup"}});
    stage.add("Counter");
    REQUIRE(stage.play());
    stage.check_ended(0, "setup did not end within 1 s (setup_timeout)");
    CHECK(stage.loop.outcomes[1].ended == "stopped");
  }
}

TEST_CASE("an endless reset_config is ended by setup_timeout") {
  for (const Isolation isolation : both) {
    HangingStage stage(isolation);
    stage.loop.reuse = true;
    stage.options.setup_timeout = 1s;
    stage.add("Hangs", {{"in", "nothing"}});
    stage.add("Hangs", {{"in", "reset_config"}});
    REQUIRE(stage.play());
    CHECK(stage.loop.outcomes[0].ended == "stopped");
    stage.check_ended(1, "reset_config did not end within 1 s (setup_timeout)");
  }
}

TEST_CASE("an endless load_checkpoint is ended by setup_timeout") {
  for (const Isolation isolation : both) {
    HangingStage stage(isolation);
    stage.add("Hangs", {{"in", "nothing"}}).save_every = 1;
    REQUIRE(stage.play());
    ScriptLoop::TrialScript again = stage.loop.trials[0];
    again.config = {{"in", "load_checkpoint"}};
    again.from = {stage.loop.outcomes[0].checkpoints.back()};
    stage.loop = ScriptLoop();
    stage.loop.isolation = isolation;
    stage.loop.trials.push_back(again);
    stage.options.setup_timeout = 1s;
    REQUIRE(stage.play());
    stage.check_ended(0, "load_checkpoint did not end within 1 s (setup_timeout)");
  }
}

TEST_CASE("an endless step is ended by step_timeout and not by setup_timeout") {
  for (const Isolation isolation : both) {
    HangingStage stage(isolation);
    stage.options.setup_timeout = 1s;
    stage.options.step_timeout = 2s;
    stage.add("Hangs", {{"in", "step"}});
    REQUIRE(stage.play());
    stage.check_ended(0, "step 1 did not end within 2 s (step_timeout)");
  }
}

TEST_CASE("an endless save_checkpoint is ended by step_timeout") {
  for (const Isolation isolation : both) {
    HangingStage stage(isolation);
    stage.options.step_timeout = 1s;
    stage.add("Hangs", {{"in", "save_checkpoint"}}).save_every = 1;
    REQUIRE(stage.play());
    stage.check_ended(0, "save_checkpoint after step 1 did not end within 1 s (step_timeout)");
    CHECK(stage.loop.outcomes[0].checkpoints.empty());
  }
}

TEST_CASE("a function that hangs between two reports is ended by step_timeout") {
  for (const Isolation isolation : both) {
    HangingStage stage(isolation);
    stage.options.step_timeout = 1s;
    stage.add("hangs_between_reports");
    REQUIRE(stage.play());
    stage.check_ended(0, "step 2 did not end within 1 s (step_timeout)");
    CHECK(stage.loop.outcomes[0].results.size() == 1);
  }
}

TEST_CASE("a function that does not return when its trial is over has the grace time") {
  for (const char* function : {"swallows_its_end", "hangs_in_unwinding"}) {
    for (const Isolation isolation : both) {
      HangingStage stage(isolation);
      stage.add(function).stop_after = 1;
      REQUIRE(stage.play());
      stage.check_ended(0,
                        "the function did not end within 500 ms after the trial was told to stop");
      CHECK(stage.loop.outcomes[0].results.size() == 1);
    }
  }
}

TEST_CASE("a failure before an endless destructor is not forgotten") {
  for (const Isolation isolation : both) {
    HangingStage stage(isolation);
    stage.options.step_timeout = 1s;
    stage.add("Hangs", {{"in", "destructor"}});
    REQUIRE(stage.play());
    stage.check_ended(0, "step 1 failed: ");
    CHECK(has(stage.loop.outcomes[0].message,
              "the real reason; then the destructor did not end within 1 s (step_timeout)"));
  }
}

TEST_CASE("an endless cleanup before another object is ended by step_timeout") {
  for (const Isolation isolation : both) {
    HangingStage stage(isolation);
    stage.loop.reuse = true;
    stage.options.step_timeout = 1s;
    stage.add("Hangs", {{"in", "cleanup"}});
    stage.add("Counter");  // another trainable on the same worker
    REQUIRE(stage.play());
    CHECK(stage.loop.outcomes[0].ended == "stopped");
    // The second trial has no part in it, and may be tried again.
    stage.check_ended(1, "cleanup did not end within 1 s (step_timeout)",
                      FailureKind::infrastructure);
  }
}

TEST_CASE("an endless cleanup at the end of a worker has the grace time, and is told") {
  for (const Isolation isolation : both) {
    const CapturedLog told;
    HangingStage stage(isolation);
    stage.add("Hangs", {{"in", "cleanup"}});
    REQUIRE(stage.play());
    CHECK(stage.loop.outcomes[0].ended == "stopped");
    CHECK_MESSAGE(has(told.text(), "did not end when it was told to"), told.text());
  }
}
