#include <troupe/base/file.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/runtime/store/keys.hpp>
#include <troupe/tune/detail/loop_state.hpp>
#include <troupe/tune/records.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <tests/support/example_event.hpp>

#include "loop_driver.hpp"

/// Records of tune in the bytes of every released format, read for ever. New ones are written by
/// running this test with TROUPE_WRITE_GOLDEN=1; one that is there is never changed.

namespace troupe::tune {
namespace {

namespace fs = std::filesystem;

/// The sample as it was when the record had this version: a field that came later keeps its
/// default, here and in what is read.
template <class Record>
void check_golden(const std::string& name, const Record& sample, int version = 1) {
  CAPTURE(name);
  const fs::path file =
      fs::path(TROUPE_TESTS_DIR) / "golden/tune" / (name + "_v" + std::to_string(version) + ".bin");
  const bool is_newest = RecordTraits<Record>::record.version == version;
  if (is_newest && std::getenv("TROUPE_WRITE_GOLDEN") != nullptr && !fs::exists(file))
    write_file_atomically(file, encode(sample)).value_or_throw();
  const std::string bytes = read_file(file, limits::mib).value_or_throw();
  const auto read = decode<Record>(bytes);
  REQUIRE_MESSAGE(read.has_value(), read.error());
  CHECK(encode(*read) == encode(sample));
  if (is_newest)
    CHECK(encode(sample) == bytes);
}

CheckpointRef checkpoint() {
  CheckpointRef ref;
  ref.number = 2;
  ref.iteration = 9;
  ref.time_total_s = 1.25;
  ref.bytes = 4096;
  ref.directory = "checkpoint_000002";
  ref.digest = std::string(64, 'a');
  return ref;
}

TrialRow trial_row() {
  TrialRow row;
  row.id = TrialId(4);
  row.name = "T_00004";
  row.dir = "T_00004_x=1";
  row.config = {{"x", 1}, {"layers", List{64, 32}}};
  row.state = TrialState::error;
  row.ending = Ending::failed;
  row.attempt = 3;
  row.failures = 2;
  row.infrastructure_failures = 1;
  row.error = "std::runtime_error: as asked";
  row.stop_reason = "max_failures";
  row.note = "the last checkpoint is missing";
  row.iteration = 9;
  row.time_total_s = 1.5;
  row.metrics = {{"loss", 0.5}, {"training_iteration", 9}};
  row.created_ms = 1'700'000'000'001;
  row.started_ms = 1'700'000'000'002;
  row.ended_ms = 1'700'000'000'003;
  row.next_checkpoint = 3;
  row.checkpoint = checkpoint();
  row.restarted_as = TrialId(8);
  return row;
}

TrialRow trial_row_v2() {
  TrialRow row = trial_row();
  row.error_kind = FailureKind::infrastructure;
  return row;
}

TrialRow trial_row_v3() {
  TrialRow row = trial_row_v2();
  row.state = TrialState::terminated;
  row.ending = Ending::stopped;
  return row;
}

CheckpointRow checkpoint_row() {
  return {checkpoint(), CheckpointState::damaged, 0.5, 1'700'000'000'004, "digest differs"};
}

ExperimentRow experiment_row() {
  ExperimentRow row;
  row.state = ExperimentState::interrupted;
  row.message = "SIGINT";
  row.starts = 2;
  row.started_ms = 1'700'000'000'005;
  row.updated_ms = 1'700'000'000'006;
  row.run_time = std::chrono::seconds(77);
  row.cpus = 2.5;
  row.planned = 10;
  row.created = 7;
  row.terminated = 3;
  row.errored = 1;
  row.results = 60;
  row.actor_starts = 5;
  row.actor_reuses = 4;
  row.resets_refused = 1;
  return row;
}

ExperimentSpec experiment_spec() {
  ExperimentSpec spec;
  spec.name = "e";
  spec.trainable = "T";
  spec.is_function = true;
  spec.param_space = Map{{"x", Map{{"$domain", "uniform"}, {"low", 0.0}, {"high", 1.0}}}};
  spec.created_ms = 1'700'000'000'000;
  spec.written_by = "0.1.0";
  spec.metric = "loss";
  spec.mode = Mode::min;
  spec.num_samples = 7;
  spec.max_concurrent_trials = 3;
  spec.time_budget = std::chrono::minutes(2);
  spec.reuse_actors = true;
  spec.searcher = "basic_variant";
  spec.searcher_options = Map{};
  spec.scheduler = "asha";
  spec.scheduler_options = Map{{"max_t", 9}};
  spec.seed = 11;
  spec.deterministic = true;
  spec.stop = {metric("loss") <= 0.1, max_iterations(9)};
  spec.max_failures = 3;
  spec.max_infrastructure_failures = -1;
  spec.step_timeout = std::chrono::seconds(30);
  spec.num_to_keep = 2;
  spec.checkpoint_score_attribute = "loss";
  spec.checkpoint_score_order = Mode::min;
  spec.checkpoint_frequency = 4;
  spec.checkpoint_at_end = true;
  spec.isolation = Isolation::thread;
  spec.resources.cpus = 0.5;
  spec.resources.memory_bytes = 1 << 20;
  spec.log_to_file = true;
  spec.verbose = 2;
  spec.result_files = false;
  spec.durability = Durability::strict;
  return spec;
}

ExperimentSpec experiment_spec_v2() {
  ExperimentSpec spec = experiment_spec();
  spec.more_objectives = {{"cost", Mode::min}};
  spec.constraints = {"memory"};
  spec.points_to_evaluate = {{{"x", 0.5}}};
  spec.known_results = {{{{"x", 0.25}}, {{"loss", 2.0}}, Ending::stopped}};
  spec.allow_repeats = true;
  return spec;
}

ExperimentSpec experiment_spec_v3() {
  ExperimentSpec spec = experiment_spec_v2();
  spec.stop_patience = std::chrono::seconds(9);
  return spec;
}

ExperimentSpec experiment_spec_v4() {
  ExperimentSpec spec = experiment_spec_v3();
  spec.setup_timeout = std::chrono::minutes(10);
  return spec;
}

TEST_CASE("rows of every released format are read, and written the same") {
  check_golden("experiment_spec", experiment_spec());
  check_golden("experiment_spec", experiment_spec_v2(), 2);
  check_golden("experiment_spec", experiment_spec_v3(), 3);
  check_golden("experiment_spec", experiment_spec_v4(), 4);
  check_golden("experiment_row", experiment_row());
  check_golden("trial_row", trial_row());
  check_golden("trial_row", trial_row_v2(), 2);
  check_golden("trial_row", trial_row_v3(), 3);
  check_golden("checkpoint_row", checkpoint_row());
  check_golden("algorithm_snapshot",
               AlgorithmSnapshot{Sequence(12), "asha", Map{{"rungs", List{List{0.5, 0.25}}}}});
}

TEST_CASE("events of every released format are read, and written the same") {
  const WorkerId worker(3);
  const TrialKey key{TrialId(4), 1};
  ResumeConfig resume;
  resume.errored = Resume::restart;
  check_golden("event_run_began", example_event(RunBegan{true, 2.5, resume}));
  check_golden("event_run_began",
               example_event(RunBegan{true, 2.5, resume, std::uint64_t{1} << 34}), 2);
  check_golden("event_worker_started", example_event(WorkerStarted{worker, 4711, "host"}));
  check_golden("event_trial_started",
               example_event(TrialStarted{worker, key, 9, 2, {3, 4}, "note"}));
  check_golden("event_reset_refused", example_event(ResetRefused{worker, key}));
  check_golden(
      "event_reported",
      example_event(Reported{worker, key, 7, 9, {{"loss", 0.5}}, true, true, checkpoint()}));
  EventRecord stopped =
      example_event(Reported{worker, key, 7, 9, {{"loss", 0.5}}, false, false, {}});
  stopped.decision.ending = Ending::stopped;
  check_golden("event_reported", stopped, 3);
  check_golden("event_checkpoint_saved", example_event(CheckpointSaved{worker, key, checkpoint()}));
  check_golden("event_trial_ended", example_event(TrialEnded{worker, key, true, false}));
  TrialFailed failed;
  failed.worker = worker;
  failed.key = key;
  failed.message = "std::runtime_error: as asked";
  check_golden("event_trial_failed", example_event(failed));
  check_golden("event_worker_exited",
               example_event(WorkerExited{worker, FailureKind::infrastructure, "signal 9"}));
  check_golden("event_tick", example_event(Tick{}));
  check_golden("event_stop_requested", example_event(StopRequested{"SIGINT"}));
  check_golden("event_errored_taken",
               example_event(ErroredTaken{Resume::restart, {trial_row()}, {{checkpoint_row()}}}));
  check_golden("event_errored_taken",
               example_event(ErroredTaken{Resume::resume, {trial_row_v2()}, {{checkpoint_row()}}}),
               2);
  check_golden("event_errored_taken",
               example_event(ErroredTaken{Resume::resume, {trial_row_v3()}, {{checkpoint_row()}}}),
               3);
  Suggested suggested;
  suggested.trial = TrialId(5);
  suggested.kind = Suggestion::Kind::config;
  suggested.error = "e";
  check_golden("event_suggested", example_event(suggested));
  check_golden("event_rows_restored", example_event(RowsRestored{7}));
}

/// The state of a loop is not put together by hand, but by running one.
std::string snapshot_of_a_run() {
  ExperimentDefinition definition;
  definition.tune_config = {.num_samples = 4, .seed = 1, .deterministic = true};
  LoopDriver driver(definition, 2);
  for (int i = 1; i <= 5000; ++i) {
    driver.report(0, {{"loss", i}});
    driver.report(1, {{"loss", i}});
    if (auto bytes = driver.journal.get(Table::state, keys::state_loop).value_or_throw())
      return *bytes;
  }
  FAIL("no snapshot in 10,000 results");
  return {};
}

/// What a run comes to may change with the decisions; what an earlier version wrote may not become
/// unreadable.
TEST_CASE("a snapshot of the loop of every format is read, and nothing in it is lost") {
  const int newest = static_cast<int>(detail::LoopSnapshot::record.version);
  for (int version = 1; version <= newest; ++version) {
    CAPTURE(version);
    const fs::path file = fs::path(TROUPE_TESTS_DIR) / "golden/tune" /
                          ("loop_snapshot_v" + std::to_string(version) + ".bin");
    if (version == newest && std::getenv("TROUPE_WRITE_GOLDEN") != nullptr && !fs::exists(file))
      write_file_atomically(file, snapshot_of_a_run()).value_or_throw();
    const std::string bytes = read_file(file, limits::mib).value_or_throw();
    const auto snapshot = decode<detail::LoopSnapshot>(bytes);
    REQUIRE_MESSAGE(snapshot.has_value(), snapshot.error());
    CHECK(snapshot->as_of.value > 0);
    CHECK(snapshot->state.status.starts == 1);
    CHECK(snapshot->state.next_trial.value >= 1);
    if (version == newest)
      CHECK(encode(*snapshot) == bytes);
  }
}

}  // namespace
}  // namespace troupe::tune
