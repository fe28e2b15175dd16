#include <troupe/base/fault_point.hpp>

#include <cstdlib>

#include <tests/integration/tune/lab.hpp>
#include <tests/support/captured_log.hpp>
#include <tests/support/instrumented.hpp>

using namespace troupe;
using namespace troupe::testing;

namespace {

/// One trial that misbehaves and one beside it that must not notice.
std::string error_of(const std::string& what, Isolation isolation = Isolation::process) {
  Lab lab;
  auto run = lab.run(isolation);
  if (what == "loop")
    run.failure_config.step_timeout = std::chrono::seconds(2);
  if (what == "stop")  // the failure counts as one of infrastructure, which is tried again
    run.failure_config.max_infrastructure_failures = 0;
  run.resources_per_trial.memory_bytes = what == "allocate" ? std::uint64_t{512} << 20 : 0;
  const auto results = tune::Tuner(lab.runtime, "Misbehaves",
                                   {.param_space = {{"do", tune::grid_search({what, "nothing"})}},
                                    .run_config = run})
                           .fit();
  REQUIRE(results.size() == 2);
  CHECK(results[1].state == tune::TrialState::terminated);
  CHECK(results[1].iteration == 3);
  CHECK(results[0].state == tune::TrialState::error);
  CHECK(results[0].iteration == 1);
  CHECK(results.num_errors() == 1);
  CHECK(results.errors().size() == 1);
  CHECK_FALSE(results.interrupted());
  return results[0].error ? results[0].error->message() : std::string();
}

void check_error(const std::string& what, const std::string& part) {
  const std::string message = error_of(what);
  CHECK_MESSAGE(has(message, part), message);
  CHECK_MESSAGE(has(message, "about to " + what), message);
}

}  // namespace

TEST_CASE("an exception fails its trial with type and text") {
  for (const Isolation isolation : isolations) {
    const std::string message = error_of("throw", isolation);
    CHECK_MESSAGE(has(message, "std::domain_error: the learning rate is negative"), message);
  }
}

TEST_CASE("abort fails its trial with the signal and the last output") {
  check_error("abort", "SIGABRT");
}

TEST_CASE("a segmentation fault fails its trial with the signal and the last output") {
  check_error("segv", "killed by SIGSEGV (signal 11: segmentation fault)");
}

TEST_CASE("exit fails its trial with the status") {
  check_error("exit", "called exit(3)");
}

TEST_CASE("a step without end is cut off and named") {
  const std::string message = error_of("loop");
  CHECK_MESSAGE(has(message, "step 2 did not end within 2 s"), message);
}

TEST_CASE("a step without end on a thread is left behind and the trial fails") {
  const std::string message = error_of("loop", Isolation::thread);
  ++endless_steps;
  CHECK_MESSAGE(has(message, "step 2 did not end within 2 s"), message);
}

TEST_CASE("a setup without end is cut off and named") {
  for (const Isolation isolation : isolations) {
    CAPTURE(static_cast<int>(isolation));
    Lab lab;
    auto run = lab.run(isolation);
    run.failure_config.setup_timeout = std::chrono::seconds(1);
    const auto results = tune::Tuner(lab.runtime, "Misbehaves",
                                     {.param_space = {{"do", "loop in setup"}}, .run_config = run})
                             .fit();
    ++endless_steps;
    REQUIRE(results[0].error.has_value());
    const std::string message = results[0].error->message();
    CHECK_MESSAGE(has(message, "setup did not end within 1 s (setup_timeout)"), message);
  }
}

TEST_CASE("a stopped process fails its trial") {
  const std::string message = error_of("stop");
  CHECK_MESSAGE(has(message, "process was stopped (SIGSTOP) and did not continue within 5 s"),
                message);
}

TEST_CASE("what may have come from outside costs a trial a restart, not its life") {
  // SIGTERM and SIGINT to a worker mean nothing: the driver decides. SIGSTOP may be anybody's.
  for (const std::string what : {"signals", "stop once"}) {
    CAPTURE(what);
    Lab lab;
    const auto results =
        tune::Tuner(lab.runtime, "Misbehaves",
                    {.param_space = {{"do", what}}, .run_config = lab.run(Isolation::process)})
            .fit();
    CHECK_MESSAGE(results[0].state == tune::TrialState::terminated, results[0]);
    CHECK(results[0].iteration == 3);
    CHECK(results.actor_starts() == (what == "signals" ? 1 : 2));
  }
}

TEST_CASE("a cleanup that throws is told, and harms nothing") {
  for (const Isolation isolation : isolations) {
    CAPTURE(static_cast<int>(isolation));
    Lab lab;
    const CapturedLog told;
    const auto results =
        tune::Tuner(lab.runtime, "Misbehaves",
                    {.param_space = {{"do", "fail in cleanup"}}, .run_config = lab.run(isolation)})
            .fit();
    CHECK(results.num_terminated() == 1);
    CHECK_MESSAGE(has(told.text(), "cleanup"), told.text());
    CHECK_MESSAGE(has(told.text(), "the lock file is gone"), told.text());
  }
}

TEST_CASE("a result that is too large fails its trial and leaves no checkpoint behind") {
  Lab lab;
  auto run = lab.run(Isolation::process);
  const auto results =
      tune::Tuner(lab.runtime, "counting",
                  {.param_space = {{"to", 3}, {"too_large_at", 2}}, .run_config = run})
          .fit();
  REQUIRE(results[0].error.has_value());
  CHECK_MESSAGE(has(results[0].error->message(), "at most 4194304 are possible"),
                results[0].error->message());
  CHECK(results[0].iteration == 1);
  CHECK(std::filesystem::exists(results[0].path / "checkpoint_000000"));
  CHECK_FALSE(std::filesystem::exists(results[0].path / "checkpoint_000001"));
}

TEST_CASE("a trial that goes beyond its memory fails and names the limit" *
          doctest::skip(instrumented)) {
  const std::string message = error_of("allocate");
  CHECK_MESSAGE(has(message, "512 MiB"), message);
}

TEST_CASE("a failed trial is tried again from its checkpoint") {
  for (const Isolation isolation : isolations) {
    CAPTURE(static_cast<int>(isolation));
    Lab lab;
    auto run = lab.run(isolation);
    run.failure_config.max_failures = 1;
    run.checkpoint_config.checkpoint_frequency = 2;
    const auto results =
        tune::Tuner(lab.runtime, "Summing",
                    {.param_space = {{"x", 1.5}, {"fail_at", 5}}, .run_config = run})
            .fit();
    const auto trial = results[0];
    REQUIRE_MESSAGE(trial.state == tune::TrialState::terminated, trial);
    CHECK(trial.metrics.at("sum").as_double() == 9.0);
    const auto history = results.metrics_history(trial.id);
    REQUIRE(history.size() == 6);
    for (std::size_t i = 0; i < history.size(); ++i)
      CHECK(history[i].at("sum").as_double() == 1.5 * static_cast<double>(i + 1));
  }
}

TEST_CASE("a damaged checkpoint is passed over for the one before") {
  for (const Isolation isolation : isolations) {
    CAPTURE(static_cast<int>(isolation));
    Lab lab;
    auto run = lab.run(isolation);
    run.failure_config.max_failures = 1;
    run.checkpoint_config.checkpoint_frequency = 2;
    const auto results =
        tune::Tuner(lab.runtime, "Summing",
                    {.param_space = {{"x", 1.5}, {"damage", true}}, .run_config = run})
            .fit();
    const auto trial = results[0];
    REQUIRE_MESSAGE(trial.state == tune::TrialState::terminated, trial);
    CHECK(trial.metrics.at("sum").as_double() == 9.0);
    CHECK(results.metrics_history(trial.id).size() == 6);
  }
}

TEST_CASE("fail_fast stops the experiment, and a restore goes on with the others") {
  for (const Isolation isolation : isolations) {
    CAPTURE(static_cast<int>(isolation));
    Lab lab;
    auto run = lab.run(isolation);
    run.failure_config.fail_fast = true;
    const auto stopped =
        tune::Tuner(lab.runtime, "Misbehaves",
                    {.param_space = {{"do", tune::grid_search({"throw", "nothing"})}},
                     .tune_config = {.num_samples = 3, .max_concurrent_trials = 1},
                     .run_config = run})
            .fit();
    CHECK(stopped.state() == tune::ExperimentState::failed);
    CHECK(stopped.interrupted());
    CHECK(stopped.num_errors() == 1);
    CHECK(stopped.num_terminated() == 0);
  }
}

TEST_CASE("a missing metric fails its trial and names what is there") {
  Lab lab;
  const auto results = tune::Tuner(lab.runtime, "Quadratic",
                                   {.param_space = {{"x", 1}},
                                    .tune_config = {.metric = "los", .mode = Mode::min},
                                    .run_config = lab.run(Isolation::thread)})
                           .fit();
  REQUIRE(results[0].error.has_value());
  CHECK_MESSAGE(has(results[0].error->message(), "'loss'"), results[0].error->message());
}

TEST_CASE("a function that ends without a result fails its trial and is told what to report") {
  for (const Isolation isolation : isolations) {
    CAPTURE(static_cast<int>(isolation));
    Lab lab;
    auto run = lab.run(isolation);
    run.failure_config.max_failures = 3;
    const auto results =
        tune::Tuner(
            lab.runtime, "nothing",
            {.param_space = {{"x", 1}}, .tune_config = {.metric = "loss"}, .run_config = run})
            .fit();
    REQUIRE(results[0].error.has_value());
    const std::string message = results[0].error->message();
    CHECK_MESSAGE(has(message, "report({{\"loss\", value}})"), message);
    CHECK(results.actor_starts() == 1);
  }
}

TEST_CASE("a number that a function returned is called _metric, and a wrong metric says so") {
  Lab lab;
  const auto tuned = [&](const std::string& metric, const std::string& name) {
    return tune::Tuner(lab.runtime, "square",
                       {.param_space = {{"x", 3}},
                        .tune_config = {.metric = metric, .mode = Mode::min},
                        .run_config = lab.run(Isolation::thread, name)})
        .fit();
  };
  const auto wrong = tuned("loss", "wrong");
  REQUIRE(wrong[0].error.has_value());
  const std::string message = wrong[0].error->message();
  for (const char* part : {"'_metric'", "TuneConfig.metric", "return {{\"loss\", value}}"})
    CHECK_MESSAGE(has(message, part), message);
  CHECK(tuned("_metric", "right").best_result().metrics.at("_metric").as_double() == 9.0);
}

TEST_CASE("TROUPE_FAULTS is armed in worker processes") {
  ::setenv("TROUPE_FAULTS", "checkpoint.write.before_rename=fail@2", 1);
  Lab lab;
  auto run = lab.run(Isolation::process);
  run.checkpoint_config.checkpoint_frequency = 1;
  const auto results =
      tune::Tuner(lab.runtime, "Summing", {.param_space = {{"x", 1.5}}, .run_config = run}).fit();
  ::unsetenv("TROUPE_FAULTS");
  REQUIRE(results[0].error.has_value());
  CHECK_MESSAGE(has(results[0].error->message(), "fault point 'checkpoint.write.before_rename'"),
                results[0].error->message());
  CHECK(results[0].iteration == 2);
}

TEST_CASE("workers that do not come up stop the experiment, not trial after trial, and say why") {
  ::setenv("TROUPE_FAULTS", "checkpoint.write.befor_rename=fail", 1);
  Lab lab;
  const auto run = lab.run(Isolation::process);
  const auto results = tune::Tuner(lab.runtime, "Summing",
                                   {.param_space = {{"x", tune::uniform(0, 1)}},
                                    .tune_config = {.num_samples = 500},
                                    .run_config = run})
                           .fit();
  ::unsetenv("TROUPE_FAULTS");
  CHECK(results.state() == tune::ExperimentState::failed);
  for (const char* part : {"workers in a row did not come up", "TROUPE_FAULTS", "did you mean"})
    CHECK_MESSAGE(has(results.message(), part), results.message());
  CHECK(results.num_errors() == 0);
  CHECK(results.interrupted());
  check_throws(ErrorCode::not_found, "did not come up",
               [&] { (void)results.best_result("sum", Mode::max); });
  const auto restored = tune::Tuner::restore(lab.runtime, results.experiment_path());
  CHECK(restored.get_results().interrupted());
}

TEST_CASE("a full disk fails the run, not a trial, and a restore finishes it") {
  for (const bool function : {false, true}) {
    CAPTURE(function);
    Lab lab;
    auto run = lab.run(Isolation::thread);
    if (!function)
      run.checkpoint_config.checkpoint_frequency = 1;
    tune::Tuner tuner(lab.runtime, function ? "counting" : "Summing",
                      {.param_space = {{"x", 1.5}, {"to", 6}}, .run_config = run});
    {
      const ScopedFault full("storage.space.probe", {});
      const ScopedFault fault("checkpoint.write.before_sync", {.skip = 3});
      check_throws(ErrorCode::resource_exhausted, "no space is left in '" + lab.dir().string(),
                   [&] { (void)tuner.fit(); });
    }
    const auto broken = tune::ResultGrid::open(lab.dir());
    CHECK(broken.num_errors() == 0);
    const auto results = tune::Tuner::restore(lab.runtime, lab.dir()).fit();
    CHECK(results.num_errors() == 0);
    CHECK(results[0].iteration == 6);
    CHECK(results.metrics_history(TrialId(0)).size() == 6);
  }
}
