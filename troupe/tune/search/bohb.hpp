#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <cstdint>
#include <memory>

namespace troupe::tune {

/// Settings of `bohb`; the defaults are those of the paper, but for the rungs, which are ASHA's.
struct BohbOptions {
  /// Results are compared at the same number of iterations: at grace_period times the powers of
  /// reduction_factor. The same numbers as in the scheduler. At least 1, and above 1.
  std::uint64_t grace_period = 1;
  double reduction_factor = 4;
  /// Share of the configurations that are random, in [0, 1].
  double random_fraction = 1.0 / 3;
  /// Share of the results of a rung that count as good, in (0, 1).
  double good_fraction = 0.15;
  /// Good and bad results that a model needs, each; 0: one more than there are parameters.
  std::uint32_t min_points = 0;
  std::uint32_t candidates = 64;  ///< drawn from the model, 1 to 10,000
  /// Candidates are drawn from kernels so many times wider than those that they are weighed with,
  /// so that the search does not narrow too early. Above 0.
  double bandwidth_factor = 3;
  /// Kernels are no narrower than this, as a share of a range, in (0, 1].
  double min_bandwidth = 1e-3;

  friend bool operator==(const BohbOptions&, const BohbOptions&) = default;
};

/// The searcher of BOHB (Falkner, Klein and Hutter, ICML 2018), for use with `asha`: kernel density
/// estimates of the good and of the bad configurations, from the results at the longest rung that
/// has enough of them. Results of trials that are still running count, so it learns from the first
/// rungs on, where `tpe` waits for trials to end. One objective.
///
/// The first value at or beyond a rung is the one that counts there. Trials that failed are bad at
/// every rung, infeasible ones worse than feasible ones. Memory: a number per trial and rung.
///
/// For `TuneConfig::search_alg`; name "bohb". `setup` says invalid_argument for options out of
/// range.
std::shared_ptr<Searcher> bohb(BohbOptions options = {});

/// The options that `options` of a searcher gave, or a person typed. invalid_argument naming the
/// first one that is wrong.
Result<BohbOptions> bohb_options(const Value& options);

}  // namespace troupe::tune
