#pragma once

#include <troupe/actors/loop.hpp>
#include <troupe/tune/records.hpp>
#include <troupe/tune/search/searcher.hpp>

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::tune {

/// Where a loop runs; never part of what is decided twice.
struct LoopEnvironment {
  std::filesystem::path experiment_dir{};  ///< absolute; trial folders are made below it
  double cpus = 1;                         ///< that trials may use together
  /// Bytes of events between two snapshots, at least; more when snapshots are large.
  std::size_t snapshot_interval = std::size_t{64} << 10;
  std::uint64_t memory_bytes = 0;  ///< that trials may use together; 0: unknown, not counted
};

/// The trial loop: which trials exist, which run, what becomes of them. Pure; the controller is its
/// shell.
///
/// Each event is judged, the judgement is written into the journal, and only what was written is
/// applied to the state. `restore` loads the last snapshot and applies what was written after it;
/// nothing is decided twice. Memory and the cost of an event do not grow with the number of trials
/// that are over.
///
/// Thread rules: one thread at a time.
class TrialLoop final : public Loop {
public:
  /// A new experiment on an empty journal. `searcher` and `scheduler` are copied; null: those that
  /// the specification names. Errors: invalid_argument when the request of a trial exceeds what
  /// there is in total (naming the resource, the request and the total), and as `searcher_for`.
  static Result<std::unique_ptr<TrialLoop>> create(ExperimentSpec spec, const Searcher* searcher,
                                                   const Scheduler* scheduler,
                                                   LoopEnvironment environment);

  /// The experiment in a journal, as it was after its last event. `start` then decides how it goes
  /// on: what ran is started again from its newest checkpoint. Errors: as `create`, corrupt and
  /// version_mismatch for the journal. Nothing is changed by an error, and never is a fresh
  /// experiment begun instead.
  static Result<std::unique_ptr<TrialLoop>> restore(const JournalReader& journal,
                                                    const Searcher* searcher,
                                                    const Scheduler* scheduler,
                                                    LoopEnvironment environment,
                                                    ResumeConfig resume = {});

  /// Takes every decision of a journal again, from its first event on, and compares. internal
  /// naming the first event where this version decides otherwise. Returns the `fingerprint` at the
  /// end.
  static Result<std::string> verify_replay(const JournalReader& journal, const Searcher* searcher,
                                           const Scheduler* scheduler);

  ~TrialLoop() override;

  Result<Step> start(TimePoint now, std::int64_t wall_ms) override;
  Result<Step> handle(const Event& event) override;
  bool finished() const override;
  std::optional<TimePoint> next_deadline() const override;

  const ExperimentSpec& spec() const;
  /// How the experiment stands right now.
  const ExperimentRow& status() const;
  /// Events that came too late to matter. Not part of the state.
  std::uint64_t stale_events() const { return stale_; }
  /// The whole state as bytes: equal loops, equal bytes.
  std::string fingerprint() const;

  /// Is a question to the searcher out, beside the loop?
  bool is_asking() const;

  /// A look at the trials that are not over, for tests and tools.
  struct LiveTrial {
    TrialRow row;
    std::optional<WorkerId> worker{};
  };
  std::vector<LiveTrial> live_trials() const;

private:
  class Impl;
  explicit TrialLoop(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
  std::uint64_t stale_ = 0;
};

}  // namespace troupe::tune
