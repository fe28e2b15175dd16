#pragma once

#include <troupe/base/ids.hpp>
#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>
#include <troupe/tune/search/detail/design.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

/// What a searcher has seen.
namespace troupe::tune::detail {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// One trial, or one result that was known before.
struct Observation {
  enum class State : std::uint8_t {
    running,
    complete,  ///< ran to its own end; `losses` are its last values
    pruned,    ///< ended early by somebody else; `losses` are its values at `step`, if any
    failed,    ///< ended in an error, or without a number for an objective
  };

  TrialId trial{};  ///< known before: counted down from 2^32 - 1
  Point point{};    ///< canonical
  State state = State::running;
  std::uint64_t step = 0;         ///< training_iteration of the last result; 0: none yet
  std::vector<double> losses{};   ///< of that result, one an objective, turned so that less is
                                  ///< better; +inf for NaN; empty: none yet
  double violation = 0;           ///< sum of what constraints exceed 0 by; 0: feasible
  std::vector<double> excess{};   ///< each constraint as reported, +inf for NaN: <= 0 is feasible
  std::uint64_t fingerprint = 0;  ///< of the configuration

  /// Sets `excess` and `violation`; NaN becomes +inf.
  void set_excess(std::vector<double> values);

  [[nodiscard]] bool over() const { return state != State::running; }
  /// Does it have a value that a model can learn from, finite or infinite?
  [[nodiscard]] bool valued() const {
    return (state == State::complete || state == State::pruned) && !losses.empty();
  }
  [[nodiscard]] bool feasible() const { return violation <= 0; }
};

/// All observations in the order in which the trials were created.
class History {
public:
  /// Adds a running trial; `point` is canonical. Nothing changes when the trial is there already.
  void begin(TrialId trial, Point point, std::uint64_t fingerprint);
  /// The running trial lies elsewhere. Nothing changes when there is none.
  void amend(TrialId trial, Point point, std::uint64_t fingerprint);
  /// The observation to change, or null pointer for an unknown trial.
  [[nodiscard]] Observation* find(TrialId trial);
  [[nodiscard]] const Observation* find(TrialId trial) const;
  /// The trial of this observation, which lies in this history, is over.
  void finish(Observation& observation, Observation::State state);

  [[nodiscard]] const std::vector<Observation>& all() const { return all_; }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] std::size_t over() const { return over_; }
  [[nodiscard]] std::size_t running() const { return all_.size() - over_; }
  [[nodiscard]] std::size_t failed() const { return failed_; }
  /// Was this configuration tried before?
  [[nodiscard]] bool seen(std::uint64_t fingerprint) const { return seen_.contains(fingerprint); }
  /// Different configurations tried.
  [[nodiscard]] std::size_t distinct() const { return seen_.size(); }
  /// The feasible observation with the least first loss, complete ones only; null pointer: none.
  [[nodiscard]] const Observation* best() const;

  [[nodiscard]] Value save() const;
  /// corrupt when the data is not a history over `axes` axes; then nothing has changed.
  [[nodiscard]] Status restore(const Value& state, std::size_t axes);

private:
  std::vector<Observation> all_;
  std::unordered_map<std::uint64_t, std::size_t> where_;
  std::unordered_set<std::uint64_t> seen_;
  std::size_t over_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace troupe::tune::detail
