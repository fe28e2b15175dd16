#include <doctest/doctest.h>
#include <tests/integration/actors/fixture.hpp>
#include <tests/support/instrumented.hpp>

using namespace troupe;
using namespace troupe::testing;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// One trial that misbehaves and one beside it that must not notice.
Outcome misbehave(Stage& stage, const std::string& what) {
  stage.add("Misbehaves", {{"do", what}});
  stage.add("Counter").stop_after = 50;
  REQUIRE(stage.play());
  CHECK(stage.loop.outcomes[1].ended == "stopped");
  CHECK(stage.loop.outcomes[1].results.size() == 50);
  Outcome outcome = stage.loop.outcomes[0];
  CHECK(outcome.results.size() == 1);
  INFO(what, ": ", outcome.ended, ": ", outcome.message);
  return outcome;
}

void check_failed(const std::string& what, const std::string& message) {
  for (const Isolation isolation : {Isolation::process, Isolation::thread}) {
    Stage stage;
    stage.loop.isolation = isolation;
    const Outcome outcome = misbehave(stage, what);
    CHECK(outcome.ended == "failed");
    CHECK(outcome.message == message);
  }
}

/// `beginning` of the message; the last line of output must be in it.
void check_exited(const std::string& what, const std::string& beginning,
                  FailureKind kind = FailureKind::user) {
  Stage stage(hasty());
  const Outcome outcome = misbehave(stage, what);
  CAPTURE(outcome.message);
  CHECK(outcome.ended == "worker exited");
  CHECK(outcome.message.substr(0, beginning.size()) == beginning);
  CHECK(has(outcome.message, "about to " + what));
  CHECK(outcome.kind == kind);
}

}  // namespace

TEST_CASE("an exception fails its trial with its type and text") {
  check_failed("throw", "step 2 failed: std::domain_error: the learning rate is negative");
}

TEST_CASE("an exception of any type fails its trial") {
  check_failed("throw_int",
               "step 2 failed: an exception of type int was thrown (not derived from "
               "std::exception)");
}

TEST_CASE("abort is told by its signal") {
  check_exited("abort", "killed by SIGABRT (signal 6: ");
}

TEST_CASE("a segmentation fault is told by its signal") {
  check_exited("segv", "killed by SIGSEGV (signal 11: segmentation fault)");
}

TEST_CASE("exit is told by its status") {
  check_exited("exit", "called exit(3)");
}

TEST_CASE("a kill from outside is not the fault of user code") {
  Stage stage;
  const Outcome outcome = misbehave(stage, "kill");
  CHECK(has(outcome.message, "killed by SIGKILL from outside"));
  CHECK(outcome.kind == FailureKind::infrastructure);
}

TEST_CASE("a stopped process is noticed and killed") {
  // Its own code or somebody outside: nothing tells which.
  check_exited("stop", "process was stopped (SIGSTOP) and did not continue within",
               FailureKind::infrastructure);
}

TEST_CASE("an endless step is killed with its process") {
  Stage stage(hasty());
  stage.options.step_timeout = std::chrono::milliseconds(300);
  const Outcome outcome = misbehave(stage, "loop");
  CHECK(outcome.ended == "worker exited");
  CHECK(has(outcome.message, "step 2 did not end within 300 ms"));
  CHECK(outcome.kind == FailureKind::user);
}

TEST_CASE("an endless step in a thread is left behind") {
  Stage stage(hasty());
  stage.loop.isolation = Isolation::thread;
  stage.options.step_timeout = std::chrono::milliseconds(300);
  const Outcome outcome = misbehave(stage, "loop");
  CHECK(outcome.ended == "worker exited");
  CHECK(has(outcome.message, "step 2 did not end within 300 ms"));
  CHECK(stage.counters.abandoned_threads == 1);
  endless_step = false;
}

TEST_CASE("a step that ends when it is asked to fails its trial and keeps its worker alive") {
  for (const Isolation isolation : {Isolation::process, Isolation::thread}) {
    Stage stage;
    stage.loop.isolation = isolation;
    stage.options.step_timeout = std::chrono::milliseconds(300);
    const Outcome outcome = misbehave(stage, "cooperate");
    CHECK(outcome.ended == "failed");
    CHECK(has(outcome.message, "step 2 did not end within 300 ms"));
  }
}

TEST_CASE("a worker that runs out of its memory limit says so") {
  if (instrumented)
    return;  // there is no limit then: their shadow memory would count
  Stage stage;
  stage.add("Misbehaves", {{"do", "allocate"}}).memory_bytes = std::size_t{256} << 20;
  REQUIRE(stage.play());
  const Outcome& outcome = stage.loop.outcomes[0];
  CAPTURE(outcome.message);
  CHECK(outcome.ended == "failed");
  CHECK(has(outcome.message, "std::bad_alloc"));
  CHECK(has(outcome.message, "256 MiB"));
}

TEST_CASE("a talkative step is not held up, and only its last lines are kept") {
  Stage stage;
  stage.options.log_to_file = true;
  const Outcome outcome = misbehave(stage, "spam");
  CHECK(outcome.ended == "failed");
  CHECK(outcome.message == "step 2 failed: std::runtime_error: done talking");
  CHECK(std::filesystem::file_size(std::filesystem::path(stage.loop.trials[0].trial_dir) /
                                   "output.log") > 1'000'000);
}

TEST_CASE("a thread that user code ends fails its trial") {
  for (const Isolation isolation : {Isolation::process, Isolation::thread}) {
    Stage stage;
    stage.loop.isolation = isolation;
    const Outcome outcome = misbehave(stage, "pthread_exit");
    CHECK(outcome.ended == "worker exited");
    CHECK(has(outcome.message, "user code ended the thread it was called on"));
  }
}

TEST_CASE("user code that closes all files loses its worker") {
  Stage stage(hasty());
  const Outcome outcome = misbehave(stage, "close_files");
  CHECK(outcome.ended == "worker exited");
}
