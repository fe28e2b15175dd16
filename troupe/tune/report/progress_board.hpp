#pragma once

#include <troupe/base/ids.hpp>
#include <troupe/serialization/objective.hpp>
#include <troupe/serialization/value.hpp>
#include <troupe/tune/report/progress.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace troupe::tune {

/// One trial as far as the table shows it.
struct TrialView {
  TrialId id;
  std::string name;
  std::string state;  ///< "PENDING", "RUNNING", "PAUSED", "TERMINATED", "ERROR"
  Config config;
  uint64_t iteration = 0;
  std::optional<double> time_total_s;
  Metrics metrics;  ///< of the last result
  uint64_t failures = 0;
  std::string message;  ///< of an ERROR
  std::string error_file;
};

/// What the board knows about the experiment.
struct BoardOptions {
  std::string experiment{};
  std::string path{};
  std::string metric{};  ///< empty: the first metrics that come are shown, and there is no best one
  Mode mode = Mode::max;
  std::vector<std::string> constraints{};  ///< metrics: <= 0 where a trial is feasible
  std::optional<uint64_t> planned{};
  double cpus_per_trial = 1;
  double cpus_total = 0;
  uint64_t max_concurrent_trials = 0;  ///< 0: no limit
  /// Parameters to show: those that differ between trials. Empty: the first that come.
  std::vector<std::string> params{};
};

/// Keeps what a progress table needs, and no more: the trials that are alive, the newest of those
/// that are over, a byte for every other one. Constant cost per update.
///
/// Thread rules: any thread.
class ProgressBoard {
public:
  explicit ProgressBoard(BoardOptions options);

  /// A trial is new or has changed.
  void update(TrialView trial);
  /// What was counted before the board was made.
  void start_counts(uint64_t results, uint64_t actor_starts);
  void count_result() { count(results_); }
  /// A trial that repeats another one comes on top of those that were planned.
  void plan_one_more() { count(repeats_); }
  void count_actor_start() { count(actor_starts_); }

  /// `run_time_s` and `wall_ms` are the caller's: the board has no clock.
  [[nodiscard]] ProgressSnapshot snapshot(int64_t wall_ms, double run_time_s) const;

  /// The state of a trial, "" when it is unknown.
  [[nodiscard]] std::string state_of(TrialId id) const;

private:
  static constexpr std::size_t states = 5;

  void count(uint64_t& counter);
  void forget(TrialId id, std::size_t state);
  void learn_columns(const TrialView& trial);
  struct Candidate {
    double violation = 0;  ///< of constraints
    double score = 0;
    TrialId id{};
    ProgressBest best{};
  };
  [[nodiscard]] std::optional<Candidate> candidate(const TrialView& trial) const;
  static void take_better(std::optional<Candidate>& best, std::optional<Candidate> other);
  void look_for_best(const TrialView& trial, std::size_t state);
  [[nodiscard]] std::optional<Candidate> find_best() const;
  [[nodiscard]] std::string varying_text(const Config& config) const;
  [[nodiscard]] ProgressRow row(const TrialView& trial) const;
  [[nodiscard]] std::string why_waiting() const;

  const BoardOptions options_;
  mutable std::mutex mutex_;
  std::vector<uint8_t> state_by_trial_;  ///< index of a state and 1; 0: unknown
  std::array<uint64_t, states> counts_{};
  std::array<std::map<TrialId, TrialView>, states> shown_;
  std::vector<std::string> param_names_;
  std::vector<std::string> metric_names_;
  std::optional<Candidate> best_terminated_;
  std::optional<Candidate> best_failed_;
  std::deque<ProgressError> errors_;
  uint64_t results_ = 0;
  uint64_t actor_starts_ = 0;
  uint64_t repeats_ = 0;
};

/// "lr=0.1, layers=2": a configuration in one line.
[[nodiscard]] std::string config_text(const Config& config);

/// A value in a few characters, for a cell.
[[nodiscard]] std::string cell_text(const Value& value);

}  // namespace troupe::tune
