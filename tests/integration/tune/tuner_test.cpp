#include <troupe/base/metrics_registry.hpp>

#include <set>
#include <sstream>

#include <fcntl.h>
#include <tests/integration/tune/lab.hpp>
#include <unistd.h>

using namespace troupe;
using namespace troupe::testing;

TEST_CASE("a reused worker runs one trial after the other") {
  for (const Isolation isolation : isolations) {
    CAPTURE(static_cast<int>(isolation));
    Lab lab;
    const auto results = tune::Tuner(lab.runtime, "Quadratic",
                                     {.param_space = {{"x", tune::uniform(-10, 10)}},
                                      .tune_config = {.metric = "loss",
                                                      .mode = Mode::min,
                                                      .num_samples = 20,
                                                      .reuse_actors = true,
                                                      .seed = 1},
                                      .run_config = lab.run(isolation)})
                             .fit();
    CHECK(results.size() == 20);
    CHECK(results.num_terminated() == 20);
    CHECK(results.num_errors() == 0);
    CHECK(results.num_results() == 100);
    CHECK(results.actor_starts() == 2);
    CHECK_FALSE(results.interrupted());
    std::set<std::int64_t> pids;
    for (const auto& trial : results) {
      CHECK(trial.iteration == 5);
      CHECK(trial.stop_reason == "done");
      pids.insert(trial.metrics.at("pid").as_int());
    }
    CHECK(pids.size() == (isolation == Isolation::process ? 2 : 1));

    const auto best = results.best_result();
    for (const auto& trial : results)
      CHECK(best.score <= trial.metrics.at("loss").as_double());
    std::ostringstream text;
    text << best;
    CHECK(has(text.str(), "scope last"));
  }
}

TEST_CASE("what an experiment does is counted in the numbers of the process") {
  const auto started = [](const char* isolation) {
    return MetricsRegistry::global()
        .counter("troupe_workers_started_total", {{"isolation", isolation}})
        .value();
  };
  const auto& records = MetricsRegistry::global().counter("troupe_journal_records_total");
  for (const Isolation isolation : isolations) {
    CAPTURE(static_cast<int>(isolation));
    const char* name = isolation == Isolation::process ? "process" : "thread";
    const auto before = started(name);
    const auto records_before = records.value();
    Lab lab;
    const auto results = tune::Tuner(lab.runtime, "Quadratic",
                                     {.param_space = {{"x", tune::uniform(-10, 10)}},
                                      .tune_config = {.metric = "loss", .num_samples = 3},
                                      .run_config = lab.run(isolation)})
                             .fit();
    CHECK(started(name) - before == results.actor_starts());
    CHECK(records.value() - records_before >= results.num_results());
  }
  const std::string text = MetricsRegistry::global().expose();
  for (const char* name : {"troupe_events_total", "troupe_suggestion_seconds_count",
                           "troupe_journal_append_seconds_count", "troupe_journal_sync_seconds"})
    CHECK_MESSAGE(has(text, name), text);
}

TEST_CASE("a trainable that refuses to be reset gets a fresh worker for each trial") {
  for (const Isolation isolation : isolations) {
    CAPTURE(static_cast<int>(isolation));
    Lab lab;
    const auto results = tune::Tuner(lab.runtime, "NoReset",
                                     {.param_space = {{"x", tune::uniform(-10, 10)}},
                                      .tune_config = {.num_samples = 6, .reuse_actors = true},
                                      .run_config = lab.run(isolation)})
                             .fit();
    CHECK(results.num_terminated() == 6);
    CHECK(results.actor_starts() == 6);
    for (const auto& trial : results)
      CHECK(trial.metrics.at("objects_trials").as_int() == 1);
  }
}

TEST_CASE("each trial has its own log, also when workers are used again") {
  for (const bool result_files : {false, true}) {
    Lab lab;
    auto run = lab.run(Isolation::process);
    run.log_to_file = true;
    run.result_files = result_files;
    const auto results =
        tune::Tuner(lab.runtime, "Talks",
                    {.tune_config = {.num_samples = 10, .reuse_actors = true}, .run_config = run})
            .fit();
    CHECK(results.actor_starts() == 2);
    for (const auto& trial : results) {
      const std::string line = "I am " + trial.name + '\n';
      CHECK(read_file(trial.path / "output.log", 1000).value_or(std::string()) == line + line);
    }
  }
}

TEST_CASE("without reuse each trial has its own worker") {
  for (const Isolation isolation : isolations) {
    Lab lab;
    const auto results = tune::Tuner(lab.runtime, "Quadratic",
                                     {.param_space = {{"x", tune::grid_search({1, 2, 3})}},
                                      .tune_config = {.num_samples = 2},
                                      .run_config = lab.run(isolation)})
                             .fit();
    CHECK(results.size() == 6);
    CHECK(results.actor_starts() == 6);
  }
}

TEST_CASE("a function reports, saves, and goes on from its checkpoint after a failure") {
  for (const Isolation isolation : isolations) {
    CAPTURE(static_cast<int>(isolation));
    Lab lab;
    auto run = lab.run(isolation);
    run.failure_config.max_failures = 1;
    const auto results =
        tune::Tuner(lab.runtime, "counting",
                    {.param_space = {{"to", 5}, {"fail_at", 3}}, .run_config = run})
            .fit();
    REQUIRE(results.size() == 1);
    const auto trial = results[0];
    CHECK(trial.state == tune::TrialState::terminated);
    CHECK(trial.metrics.at("count").as_int() == 5);
    CHECK(trial.iteration == 5);
    CHECK(results.metrics_history(trial.id).size() == 5);
    REQUIRE(trial.checkpoint.has_value());
    CHECK(*read_file(trial.checkpoint->directory() / "count", 100) == "5");
  }
}

TEST_CASE("what a function returns is its result") {
  Lab lab;
  const auto results = tune::Tuner(lab.runtime, "square",
                                   {.param_space = {{"x", tune::grid_search({2, -1, 3})}},
                                    .run_config = lab.run(Isolation::thread)})
                           .fit();
  const auto best = results.best_result("_metric", Mode::min);
  CHECK(best.score == 1.0);
  CHECK(best.config.at("x").as_int() == -1);
}

TEST_CASE("ASHA stops trials early and says where") {
  Lab lab;
  const auto results =
      tune::Tuner(lab.runtime, "Quadratic",
                  {.param_space = {{"x", tune::uniform(-10, 10)}, {"steps", 20}},
                   .tune_config = {.metric = "loss",
                                   .mode = Mode::min,
                                   .num_samples = 20,
                                   .reuse_actors = true,
                                   .scheduler = tune::asha({.max_t = 20, .grace_period = 1}),
                                   .seed = 3},
                   .run_config = lab.run(Isolation::thread)})
          .fit();
  CHECK(results.num_terminated() == 20);
  std::size_t early = 0;
  for (const auto& trial : results) {
    if (has(trial.stop_reason, "asha"))
      ++early;
  }
  CHECK(early > 0);
  CHECK(results.num_results() < 400);
}

TEST_CASE("stop criteria end a trial with their reason") {
  Lab lab;
  auto run = lab.run(Isolation::thread);
  SUBCASE("by metric") {
    run.stop = tune::metric("loss") <= 0.1;
    const auto results = tune::Tuner(lab.runtime, "Endless", {.run_config = run}).fit();
    CHECK(results[0].iteration == 10);
    CHECK(results[0].stop_reason == "stop: loss <= 0.1");
  }
  SUBCASE("by iteration") {
    run.stop = tune::max_iterations(7);
    const auto results = tune::Tuner(lab.runtime, "Endless", {.run_config = run}).fit();
    CHECK(results[0].iteration == 7);
  }
}

TEST_CASE("a time budget ends all trials") {
  for (const Isolation isolation : isolations) {
    Lab lab;
    const auto results =
        tune::Tuner(
            lab.runtime, "Endless",
            {.tune_config = {.num_samples = 4, .time_budget = std::chrono::milliseconds(300)},
             .run_config = lab.run(isolation)})
            .fit();
    CHECK_FALSE(results.interrupted());
    for (const auto& trial : results) {
      CHECK(trial.state == tune::TrialState::terminated);
      CHECK(trial.stop_reason == "time budget");
    }
  }
}

TEST_CASE("checkpoints of the class API come by frequency and only the newest are kept") {
  for (const Isolation isolation : isolations) {
    Lab lab;
    auto run = lab.run(isolation);
    run.checkpoint_config = {.num_to_keep = 1, .checkpoint_frequency = 2};
    const auto results =
        tune::Tuner(lab.runtime, "Summing", {.param_space = {{"x", 1.5}}, .run_config = run}).fit();
    const auto trial = results[0];
    CHECK(trial.metrics.at("sum").as_double() == 9.0);
    REQUIRE(trial.checkpoint.has_value());
    CHECK(*read_file(trial.checkpoint->directory() / "sum", 100) == "6 9");
    std::size_t kept = 0;
    for (const auto& entry : std::filesystem::directory_iterator(trial.path))
      kept += entry.path().filename().string().starts_with("checkpoint_") ? 1 : 0;
    CHECK(kept <= 2);
  }
}

TEST_CASE("the result files are complete when fit returns") {
  Lab lab;
  auto run = lab.run(Isolation::process);
  run.result_files = true;
  const auto results =
      tune::Tuner(lab.runtime, "Quadratic",
                  {.param_space = {{"x", tune::grid_search({1.5, 2.5})}}, .run_config = run})
          .fit();
  for (const auto& trial : results) {
    const std::string json = *read_file(trial.path / "result.json", 1 << 20);
    CHECK(std::count(json.begin(), json.end(), '\n') == 5);
    const std::string csv = *read_file(trial.path / "progress.csv", 1 << 20);
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 6);
    CHECK(has(*read_file(trial.path / "params.json", 1 << 20), "\"x\""));
  }
}

TEST_CASE("scopes answer different questions") {
  Lab lab;
  const auto results = tune::Tuner(lab.runtime, "counting",
                                   {.param_space = {{"to", tune::grid_search({2, 4})}},
                                    .run_config = lab.run(Isolation::thread)})
                           .fit();
  CHECK(results.best_result("count", Mode::min).score == 2);
  CHECK(results.best_result("count", Mode::min, tune::Scope::all).score == 1);
  CHECK(results.best_result("count", Mode::max, tune::Scope::avg).score == 2.5);
  check_throws(ErrorCode::not_found, "did you mean 'count'",
               [&] { (void)results.best_result("coutn", Mode::min); });
  check_throws(ErrorCode::failed_precondition, "name one here",
               [&] { (void)results.best_result(); });
}

TEST_CASE("the checkpoint of the best iteration is found, not only the newest") {
  Lab lab;
  auto run = lab.run(Isolation::thread);
  run.checkpoint_config = {.num_to_keep = 2,
                           .checkpoint_score_attribute = "loss",
                           .checkpoint_score_order = Mode::max,
                           .checkpoint_frequency = 1};
  // Its loss falls from step to step, so the first one has the highest.
  const auto results = tune::Tuner(lab.runtime, "Summing",
                                   {.param_space = {{"x", 1.5}},
                                    .tune_config = {.metric = "loss", .mode = Mode::min},
                                    .run_config = run})
                           .fit();
  const auto trial = results[0];
  const auto kept = results.best_checkpoints(trial.id);
  REQUIRE(kept.size() == 3);  // the two best, and the newest
  CHECK(kept[0].iteration == 1);
  CHECK(kept[1].iteration == 2);
  CHECK(kept[2].iteration == 6);
  CHECK(kept[1].metrics.at("loss").as_double() == -3.0);
  CHECK(kept[2].checkpoint.directory() == trial.checkpoint.value().directory());

  const auto highest = results.best_checkpoint(trial.id, "loss", Mode::max).value();
  CHECK(highest.iteration == 1);
  CHECK(read_file(highest.checkpoint.directory() / "sum", 100).value_or_throw() == "1 1.5");
  CHECK(results.best_checkpoint(trial.id).value().iteration == 6);  // as TuneConfig says
  check_throws(ErrorCode::not_found, "did you mean 'loss'",
               [&] { (void)results.best_checkpoint(trial.id, "los", Mode::max); });
  check_throws(ErrorCode::not_found, "trial 7",
               [&] { (void)results.best_checkpoints(TrialId(7)); });
}

TEST_CASE("a trial without checkpoints has no best one, and without a rank the newest is first") {
  Lab lab;
  auto run = lab.run(Isolation::thread);
  const auto none =
      tune::Tuner(lab.runtime, "Summing", {.param_space = {{"x", 1.5}}, .run_config = run}).fit();
  CHECK(none.best_checkpoints(TrialId(0)).empty());
  CHECK_FALSE(none.best_checkpoint(TrialId(0), "loss", Mode::min));
  check_throws(ErrorCode::failed_precondition, "TuneConfig::metric",
               [&] { (void)none.best_checkpoint(TrialId(0)); });
  run.name = "newest";
  run.checkpoint_config.checkpoint_frequency = 3;
  const auto two =
      tune::Tuner(lab.runtime, "Summing", {.param_space = {{"x", 1.5}}, .run_config = run}).fit();
  const auto kept = two.best_checkpoints(TrialId(0));
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].iteration == 6);
  CHECK(kept[1].iteration == 3);
}

namespace {

/// What `call` writes to stderr.
template <class Call>
std::string stderr_of(const Lab& lab, Call call) {
  const auto path = lab.scratch.path() / "stderr";
  const auto file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC).value_or_throw();
  const FileDescriptor before(::dup(STDERR_FILENO));
  ::dup2(file.get(), STDERR_FILENO);
  call();
  ::dup2(before.get(), STDERR_FILENO);
  return read_file(path, 1 << 20).value_or_throw();
}

}  // namespace

TEST_CASE("which trial was best is left to the program, unless it asks for more") {
  for (const int verbose : {0, 1, 2}) {
    CAPTURE(verbose);
    Lab lab;
    auto run = lab.run(Isolation::thread);
    run.verbose = verbose;
    tune::Tuner tuner(lab.runtime, "Quadratic",
                      {.param_space = {{"x", 1}},
                       .tune_config = {.metric = "loss", .mode = Mode::min},
                       .run_config = run});
    const std::string text = stderr_of(lab, [&] { (void)tuner.fit(); });
    CHECK_MESSAGE(has(text, "test: finished, 1 trial, ") == (verbose > 0), text);
    CHECK_MESSAGE(has(text, "Best: ") == (verbose > 1), text);
  }
}
