#pragma once

#include <troupe/runtime/resources/resource_ledger.hpp>
#include <troupe/tune/detail/searching.hpp>
#include <troupe/tune/detail/trial_table.hpp>
#include <troupe/tune/detail/turn_order.hpp>
#include <troupe/tune/detail/worker_pool.hpp>
#include <troupe/tune/records.hpp>

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace troupe::tune::detail {

/// How long trials have for one more result when the time of the experiment is over. When it is
/// asked to stop: `ExperimentSpec::stop_patience`.
inline constexpr Duration budget_patience = std::chrono::seconds(5);

/// So many workers in a row, for each worker that there was when the first one did not come up, end
/// the experiment: the fault is the program's or the machine's, and no trial would fare better.
inline constexpr std::size_t max_failed_starts = 3;

/// How long the row of a deleted checkpoint is kept: much longer than a decision takes to become
/// durable, so that a restart in between still finds what to delete.
inline constexpr Duration keep_deleting = std::chrono::seconds(10);
/// ... and for how many at most.
inline constexpr std::size_t max_given_up = 10'000;

/// A checkpoint that was given up lately: its row says "deleting".
struct GivenUp {
  TrialId trial;
  std::string dir;  ///< of the trial
  CheckpointRef ref;
  Duration at{0};  ///< run time

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& trial& dir& ref& at;
  }
};

/// Everything that decisions depend on, apart from searcher and scheduler. Archived as a whole.
struct LoopState {
  Duration run_time{0};  ///< at the last recorded event
  ExperimentRow status;
  TrialTable trials;
  WorkerPool workers;
  TurnOrder turns;  ///< used when the run is deterministic
  TrialId next_trial;
  std::uint64_t suggested = 0;  ///< trials that came from the searcher
  bool search_over = false;
  bool search_failed = false;
  std::string search_reason;
  bool over_budget = false;
  std::optional<Drain> drain;
  Duration drain_since{0};
  bool done = false;  ///< `FinishExperiment` was decided
  std::deque<GivenUp> given_up;
  std::uint64_t memory_bytes = 0;  ///< that trials may use together; 0: not counted
  std::size_t failed_starts = 0;   ///< workers that did not come up since the last one that did
  std::size_t workers_then = 0;    ///< when the first of them did not

  ResourceLedger ledger{ResourceRequest{}};  ///< follows from the rest
  Duration last_rest{0};  ///< when no trial rests any more; follows from the trials

  template <class Archive>
  void serialize(Archive& archive, unsigned version) {
    archive& run_time& status& trials& workers& turns& next_trial& suggested;
    archive& search_over& search_failed& search_reason& over_budget& drain& drain_since& done;
    archive& given_up;
    if (version >= 2)
      archive& memory_bytes;
    if (version >= 3)
      archive& failed_starts& workers_then;
  }
};

/// What does not change while a loop lives.
struct LoopSetting {
  ExperimentSpec spec;
  SearchContext search;
  std::filesystem::path experiment_dir;
  double cpus = 0;
  std::vector<std::string> required_metrics;  ///< of the scheduler
  std::vector<std::string> tag_paths;         ///< parameters that name the trial's folder
  std::optional<std::uint64_t> planned;

  [[nodiscard]] std::optional<Duration> time_budget() const { return spec.time_budget; }
};

/// The parts that decide and apply work on.
struct LoopParts {
  LoopSetting setting;
  LoopState state;
  Searching search;
  std::unique_ptr<Scheduler> scheduler;
};

/// The state of the loop after the event `as_of`.
struct LoopSnapshot {
  static constexpr RecordInfo record{205, 3, "loop_snapshot"};

  Sequence as_of;
  LoopState state;

  template <class Archive>
  void serialize(Archive& archive, unsigned version) {
    archive& as_of;
    state.serialize(archive, version);
  }
};

}  // namespace troupe::tune::detail
