#pragma once

#include <troupe/actors/protocol.hpp>
#include <troupe/runtime/storage/checkpoint.hpp>
#include <troupe/serialization/record.hpp>
#include <troupe/serialization/value.hpp>
#include <troupe/tune/config.hpp>
#include <troupe/tune/schedule/scheduler.hpp>
#include <troupe/tune/search/searcher.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What stands in the journal of an experiment. Keys: runtime/store/keys.hpp.
///
/// | table       | key                     | value                                            |
/// |-------------|-------------------------|--------------------------------------------------|
/// | experiment  | `spec`, `status`        | `ExperimentSpec`, `ExperimentRow`                |
/// | trials      | trial                   | `TrialRow`                                       |
/// | results     | trial, iteration        | `EventPointer` to an `EventRecord` with `Reported` |
/// | checkpoints | trial, number           | `CheckpointRow`                                  |
/// | state       | `loop`, `searcher`, `scheduler` | snapshots, for the loop alone            |
/// | state       | `dropped`               | `RowsDropped`, after a repair of the store       |
///
/// Events are `EventRecord`s. experiment_reader.hpp reads all of this.
namespace troupe::tune {

// -- the experiment -----------------------------------------------------------------------------

/// Everything that was decided before the first trial; written once.
struct ExperimentSpec {
  static constexpr RecordInfo record{200, 4, "experiment_spec"};

  std::string name{};
  std::string trainable{};  ///< registered name
  bool is_function = false;
  Value param_space{};  ///< `ParamSpace::from_value`
  std::int64_t created_ms = 0;
  std::string written_by{};  ///< version of Troupe

  std::string metric{};
  Mode mode = Mode::max;
  std::optional<std::uint64_t> num_samples{};  ///< nothing: without end
  std::optional<std::uint32_t> max_concurrent_trials{};
  std::optional<Duration> time_budget{};
  bool reuse_actors = false;
  std::string searcher{};  ///< name
  Value searcher_options{};
  std::string scheduler{};  ///< name
  Value scheduler_options{};
  std::uint64_t seed = 0;
  bool deterministic = false;

  StopCriteria stop{};
  std::int32_t max_failures = 0;
  bool fail_fast = false;
  std::int32_t max_infrastructure_failures = 10;
  std::optional<Duration> step_timeout{};
  std::optional<std::uint32_t> num_to_keep{};
  std::string checkpoint_score_attribute{};
  Mode checkpoint_score_order = Mode::max;
  std::uint64_t checkpoint_frequency = 0;
  bool checkpoint_at_end = false;
  Isolation isolation = Isolation::process;
  ResourceRequest resources{};
  bool log_to_file = false;
  std::int32_t verbose = 1;
  bool result_files = true;
  Durability durability = Durability::normal;
  // Since version 2.
  std::vector<Objective> more_objectives{};
  std::vector<std::string> constraints{};
  std::vector<Config> points_to_evaluate{};
  std::vector<KnownResult> known_results{};
  bool allow_repeats = false;
  Duration stop_patience = std::chrono::seconds(5);  ///< since version 3
  std::optional<Duration> setup_timeout{};           ///< since version 4

  template <class Archive>
  void serialize(Archive& archive, unsigned version);
};

enum class ExperimentState : std::uint8_t {
  running,      ///< or its driver died: there is no way to tell from here
  finished,     ///< nothing is left to do
  interrupted,  ///< asked to stop; a restore goes on
  failed,       ///< fail_fast, or it could not go on: see `message`
};

constexpr ExperimentState enum_last(ExperimentState) noexcept {
  return ExperimentState::failed;
}

std::string_view to_string(ExperimentState state) noexcept;

/// How the experiment stands. The row is written at each start and end, and with each snapshot;
/// `read_status` adds what happened since.
struct ExperimentRow {
  static constexpr RecordInfo record{201, 1, "experiment_row"};

  ExperimentState state = ExperimentState::running;
  std::string message{};        ///< why it is interrupted or failed
  std::uint32_t starts = 0;     ///< how often it was started: 1, 2 after a restore, ...
  std::int64_t started_ms = 0;  ///< of the last start
  std::int64_t updated_ms = 0;
  Duration run_time{0};                    ///< over all starts
  double cpus = 0;                         ///< that trials may use together
  std::optional<std::uint64_t> planned{};  ///< trials in total; nothing: without end
  std::uint64_t created = 0;
  std::uint64_t terminated = 0;
  std::uint64_t errored = 0;
  std::uint64_t results = 0;
  std::uint64_t actor_starts = 0;  ///< workers started
  std::uint64_t actor_reuses = 0;  ///< trials given to a worker that ran another one before
  std::uint64_t resets_refused = 0;

  template <class Archive>
  void serialize(Archive& archive, unsigned version);
};

// -- trials -------------------------------------------------------------------------------------

enum class TrialState : std::uint8_t { pending, running, paused, terminated, error };

constexpr TrialState enum_last(TrialState) noexcept {
  return TrialState::error;
}

/// "PENDING", "RUNNING", "PAUSED", "TERMINATED", "ERROR".
std::string_view to_string(TrialState state) noexcept;

/// One trial. Written when the state changes, not with each result: while a trial runs,
/// `iteration`, `time_total_s` and `metrics` are those of the last change.
struct TrialRow {
  static constexpr RecordInfo record{202, 3, "trial_row"};

  TrialId id{};
  std::string name{};  ///< "Quadratic_00003"
  std::string dir{};   ///< below the experiment's folder: "Quadratic_00003_x=1.5"
  Config config{};
  TrialState state = TrialState::pending;
  std::uint32_t attempt = 0;   ///< counts restarts of any kind
  std::uint32_t failures = 0;  ///< of user code
  std::uint32_t infrastructure_failures = 0;
  std::string error{};          ///< last failure; kept after a successful retry
  std::string stop_reason{};    ///< "done", "stop: loss <= 0.1", "asha: rung 4", "time budget", ...
  std::string note{};           ///< what people should know: "the last checkpoint is missing: ..."
  std::uint64_t iteration = 0;  ///< last accepted result
  double time_total_s = 0;      ///< training time up to it
  Metrics metrics{};            ///< last accepted result; empty: none yet
  std::int64_t created_ms = 0;
  std::int64_t started_ms = 0;  ///< first start; 0: never
  std::int64_t ended_ms = 0;    ///< 0: not over
  std::uint32_t next_checkpoint = 0;
  std::optional<CheckpointRef> checkpoint{};   ///< newest
  std::optional<TrialId> restarted_as{};       ///< `Resume::restart` made this trial of it
  FailureKind error_kind = FailureKind::user;  ///< of `error`
  Ending ending = Ending::finished;            ///< when it is over, or has had its last result

  [[nodiscard]] bool is_over() const {
    return state == TrialState::terminated || state == TrialState::error;
  }

  template <class Archive>
  void serialize(Archive& archive, unsigned version);
};

enum class CheckpointState : std::uint8_t {
  committed,
  deleting,  ///< given up; its files go, or are gone
  damaged,   ///< did not verify or load; its files stay for inspection
};

constexpr CheckpointState enum_last(CheckpointState) noexcept {
  return CheckpointState::damaged;
}

struct CheckpointRow {
  static constexpr RecordInfo record{204, 1, "checkpoint_row"};

  CheckpointRef ref{};
  CheckpointState state = CheckpointState::committed;
  std::optional<double> score{};  ///< checkpoint_score_attribute of its result
  std::int64_t wall_ms = 0;
  std::string note{};

  template <class Archive>
  void serialize(Archive& archive, unsigned version);
};

// -- events -------------------------------------------------------------------------------------

/// The driver started, for the first time or again.
struct RunBegan {
  bool restored = false;
  double cpus = 0;
  ResumeConfig resume{};
  std::uint64_t memory_bytes = 0;  ///< that trials may use together; 0: unknown

  template <class Archive>
  void serialize(Archive& archive, unsigned version) {
    archive& restored& cpus& resume;
    if (version >= 2)
      archive& memory_bytes;
  }
};

/// Before a restored run begins: trials in ERROR that are taken up again. Many come in several
/// events.
struct ErroredTaken {
  Resume how = Resume::resume;                            ///< or restart
  std::vector<TrialRow> rows{};                           ///< as they were
  std::vector<std::vector<CheckpointRow>> checkpoints{};  ///< of each

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& how& rows& checkpoints;
  }
};

/// The searcher, asked beside the loop, has answered. What it suggests stands in the `CreateTrial`
/// that follows from it.
struct Suggested {
  TrialId trial{};  ///< that it was asked for
  Suggestion::Kind kind = Suggestion::Kind::exhausted;
  std::string error{};  ///< why it failed; then `kind` means nothing
  Config config{};      ///< not archived
  Value note{};         ///< not archived

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& trial& kind& error;
  }
};

/// Before a restored run begins: rows that a repair of the store had dropped were written again, as
/// the events before this one say. Nothing else changes.
struct RowsRestored {
  std::uint64_t rows = 0;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& rows;
  }
};

/// What happened. The order of the alternatives is part of the format: append only.
using RecordedBody = std::variant<RunBegan, WorkerStarted, TrialStarted, ResetRefused, Reported,
                                  CheckpointSaved, TrialEnded, TrialFailed, WorkerExited, Tick,
                                  StopRequested, ErroredTaken, Suggested, RowsRestored>;

/// What became of the trial that an event was about.
enum class Outcome : std::uint8_t {
  none,        ///< it goes on as it was
  stopping,    ///< its last result: told to stop; `terminated` follows when it has
  pausing,     ///< told to pause; `paused` follows
  halting,     ///< told to stop in the middle, because the experiment stops; `unfinished` follows
  terminated,  ///< over; `reason` says why
  paused,
  retried,     ///< failed, waits to be tried again; `reason` is the failure
  restarted,   ///< goes on on another worker: an infrastructure failure, or a refused reset
  error,       ///< failed for good; `reason` is the failure
  unfinished,  ///< let go in the middle, to be restored later
};

constexpr Outcome enum_last(Outcome) noexcept {
  return Outcome::unfinished;
}

/// A trial was created: PENDING.
struct CreateTrial {
  TrialId trial{};
  std::string name{};
  std::string dir{};
  Config config{};
  Value note{};  ///< of the searcher
  /// It repeats this trial from the beginning; nothing: the searcher suggested it.
  std::optional<TrialId> repeats{};

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& trial& name& dir& config& note& repeats;
  }
};

/// A trial was given to a worker: RUNNING.
struct StartTrial {
  TrialKey key{};
  WorkerId worker{};
  bool fresh = false;  ///< the worker was started for it

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& key& worker& fresh;
  }
};

/// A trial that waited is over: TERMINATED.
struct EndTrial {
  TrialId trial{};
  std::string reason{};

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& trial& reason;
  }
};

/// A trial that runs was told to stop between two reports.
struct HaltTrial {
  TrialId trial{};
  bool final = false;  ///< it is over when it has stopped, otherwise it stays unfinished
  std::string reason{};

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& trial& final& reason;
  }
};

/// An idle worker was let go.
struct EndWorker {
  WorkerId worker{};

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& worker;
  }
};

/// No new trials from here on.
struct EndSearch {
  bool failed = false;       ///< the searcher failed; what runs goes on
  bool out_of_time = false;  ///< the time budget is spent; all trials end
  std::string reason{};

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& failed& out_of_time& reason;
  }
};

/// The experiment stops with trials unfinished: fail_fast, a failed scheduler, a request.
struct Drain {
  ExperimentState state = ExperimentState::interrupted;
  std::string reason{};

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& state& reason;
  }
};

/// Nothing is left to do but to wait for workers to leave.
struct FinishExperiment {
  ExperimentState state = ExperimentState::finished;
  std::string message{};

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& state& message;
  }
};

/// What was decided beyond the trial at hand. Append only.
using Action = std::variant<CreateTrial, StartTrial, EndTrial, HaltTrial, EndWorker, EndSearch,
                            Drain, FinishExperiment>;

/// What was decided about an event. A restart applies it again and never recomputes it.
struct Decision {
  std::optional<TrialId> trial{};  ///< whom the event was about
  bool accepted = false;           ///< `Reported`: a new result that counts
  Verdict verdict = Verdict::go_on;
  Outcome outcome = Outcome::none;
  std::string reason{};                        ///< why it stopped, or what failed
  std::optional<std::uint32_t> save{};         ///< a checkpoint is to be saved under this number
  std::optional<double> save_score{};          ///< checkpoint_score_attribute of the result
  bool commit = false;                         ///< the checkpoint in the event counts
  std::vector<std::uint32_t> deleted{};        ///< checkpoints that are given up
  std::optional<ScheduleDecision> schedule{};  ///< what the scheduler said, when it was asked
  std::vector<Action> actions{};               ///< what else follows, in order
  Ending ending = Ending::finished;            ///< of a trial that stops

  template <class Archive>
  void serialize(Archive& archive, unsigned version) {
    archive& trial& accepted& verdict& outcome& reason& save& save_score& commit& deleted;
    archive& schedule& actions;
    if (version >= 3)
      archive& ending;
  }
};

/// One event of the journal: what happened, when, and what was decided.
struct EventRecord {
  static constexpr RecordInfo record{203, 3, "tune_event"};

  Duration run_time{0};      ///< of the experiment, over all starts
  std::int64_t wall_ms = 0;  ///< Unix time
  RecordedBody body{};
  Decision decision{};

  template <class Archive>
  void serialize(Archive& archive, unsigned version);
};

// -- snapshots ----------------------------------------------------------------------------------

/// State of the searcher or scheduler after the event `as_of`.
struct AlgorithmSnapshot {
  static constexpr RecordInfo record{206, 1, "algorithm_snapshot"};

  Sequence as_of{};
  std::string name{};
  Value state{};

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& as_of& name& state;
  }
};

}  // namespace troupe::tune
