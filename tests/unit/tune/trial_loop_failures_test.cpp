#include <troupe/runtime/store/keys.hpp>

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "loop_driver.hpp"

// Failures, checkpoints, and what a restore makes of them.

namespace troupe::tune {
namespace {

ExperimentDefinition samples(std::int64_t count, std::int64_t frequency = 0) {
  ExperimentDefinition definition;
  definition.param_space = {{"x", uniform(0, 1)}};
  definition.tune_config.num_samples = count;
  definition.run_config.checkpoint_config.checkpoint_frequency = frequency;
  return definition;
}

/// Reports until `last`, saving where it is asked to.
void train(LoopDriver& driver, std::uint32_t trial, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t i = first; i <= last; ++i) {
    const auto answer = driver.report_as(trial, i, {{"loss", 1.0 / static_cast<double>(i)}});
    if (answer->save)
      driver.save(trial, *answer->save);
  }
}

TEST_CASE("a failed trial is tried again from its newest checkpoint") {
  auto definition = samples(3, 2);
  definition.run_config.failure_config.max_failures = 1;
  LoopDriver driver(definition);
  train(driver, 0, 1, 5);
  driver.fail(0, "boom");
  CHECK(driver.row(0).failures == 1);
  CHECK(driver.row(0).error == "boom");
  CHECK(driver.running() == std::vector<std::uint32_t>{0});
  const RunTrial again = driver.last_run(0);
  CHECK(again.key.attempt == 1);
  REQUIRE(again.checkpoints.size() == 2);
  CHECK(again.checkpoints[0].iteration == 4);
  CHECK(again.next_checkpoint == 2);
  driver.fail(0, "boom again");
  CHECK(driver.row(0).state == TrialState::error);
  CHECK(driver.row(0).error == "boom again");
  CHECK(driver.row(0).failures == 2);
}

TEST_CASE("infrastructure failures are counted apart and never use up max_failures") {
  LoopDriver driver(samples(1, 1));
  for (int i = 0; i < 10; ++i) {
    driver.worker_exits(0, FailureKind::infrastructure, "killed from outside");
    REQUIRE(driver.pass_until_due());
  }
  CHECK(driver.running().size() == 1);
  CHECK(driver.row(0).failures == 0);
  CHECK(driver.row(0).infrastructure_failures == 10);
  driver.worker_exits(0, FailureKind::infrastructure, "killed from outside");
  CHECK(driver.row(0).state == TrialState::error);
  CHECK(driver.row(0).error.find("max_infrastructure_failures") != std::string::npos);
  CHECK(driver.row(0).infrastructure_failures == 11);
  CHECK(driver.row(0).failures == 0);
  CHECK(driver.row(0).error_kind == FailureKind::infrastructure);
}

TEST_CASE("what would fail the same way again is final, whatever max_failures says") {
  auto definition = samples(2);
  definition.run_config.failure_config.max_failures = 3;
  LoopDriver driver(definition, 2);
  driver.report(0, {{"blob", std::string(5'000'000, 'x')}});
  CHECK(driver.row(0).state == TrialState::error);
  const RunTrial run = driver.last_run(1);
  driver.send(TrialFailed{
      .worker = run.worker, .key = run.key, .message = "no trainable 'T'", .permanent = true});
  CHECK(driver.row(1).state == TrialState::error);
  CHECK(driver.row(1).failures == 1);
}

TEST_CASE("workers that do not come up end the experiment after three rounds and blame no trial") {
  auto definition = samples(1'000);
  definition.run_config.failure_config.max_infrastructure_failures = 0;
  LoopDriver driver(definition, 2);
  int failed = 0;
  while (!driver.loop().finished()) {
    REQUIRE(failed < 6);
    if (driver.running().empty())
      REQUIRE(driver.pass_until_due());
    driver.worker_exits(driver.running().front(), FailureKind::start, "it called exit(2)");
    ++failed;
  }
  CHECK(failed == 6);
  CHECK(driver.status().state == ExperimentState::failed);
  CHECK(driver.status().message ==
        "6 workers in a row did not come up, the last one so: it called exit(2)");
  CHECK(driver.status().errored == 0);
  driver.kill_and_restore();
  REQUIRE(driver.pass_until_due());
  driver.worker_exits(driver.running().front(), FailureKind::start, "it called exit(2)");
  CHECK(driver.status().state == ExperimentState::running);
}

TEST_CASE("one worker that comes up is enough to go on") {
  LoopDriver driver(samples(3));
  for (int i = 0; i < 10; ++i) {
    CAPTURE(i);
    for (int failed = 0; failed < 2; ++failed) {
      driver.worker_exits(driver.running().front(), FailureKind::start, "no memory");
      REQUIRE(driver.pass_until_due());
    }
    driver.send(WorkerStarted{driver.last_run(driver.running().front()).worker, 1, "host"});
    CHECK(driver.status().state == ExperimentState::running);
  }
  CHECK(TrialLoop::verify_replay(driver.journal, nullptr, nullptr).has_value());
}

TEST_CASE("after an infrastructure failure a trial rests, longer each time, the same in a replay") {
  LoopDriver driver(samples(1));
  std::vector<Duration> pauses;
  for (int i = 0; i < 10; ++i) {
    driver.worker_exits(0, FailureKind::infrastructure, "killed from outside");
    CHECK(driver.running().empty());
    const TimePoint before = driver.clock().now();
    driver.send(Tick{});
    CHECK(driver.running().empty());
    REQUIRE(driver.pass_until_due());
    CHECK(driver.running().size() == 1);
    pauses.push_back(driver.clock().now() - before);
  }
  for (std::size_t i = 0; i + 1 < pauses.size(); ++i)
    CHECK((pauses[i] < pauses[i + 1] || pauses[i] > std::chrono::seconds(3)));
  CHECK(pauses.front() < std::chrono::milliseconds(100));
  CHECK(pauses.back() < std::chrono::seconds(7));
  CHECK(TrialLoop::verify_replay(driver.journal, nullptr, nullptr).has_value());
}

TEST_CASE("a worker that is killed while the experiment stops leaves its trial unfinished") {
  auto definition = samples(1);
  definition.run_config.failure_config.max_infrastructure_failures = 0;
  LoopDriver driver(definition);
  driver.report(0, {{"loss", 1}});
  driver.send(StopRequested{"SIGTERM"});
  driver.worker_exits(0, FailureKind::infrastructure, "killed by SIGTERM from outside");
  CHECK(driver.row(0).state == TrialState::pending);
  CHECK(driver.row(0).infrastructure_failures == 0);
  CHECK(driver.status().state == ExperimentState::interrupted);
  driver.kill_and_restore();
  driver.finish(0);
  CHECK(driver.row(0).state == TrialState::terminated);
}

TEST_CASE("what a dead worker may have saved unheard is saved over, or deleted with the trial") {
  auto definition = samples(1, 2);
  definition.run_config.failure_config.max_infrastructure_failures = 1;
  LoopDriver driver(definition);
  train(driver, 0, 1, 3);
  CHECK(driver.report_as(0, 4, {{"loss", 1}})->save == 1U);
  driver.worker_exits(0, FailureKind::infrastructure, "killed");
  REQUIRE(driver.pass_until_due());
  CHECK(driver.last_run(0).next_checkpoint == 1);
  driver.report_as(0, 3, {{"loss", 1}});
  CHECK(driver.report_as(0, 4, {{"loss", 1}})->save == 1U);
  driver.worker_exits(0, FailureKind::infrastructure, "killed");
  REQUIRE(driver.row(0).state == TrialState::error);
  auto deleted = driver.all<DeleteCheckpoint>();
  REQUIRE(deleted.size() == 1);
  CHECK(deleted[0].checkpoint.number == 1);
  CHECK(deleted[0].checkpoint.directory == "checkpoint_000001");
  // Taken up again it may not use a number that is about to be deleted.
  driver.kill_and_restore({.errored = Resume::resume});
  CHECK(driver.last_run(0).next_checkpoint == 2);
  CHECK(driver.all<DeleteCheckpoint>().size() == 1);
}

TEST_CASE("a refused result fails its trial, and the checkpoint that came with it goes") {
  auto definition = samples(1);
  definition.is_function = true;
  definition.tune_config.metric = "loss";
  definition.run_config.failure_config.max_failures = 1;
  LoopDriver driver(definition);
  const RunTrial run = driver.last_run(0);
  Reported bad{run.worker, run.key, 1, 1, {{"lost", 1}}, false, false, {}};
  bad.checkpoint = LoopDriver::checkpoint(0, 1);
  driver.send(bad);
  CHECK(driver.row(0).state == TrialState::error);
  CHECK(driver.row(0).failures == 1);
  CHECK(driver.row(0).error.find("result 1: ") == 0);
  CHECK(driver.results(0).empty());
  REQUIRE_FALSE(driver.all<DeleteCheckpoint>().empty());
  CHECK(driver.all<DeleteCheckpoint>()[0].checkpoint.number == 0);
}

TEST_CASE("a result that comes after the trial was told to stop leaves no checkpoint") {
  auto definition = samples(1);
  definition.is_function = true;
  definition.tune_config.time_budget = std::chrono::seconds(1);
  LoopDriver driver(definition);
  driver.pass(std::chrono::seconds(20));
  driver.send(Tick{});
  const RunTrial run = driver.last_run(0);
  Reported late{run.worker, run.key, 1, 1, {{"loss", 1}}, false, false, {}};
  late.checkpoint = LoopDriver::checkpoint(0, 1);
  driver.send(late);
  CHECK(driver.all<Answer>().back().verdict == Verdict::stop);
  CHECK(driver.results(0).empty());
  CHECK(driver.all<DeleteCheckpoint>().size() == 1);
}

TEST_CASE("done ends a trial also with a result that was known before") {
  auto definition = samples(1, 2);
  definition.run_config.failure_config.max_failures = 1;
  LoopDriver driver(definition);
  train(driver, 0, 1, 5);
  driver.fail(0, "boom");
  CHECK(driver.report_as(0, 5, {{"loss", 1}}, true)->verdict == Verdict::stop);
  driver.end(0);
  CHECK(driver.row(0).state == TrialState::terminated);
  CHECK(driver.row(0).stop_reason == "done");
  CHECK(driver.results(0).size() == 5);
}

TEST_CASE("the status counts every event, whatever the last snapshot knew") {
  auto definition = samples(12, 2);
  definition.tune_config.reuse_actors = true;
  definition.run_config.failure_config.max_failures = 1;
  LoopDriver driver(definition, 2);
  const auto check = [&] {
    const ExperimentRow live = driver.loop().status();
    const ExperimentRow read = driver.status();
    CHECK(read.results == live.results);
    CHECK(read.created == live.created);
    CHECK(read.terminated == live.terminated);
    CHECK(read.errored == live.errored);
    CHECK(read.actor_starts == live.actor_starts);
    CHECK(read.actor_reuses == live.actor_reuses);
    CHECK(read.resets_refused == live.resets_refused);
    CHECK(read.run_time == live.run_time);
    CHECK(read.updated_ms == live.updated_ms);
    CHECK(read.state == live.state);
    CHECK(read.planned == live.planned);
  };
  for (std::uint32_t trial = 0; trial < 10; ++trial) {
    driver.pass(std::chrono::seconds(1));
    // Long enough for snapshots in between.
    train(driver, trial, 1, 40);
    check();
    if (trial % 3 == 1) {
      driver.fail(trial, "boom");
      check();
      driver.fail(trial, "boom");
    } else {
      driver.finish(trial);
    }
    check();
  }
  driver.kill_and_restore({.errored = Resume::restart});
  check();
  CHECK(driver.status().planned == 12 + 3);
  driver.kill_and_restore({.errored = Resume::resume});
  check();
}

TEST_CASE("the order after an infrastructure failure is that after a failure of user code") {
  for (const bool deterministic : {false, true}) {
    CAPTURE(deterministic);
    auto definition = samples(4, 1);
    definition.tune_config.deterministic = deterministic;
    LoopDriver driver(definition, 2);
    // A restore on one CPU: trial 1 has to wait.
    driver.kill_and_restore({}, "/exp", 1);
    CHECK(driver.running() == std::vector<std::uint32_t>{0});
    driver.worker_exits(0, FailureKind::infrastructure, "killed from outside");
    // In a deterministic run a death by chance changes no order; the trial rests in its place.
    if (deterministic)
      REQUIRE(driver.pass_until_due());
    CHECK(driver.running() == std::vector<std::uint32_t>{deterministic ? 0U : 1U});
    CHECK(driver.row(0).infrastructure_failures == 1);
    CHECK(driver.row(0).failures == 0);
    driver.finish(deterministic ? 0 : 1);
    if (!deterministic)
      REQUIRE(driver.pass_until_due());
    CHECK(driver.running() == std::vector<std::uint32_t>{deterministic ? 1U : 0U});
  }
}

TEST_CASE("a full storage ends the run, blames no trial, and a restore goes on") {
  for (const bool deterministic : {false, true}) {
    CAPTURE(deterministic);
    auto definition = samples(2, 1);
    definition.tune_config.deterministic = deterministic;
    LoopDriver driver(definition, 2);
    train(driver, 0, 1, 1);
    const RunTrial run = driver.last_run(1);
    const std::string before = driver.loop().fingerprint();
    const auto step = driver.loop().handle(
        {driver.clock().now(), 0, TrialFailed{run.worker, run.key, "disk said no", true}});
    REQUIRE_FALSE(step);
    CHECK(step.error().code() == ErrorCode::resource_exhausted);
    for (const std::string& part : {run.trial_name, std::string("/exp"),
                                    std::string("disk said no"), std::string("free some space")})
      CHECK_MESSAGE(step.error().message().find(part) != std::string::npos, step.error());
    CHECK(driver.loop().fingerprint() == before);
    driver.kill_and_restore();
    CHECK(driver.running() == std::vector<std::uint32_t>{0, 1});
    CHECK(driver.row(1).failures == 0);
    CHECK(driver.row(1).infrastructure_failures == 0);
  }
}

TEST_CASE("fail_fast leaves the others unfinished, and a restore goes on with them") {
  auto definition = samples(4, 1);
  definition.run_config.failure_config.fail_fast = true;
  LoopDriver driver(definition, 4);
  for (std::uint32_t trial = 0; trial < 4; ++trial)
    train(driver, trial, 1, 2);
  driver.fail(2, "boom");
  for (const std::uint32_t trial : {0U, 1U, 3U}) {
    const auto answer = driver.report(trial, {{"loss", 0.1}});
    CHECK(answer->verdict == Verdict::stop);
    driver.save(trial, answer->save.value());
    driver.end(trial);
    CHECK(driver.row(trial).state == TrialState::pending);
  }
  CHECK(driver.status().state == ExperimentState::failed);
  CHECK(driver.status().message.find("boom") != std::string::npos);
  driver.kill_and_restore({.errored = Resume::resume});
  CHECK(driver.running().size() == 4);
  CHECK(driver.last_run(0).checkpoints.front().iteration == 3);
  CHECK(driver.last_run(2).checkpoints.front().iteration == 2);
  for (std::uint32_t trial = 0; trial < 4; ++trial)
    driver.finish(trial);
  CHECK(driver.status().terminated == 4);
  CHECK(driver.status().errored == 0);
}

TEST_CASE("an interrupted run creates exactly what is missing, with the same configurations") {
  ExperimentDefinition definition;
  definition.param_space = {{"g", grid_search({1, 2, 3})}, {"x", uniform(0, 1)}};
  definition.tune_config.num_samples = 3;
  definition.tune_config.seed = 5;
  const auto configs = [](LoopDriver& driver) {
    std::vector<Config> all;
    for (std::uint32_t trial = 0; trial < 9; ++trial) {
      all.push_back(driver.row(trial).config);
      driver.finish(trial);
    }
    return all;
  };
  LoopDriver whole(definition);
  LoopDriver cut(definition);
  for (std::uint32_t trial = 0; trial < 4; ++trial)
    cut.finish(trial);
  cut.kill_and_restore();
  for (std::uint32_t trial = 4; trial < 9; ++trial)
    cut.finish(trial);
  std::vector<Config> found;
  for (std::uint32_t trial = 0; trial < 9; ++trial)
    found.push_back(cut.row(trial).config);
  CHECK(found == configs(whole));
  CHECK(cut.status().created == 9);
  CHECK(cut.status().state == ExperimentState::finished);
}

TEST_CASE("results known before a kill are not recorded again, and the count goes on") {
  LoopDriver driver(samples(1, 2));
  train(driver, 0, 1, 7);
  driver.kill_and_restore();
  const RunTrial again = driver.last_run(0);
  CHECK(again.checkpoints.front().iteration == 6);
  const auto events = driver.journal.watermarks().accepted;
  CHECK(driver.report_as(0, 7, {{"loss", 9}})->verdict == Verdict::go_on);
  CHECK(driver.journal.watermarks().accepted == events);
  const auto eight = driver.report_as(0, 8, {{"loss", 8}});
  CHECK(eight->save == 3U);
  CHECK(driver.results(0).size() == 8);
  CHECK(driver.results(0)[6].metrics.at("loss") == Value(1.0 / 7));
}

TEST_CASE("a checkpoint that a kill swallowed is taken again on the way") {
  LoopDriver driver(samples(1, 2));
  train(driver, 0, 1, 5);
  driver.report_as(0, 6, {{"loss", 1}});  // told to save, killed before it could
  driver.kill_and_restore();
  CHECK(driver.last_run(0).checkpoints.front().iteration == 4);
  CHECK(!driver.report_as(0, 5, {{"loss", 1}})->save);
  CHECK(driver.report_as(0, 6, {{"loss", 1}})->save == 2U);
}

TEST_CASE("a damaged checkpoint is put aside and the one before it counts") {
  LoopDriver driver(samples(1, 2));
  train(driver, 0, 1, 4);
  driver.kill_and_restore();
  const RunTrial run = driver.last_run(0);
  driver.send(TrialStarted{run.worker, run.key, 2, 0U, {1}, "checkpoint 1: wrong digest"});
  const auto rows = read_checkpoints(driver.journal, TrialId(0)).value_or_throw();
  CHECK(rows.at(1).state == CheckpointState::damaged);
  CHECK(rows.at(1).note == "checkpoint 1: wrong digest");
  driver.kill_and_restore();
  REQUIRE(driver.last_run(0).checkpoints.size() == 1);
  CHECK(driver.last_run(0).checkpoints[0].number == 0);
  CHECK(driver.last_run(0).next_checkpoint == 2);
}

TEST_CASE("num_to_keep 1 over 30 iterations keeps the best and the newest") {
  auto definition = samples(1, 1);
  definition.run_config.checkpoint_config.num_to_keep = 1;
  definition.run_config.checkpoint_config.checkpoint_score_attribute = "loss";
  definition.run_config.checkpoint_config.checkpoint_score_order = Mode::min;
  LoopDriver driver(definition);
  for (std::uint64_t i = 1; i <= 30; ++i) {
    driver.pass(std::chrono::seconds(1));
    const auto answer = driver.report_as(0, i, {{"loss", i == 12 ? 0.1 : 1.0}});
    driver.save(0, *answer->save);
  }
  std::set<std::uint64_t> kept;
  for (const auto& row : read_checkpoints(driver.journal, TrialId(0)).value_or_throw())
    if (row.state == CheckpointState::committed)
      kept.insert(row.ref.iteration);
  CHECK(kept == std::set<std::uint64_t>{12, 30});
  CHECK(driver.all<DeleteCheckpoint>().size() == 28);
  // Rows of what was deleted long ago are gone.
  CHECK(read_checkpoints(driver.journal, TrialId(0)).value_or_throw().size() < 16);
}

TEST_CASE("a checkpoint beyond the last result is thrown away") {
  LoopDriver driver(samples(1, 2));
  train(driver, 0, 1, 1);
  const RunTrial run = driver.last_run(0);
  driver.send(CheckpointSaved{run.worker, run.key, LoopDriver::checkpoint(0, 2)});
  CHECK(driver.all<DeleteCheckpoint>().size() == 1);
  const auto rows = read_checkpoints(driver.journal, TrialId(0)).value_or_throw();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].state == CheckpointState::deleting);
  // Nobody knows whether the dead driver came to it.
  driver.kill_and_restore();
  CHECK(driver.all<DeleteCheckpoint>().size() == 1);
}

TEST_CASE("a worker that dies after the last result does no harm, but its checkpoint is missed") {
  auto definition = samples(2, 0);
  definition.run_config.checkpoint_config.checkpoint_at_end = true;
  LoopDriver driver(definition, 2);
  for (const std::uint32_t trial : {0U, 1U})
    CHECK(driver.report(trial, {{"loss", 1}}, true)->save == 0U);
  driver.worker_exits(0, FailureKind::user, "killed by SIGSEGV");
  CHECK(driver.row(0).state == TrialState::terminated);
  CHECK(driver.row(0).stop_reason == "done");
  CHECK(driver.row(0).note.find("last checkpoint is missing: killed by SIGSEGV") !=
        std::string::npos);
  driver.kill_and_restore();
  CHECK(driver.row(1).state == TrialState::terminated);
  CHECK(driver.row(1).note.find("missing") != std::string::npos);
  CHECK(driver.status().state == ExperimentState::finished);
}

TEST_CASE("errored trials are skipped, resumed or restarted as asked") {
  LoopDriver driver(samples(2), 2);
  driver.report(0, {{"loss", 1}});
  driver.fail(0, "boom");
  driver.finish(1);
  driver.kill_and_restore();
  CHECK(driver.running().empty());
  CHECK(driver.row(0).state == TrialState::error);
  driver.kill_and_restore({.errored = Resume::restart});
  CHECK(driver.running() == std::vector<std::uint32_t>{2});
  CHECK(driver.row(2).config == driver.row(0).config);
  CHECK(driver.row(0).restarted_as == TrialId(2));
  CHECK(driver.results(2).empty());
  driver.fail(2, "boom");
  driver.kill_and_restore({.errored = Resume::resume});
  // Trial 0 lives on as trial 2 and is not taken up twice.
  CHECK(driver.running() == std::vector<std::uint32_t>{2});
  driver.finish(2);
  CHECK(driver.status().terminated == 2);
}

TEST_CASE("unfinished trials can be given up or begun anew") {
  LoopDriver driver(samples(2), 2);
  driver.report(0, {{"loss", 1}});
  driver.kill_and_restore({.unfinished = Resume::restart});
  CHECK(driver.row(0).stop_reason == "restarted as a new trial");
  CHECK(driver.running() == std::vector<std::uint32_t>{2, 3});
  driver.kill_and_restore({.unfinished = Resume::skip});
  CHECK(driver.row(2).stop_reason == "not resumed");
  CHECK(driver.status().state == ExperimentState::finished);
}

TEST_CASE("many failed trials are taken up again in several events") {
  LoopDriver driver(samples(450), 450);
  for (std::uint32_t trial = 0; trial < 450; ++trial)
    driver.fail(trial, "boom");
  CHECK(driver.status().errored == 450);
  const auto before = driver.journal.watermarks().accepted;
  driver.kill_and_restore({.errored = Resume::resume});
  CHECK(driver.journal.watermarks().accepted.value == before.value + 4);
  CHECK(driver.running().size() == 450);
  for (std::uint32_t trial = 0; trial < 450; ++trial)
    driver.finish(trial);
  CHECK(driver.status().terminated == 450);
  CHECK(driver.status().errored == 0);
  CHECK(TrialLoop::verify_replay(driver.journal, nullptr, nullptr).has_value());
}

TEST_CASE("a deletion that a kill may have swallowed is ordered again") {
  auto definition = samples(1, 1);
  definition.run_config.checkpoint_config.num_to_keep = 1;
  LoopDriver driver(definition);
  train(driver, 0, 1, 3);
  CHECK(driver.all<DeleteCheckpoint>().size() == 2);
  driver.kill_and_restore({}, "/moved");
  const auto again = driver.all<DeleteCheckpoint>();
  REQUIRE(again.size() == 2);
  CHECK(again[1].checkpoint.number == 1);
  CHECK(again[1].trial_dir == "/moved/" + driver.row(0).dir);
  driver.pass(std::chrono::seconds(11));
  driver.report_as(0, 4, {{"loss", 1}});
  driver.kill_and_restore();
  CHECK(driver.all<DeleteCheckpoint>().empty());
}

TEST_CASE("a checkpoint that was asked for and never reported gives its number back") {
  LoopDriver driver(samples(1, 2));
  train(driver, 0, 1, 1);
  CHECK(driver.report_as(0, 2, {{"loss", 1}})->save == 0U);
  driver.kill_and_restore();
  CHECK(driver.last_run(0).next_checkpoint == 0);
}

TEST_CASE("a moved experiment writes below its new folder") {
  LoopDriver driver(samples(1));
  driver.kill_and_restore({}, "/elsewhere");
  CHECK(driver.last_run(0).trial_dir.starts_with("/elsewhere/T_00000"));
}

TEST_CASE("a snapshot that does not read is an error, never a fresh start") {
  LoopDriver driver(samples(1));
  driver.finish(0);
  WriteSet damage;
  damage.event = driver.journal.event(Sequence(1)).value_or_throw();
  damage.rows.push_back({Table::state, "loop", encode(EventPointer{Sequence(1)})});
  driver.journal.append({&damage, 1}).value_or_throw();
  const auto loop = TrialLoop::restore(driver.journal, nullptr, nullptr, {"/exp", 1});
  REQUIRE(!loop.has_value());
  CHECK(loop.error().code() == ErrorCode::corrupt);
}

TEST_CASE("a journal without an experiment is refused") {
  const MemoryJournal empty;
  const auto loop = TrialLoop::restore(empty, nullptr, nullptr, {"/exp", 1});
  REQUIRE(!loop.has_value());
  CHECK(loop.error().code() == ErrorCode::not_found);
}

}  // namespace
}  // namespace troupe::tune
