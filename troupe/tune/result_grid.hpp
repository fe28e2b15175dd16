#pragma once

#include <troupe/actors/session.hpp>
#include <troupe/base/result.hpp>
#include <troupe/serialization/objective.hpp>
#include <troupe/tune/records.hpp>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::tune {

/// Which value of a metric stands for a trial when trials are compared.
enum class Scope : std::uint8_t {
  last,  ///< that of its last result: the default
  avg,   ///< the mean over all its results
  all,   ///< the best one it ever had
};

/// "last", "avg", "all".
std::string_view to_string(Scope scope) noexcept;

/// What became of an experiment: its trials, each read from the journal when it is asked for, so
/// that a hundred thousand of them take no memory.
///
///     ResultGrid results = tuner.fit();
///     std::cout << results.best_result() << '\n';
///     for (const ResultGrid::Trial& trial : results) ...
///
/// A view of the journal at the moment of the first access; its files stay on the disk as long as a
/// copy lives, also when a running experiment has replaced them. Cheap to copy. Thread rules: const
/// methods from any thread. Errors are thrown as `Exception`: io, corrupt, data_loss.
class ResultGrid {
public:
  /// One trial.
  struct Trial {
    TrialId id{};
    std::string name{};
    Config config{};
    Metrics metrics{};            ///< last result; empty: it never reported
    std::uint64_t iteration = 0;  ///< of the last result
    double time_total_s = 0;
    TrialState state = TrialState::pending;
    Ending ending = Ending::finished;  ///< when it is over
    std::string stop_reason{};  ///< why it ended: "done", "stop: loss <= 0.1", "asha: rung 4", ...
    std::optional<Error> error{};            ///< of a trial that failed
    std::optional<Checkpoint> checkpoint{};  ///< newest one
    std::filesystem::path path{};            ///< folder of the trial

    friend std::ostream& operator<<(std::ostream& out, const Trial& trial);
  };

  /// A checkpoint of a trial, with the result it was saved after.
  struct SavedCheckpoint {
    Checkpoint checkpoint;
    std::uint64_t iteration = 0;
    Metrics metrics{};
  };

  /// The answer to "which was best?", with how it was found.
  struct Best : Trial {
    std::string metric{};
    Mode mode = Mode::max;
    Scope scope = Scope::last;
    double score = 0;      ///< value of the metric by that scope
    bool feasible = true;  ///< false: it breaks one of TuneConfig's constraints, as all others do

    /// "Quadratic_00003 with loss=0.01 (min, scope last: ...): {"x":3.1}".
    friend std::ostream& operator<<(std::ostream& out, const Best& best);
  };

  /// The experiment in a folder, running or not. Throws not_found when there is none.
  static ResultGrid open(const std::filesystem::path& experiment_dir);

  /// The same without looking yet: errors come with the first access.
  static ResultGrid of(const std::filesystem::path& experiment_dir);

  /// Trials that were created.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// In the order of creation. Throws out_of_range.
  [[nodiscard]] Trial operator[](std::size_t index) const;

  /// The best trial. `metric` empty: metric and mode of TuneConfig; a metric without mode takes
  /// that of TuneConfig. Trials whose value is NaN or infinite are left out, unless `filter` is
  /// false: then infinities count and NaN is worse than everything. Trials without a result are
  /// left out. Those that failed come last, before them those whose last result breaks one of
  /// TuneConfig's constraints, the ones that break them least first: such a trial is the answer
  /// only where there is no other. The first of equals wins. Throws not_found when no trial
  /// qualifies, failed_precondition when no metric is known.
  [[nodiscard]] Best best_result(const std::string& metric = {}, std::optional<Mode> mode = {},
                                 Scope scope = Scope::last, bool filter_nan_and_inf = true) const;

  /// With several objectives (`TuneConfig::more_objectives`): the trials that no other one beats,
  /// by their last results, in the order of creation. See tune/search/pareto.hpp. Trials that
  /// failed or break a constraint are left out. Throws failed_precondition when no metric is known.
  [[nodiscard]] std::vector<Trial> pareto_front() const;

  /// The volume between that front and `reference`, a value for each objective that is worse than
  /// any of interest: see tune/search/pareto.hpp.
  [[nodiscard]] double hypervolume(const std::vector<double>& reference) const;

  /// The objectives of the experiment: metric and mode of TuneConfig, then `more_objectives`.
  [[nodiscard]] std::vector<Objective> objectives() const;

  /// All results of a trial in order, from the journal: one entry per training iteration.
  [[nodiscard]] std::vector<Metrics> metrics_history(TrialId id) const;

  /// What another experiment can learn from, for `TuneConfig::known_results`: every trial that is
  /// over and has a result, as configuration and last metrics.
  [[nodiscard]] std::vector<KnownResult> known_results() const;

  /// The checkpoints of a trial that are kept (`CheckpointConfig`), the best first: by
  /// `checkpoint_score_attribute`, where there is none the newest first. Throws not_found when
  /// there is no such trial.
  [[nodiscard]] std::vector<SavedCheckpoint> best_checkpoints(TrialId id) const;

  /// The checkpoint of a trial whose result has the best value of a metric. That is the best among
  /// those that are kept: with `num_to_keep`, rank them by the same metric
  /// (`checkpoint_score_attribute`). `metric` and `mode` as for `best_result`. NaN never wins, and
  /// among equals the newer does. Nothing when no checkpoint is kept; throws not_found when none of
  /// their results has the metric.
  [[nodiscard]] std::optional<SavedCheckpoint> best_checkpoint(TrialId id,
                                                               const std::string& metric = {},
                                                               std::optional<Mode> mode = {}) const;

  /// The errors of all trials that failed: user_code, or unavailable where it was none of user
  /// code's doing (`max_infrastructure_failures`).
  [[nodiscard]] std::vector<Error> errors() const;
  [[nodiscard]] std::size_t num_errors() const;
  [[nodiscard]] std::size_t num_terminated() const;
  /// The trials that are in a state now. Reads all of them the first time.
  [[nodiscard]] std::size_t num_in(TrialState state) const;

  /// True when trials are left: `Tuner::restore` goes on with them.
  [[nodiscard]] bool interrupted() const;
  /// How the experiment ended, and why, when it did not end by itself.
  [[nodiscard]] ExperimentState state() const;
  [[nodiscard]] std::string message() const;

  /// What is wrong with the store that this was read from, one sentence each: its log has a damaged
  /// end, results that were durable are missing. Empty: nothing.
  [[nodiscard]] std::vector<std::string> warnings() const;

  [[nodiscard]] const std::filesystem::path& experiment_path() const;

  /// Workers started, over all starts of the experiment; with `reuse_actors` about as many as ran
  /// at a time.
  [[nodiscard]] std::uint64_t actor_starts() const;
  /// Results accepted.
  [[nodiscard]] std::uint64_t num_results() const;
  /// What was decided before the first trial.
  [[nodiscard]] const ExperimentSpec& spec() const;
  /// Counters of the experiment.
  [[nodiscard]] const ExperimentRow& status() const;

  /// Goes over the trials, one in memory at a time.
  class const_iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Trial;
    using difference_type = std::ptrdiff_t;
    using pointer = const Trial*;
    using reference = Trial;

    const_iterator(const ResultGrid* grid, std::size_t index) : grid_(grid), index_(index) {}
    Trial operator*() const { return (*grid_)[index_]; }
    const_iterator& operator++() {
      ++index_;
      return *this;
    }
    friend bool operator==(const const_iterator& a, const const_iterator& b) {
      return a.index_ == b.index_;
    }

  private:
    const ResultGrid* grid_;
    std::size_t index_;
  };
  [[nodiscard]] const_iterator begin() const { return {this, 0}; }
  [[nodiscard]] const_iterator end() const { return {this, size()}; }

  /// One line: states, results, time, where it lies.
  friend std::ostream& operator<<(std::ostream& out, const ResultGrid& grid);

private:
  class Data;
  explicit ResultGrid(std::shared_ptr<Data> data) : data_(std::move(data)) {}

  std::shared_ptr<Data> data_;
};

}  // namespace troupe::tune
