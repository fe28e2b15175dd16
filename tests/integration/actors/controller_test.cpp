#include <troupe/base/fault_point.hpp>

#include <doctest/doctest.h>
#include <tests/integration/actors/fixture.hpp>
#include <unistd.h>

using namespace troupe;
using namespace troupe::testing;

namespace {

constexpr Isolation both[] = {Isolation::process, Isolation::thread};

}  // namespace

TEST_CASE("trials run to their end in worker processes and in threads") {
  for (const Isolation isolation : both) {
    Stage stage;
    stage.loop.isolation = isolation;
    for (int i = 0; i < 5; ++i)
      stage.add("Counter", {{"start", 10 * i}});
    REQUIRE(stage.play());
    REQUIRE(stage.loop.outcomes.size() == 5);
    for (const auto& [number, outcome] : stage.loop.outcomes) {
      CHECK(outcome.ended == "stopped");
      REQUIRE(outcome.results.size() == 3);
      CHECK(outcome.results[2].at("value").as_int() == 10 * number + 3);
      CHECK(outcome.results[2].at("training_iteration").as_int() == 3);
      CHECK(outcome.results[2].at("time_total_s").as_double() >=
            outcome.results[2].at("time_this_iter_s").as_double());
      CHECK((outcome.results[0].at("pid").as_int() == ::getpid()) ==
            (isolation == Isolation::thread));
    }
    CHECK(stage.loop.worker_starts == 5);
    CHECK(stage.loop.worker_ends == std::vector<std::string>(5, "ended as told"));
    CHECK(stage.counters.process_workers == (isolation == Isolation::process ? 5 : 0));
    CHECK(stage.counters.thread_workers == (isolation == Isolation::thread ? 5 : 0));
    CHECK(stage.journal.watermarks().durable == stage.journal.watermarks().accepted);
  }
}

TEST_CASE("a reused worker keeps its object and its process") {
  for (const Isolation isolation : both) {
    Stage stage;
    stage.loop.isolation = isolation;
    stage.loop.reuse = true;
    stage.loop.concurrency = 1;
    for (int i = 0; i < 4; ++i)
      stage.add("Counter");
    REQUIRE(stage.play());
    CHECK(stage.loop.worker_starts == 1);
    CHECK(stage.loop.outcomes[3].results[2].at("steps_of_object").as_int() == 12);
    CHECK(stage.loop.outcomes[3].results[2].at("value").as_int() == 3);
  }
}

TEST_CASE("a trainable that refuses to be reset gets a fresh worker") {
  for (const Isolation isolation : both) {
    Stage stage;
    stage.loop.isolation = isolation;
    stage.loop.reuse = true;
    stage.loop.concurrency = 1;
    stage.add("Counter");
    stage.add("Counter", {{"refuse", true}});
    REQUIRE(stage.play());
    CHECK(stage.loop.reset_refused == 1);
    CHECK(stage.loop.worker_starts == 2);
    CHECK(stage.loop.outcomes[1].ended == "stopped");
    CHECK(stage.loop.outcomes[1].results[2].at("steps_of_object").as_int() == 3);
  }
}

TEST_CASE("a trial goes on from its newest checkpoint") {
  for (const Isolation isolation : both) {
    Stage stage;
    stage.loop.isolation = isolation;
    stage.loop.verdict_pause = true;
    stage.add("Counter").save_every = 2;
    REQUIRE(stage.play());
    const auto saved = stage.loop.outcomes[0].checkpoints;
    REQUIRE(saved.size() == 1);
    CHECK(saved[0].iteration == 2);

    ScriptLoop::TrialScript again = stage.loop.trials[0];
    again.from = saved;
    again.save_every = 0;
    stage.loop = ScriptLoop();
    stage.loop.isolation = isolation;
    stage.loop.trials.push_back(again);
    REQUIRE(stage.play());
    const Outcome& outcome = stage.loop.outcomes[0];
    REQUIRE(outcome.started);
    CHECK(outcome.started->iteration == 2);
    CHECK(outcome.started->checkpoint == saved[0].number);
    REQUIRE(outcome.results.size() == 3);
    CHECK(outcome.results[0].at("value").as_int() == 3);
    CHECK(outcome.results[0].at("training_iteration").as_int() == 3);
  }
}

TEST_CASE("functions report, save, come back, and go on from a checkpoint") {
  for (const Isolation isolation : both) {
    Stage stage;
    stage.loop.isolation = isolation;
    stage.add("reporter", {{"reports", 2}, {"save", true}, {"last", true}}).stop_after = 10;
    stage.add("reporter", {{"reports", 100}}).stop_after = 4;
    REQUIRE(stage.play());
    const Outcome& first = stage.loop.outcomes[0];
    CHECK(first.ended == "returned");
    REQUIRE(first.results.size() == 3);
    CHECK(first.results[2].at("last").as_int() == 1);
    REQUIRE(first.checkpoints.size() == 2);
    CHECK(first.checkpoints[1].iteration == 2);
    CHECK(stage.loop.outcomes[1].ended == "stopped");
    CHECK(stage.loop.outcomes[1].results.size() == 4);

    ScriptLoop::TrialScript again = stage.loop.trials[0];
    again.config = {{"reports", 3}};
    again.from = {first.checkpoints[1], first.checkpoints[0]};
    stage.loop = ScriptLoop();
    stage.loop.isolation = isolation;
    stage.loop.trials.push_back(again);
    REQUIRE(stage.play());
    REQUIRE(stage.loop.outcomes[0].results.size() == 1);
    CHECK(stage.loop.outcomes[0].results[0].at("done_so_far").as_int() == 3);
    CHECK(stage.loop.outcomes[0].results[0].at("training_iteration").as_int() == 3);
  }
}

TEST_CASE("an error of the loop ends the experiment and its workers") {
  for (const Isolation isolation : both) {
    Stage stage;
    stage.loop.isolation = isolation;
    stage.add("Counter").stop_after = 1'000'000;
    stage.add("reporter", {{"reports", 5}});
    stage.loop.fail_at = "reporter";
    const Status result = stage.play();
    REQUIRE_FALSE(result);
    CHECK(result.error().message() == "the script fails here");
    CHECK(stage.journal.watermarks().durable == stage.journal.watermarks().accepted);
  }
}

TEST_CASE("an error of the journal ends the experiment with that error") {
  Stage stage;
  stage.loop.isolation = Isolation::thread;
  stage.add("Counter").stop_after = 1'000'000;
  const ScopedFault fault("store.append.before_write", {.skip = 20});
  const Status result = stage.play();
  REQUIRE_FALSE(result);
  CHECK(result.error().message().find("store.append.before_write") != std::string::npos);
}

TEST_CASE("a request to stop reaches the loop, and a destroyed controller leaves no worker") {
  for (const Isolation isolation : both) {
    Stage stage;
    stage.loop.isolation = isolation;
    stage.add("Counter").stop_after = 1'000'000'000;
    {
      Controller controller(stage.runtime, stage.loop, stage.journal, {});
      controller.request_stop("enough");
      REQUIRE(controller.wait_for(long_enough));
      CHECK(controller.wait());
      CHECK(stage.loop.outcomes[0].ended == "stopped");
    }
    stage.loop = ScriptLoop();
    stage.loop.isolation = isolation;
    stage.add("Counter").stop_after = 1'000'000'000;
    Controller controller(stage.runtime, stage.loop, stage.journal, {});
  }
}
