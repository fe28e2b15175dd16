#pragma once

#include <troupe/base/ids.hpp>
#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>
#include <troupe/tune/search/detail/history.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace troupe::tune::detail {

/// What trials reached after the same number of iterations.
///
/// Rung k lies at grace * factor^k iterations. The first result at or beyond a rung and before the
/// next one is kept for it, so a trial has at most one number at each rung however often it
/// reports.
class RungResults {
public:
  struct Entry {
    TrialId trial{};
    double violation = 0;  ///< of constraints; infinite when the trial failed
    double loss = 0;
  };

  RungResults() = default;
  /// grace >= 1, factor > 1.
  RungResults(std::uint64_t grace, double factor) : grace_(grace), factor_(factor) {}

  /// A result after `step` iterations. Before the first rung it is not kept.
  void add(TrialId trial, std::uint64_t step, double loss, double violation);
  /// The trial failed: whatever it had reached before is worth nothing.
  void fail(TrialId trial);

  /// The results of each rung, the shortest rung first: the best first, equal ones in the order in
  /// which they came.
  [[nodiscard]] const std::vector<std::vector<Entry>>& rungs() const { return rungs_; }

  [[nodiscard]] Value save() const;
  /// corrupt when the data is not what `save` gave for trials of this history; then nothing has
  /// changed.
  [[nodiscard]] Status restore(const Value& state, const History& history);

private:
  [[nodiscard]] std::size_t rung_of(std::uint64_t step) const;
  void put(std::size_t rung, Entry entry);

  std::uint64_t grace_ = 1;
  double factor_ = 4;
  std::vector<std::vector<Entry>> rungs_;                   ///< sorted
  std::unordered_map<std::uint32_t, std::size_t> reached_;  ///< rungs below are done with
};

}  // namespace troupe::tune::detail
