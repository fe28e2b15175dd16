#pragma once

#include <troupe/tune/search/detail/history.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace troupe::tune::detail {

/// Observations as indices into a history, both lists ascending: in the order of their age.
struct TpeSplit {
  std::vector<std::uint32_t> good{};
  std::vector<std::uint32_t> others{};
  std::vector<std::uint32_t> ranks{};    ///< of each good one, 0: the best; not with several
  double failed_weight = 0;              ///< of each failed one
  std::vector<std::uint32_t> failed{};   ///< those of `others` that failed
  std::vector<std::uint32_t> running{};  ///< those of `others` that run
  bool several = false;                  ///< are there several objectives?
};

/// Which of the points of a Pareto front cover the most volume together: `count` of them, chosen
/// greedily (at least 1 - 1/e of what is possible), as indices in the order of their choice. The
/// reference point is a tenth beyond the worst value of each objective.
/// (Guerreiro, Fonseca and Paquete, "Greedy hypervolume subset selection in low dimensions", 2016.)
std::vector<std::size_t> covering_subset(const std::vector<std::vector<double>>& front,
                                         std::size_t count);

/// Divides a history for a Parzen estimator. Keeps what is expensive to find out again.
class TpeSplitter {
public:
  /// The `count` best observations and the others. Order of preference: feasible complete ones by
  /// loss (several objectives: by Pareto rank, then by covered volume), feasible pruned ones that
  /// came furthest (then by loss; last those without any), infeasible ones by violation. Failed
  /// ones are never good, and left out without `failures`. Running ones are among the others with
  /// `liar`, else nowhere.
  TpeSplit split(const std::vector<Observation>& all, std::size_t count, bool liar,
                 bool failures = true);

private:
  std::vector<std::uint32_t> best_front(const std::vector<Observation>& all,
                                        const std::vector<std::uint32_t>& complete,
                                        std::size_t count);

  // The last subset that was chosen: nothing new comes while no trial joins that front.
  std::vector<std::uint32_t> front_;
  std::size_t wanted_ = 0;
  std::vector<std::size_t> chosen_;
};

}  // namespace troupe::tune::detail
