#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <cstdint>
#include <memory>

namespace troupe::tune {

struct CmaEsOptions {
  /// What to do when a run has converged: nothing more (then random points), or to begin again
  /// somewhere else with twice the population (ipop), or in turn with large and small populations
  /// of which the small ones search locally (bipop).
  enum class Restarts : std::uint8_t { none, ipop, bipop };
  /// Of which covariance is learnt: of all pairs, or of each parameter alone, which costs less time
  /// and fewer trials but does not see dependencies. automatic: full up to 64 numeric parameters.
  enum class Covariance : std::uint8_t { automatic, full, diagonal };

  Restarts restarts = Restarts::bipop;
  Covariance covariance = Covariance::automatic;
  /// Results a generation; 0: 4 + 3 ln d. As many trials can run at once with little loss.
  std::uint32_t population = 0;
  /// Standard deviation at the start, as a share of each range (of the logarithm where it is
  /// logarithmic).
  double sigma = 1.0 / 6;
  /// Smaller steps where results look like noise: for noisy or very rugged objectives with budgets
  /// of many thousand trials.
  bool adapt_learning_rate = false;
  /// Lets a quadratic regression on the results nearby rank the rest of a generation, where it
  /// predicts the last ones in about the right order (Hansen 2019): many fewer trials on smooth
  /// objectives, also with many at a time. Up to 40 numeric parameters.
  bool surrogate = true;

  friend bool operator==(const CmaEsOptions&, const CmaEsOptions&) = default;
};

/// CMA-ES (Hansen): learns scales and dependencies of numeric parameters. For a single objective
/// and 100 trials or more; with a smooth objective less will do.
///
/// - Whole and stepped numbers keep a margin, so that neighbours stay within reach.
/// - Choices follow distributions of their own that are learnt beside it.
/// - A generation ends with the first `population` results, whenever they were asked for; those of
///   earlier generations are drawn back to a likely distance from the mean instead of being
///   dropped. A good regression ends it earlier, with what it foretells of trials that still run.
/// - Results known before give the first mean and covariance (Nomura et al. 2021), the narrower
///   the more there are.
/// - A run ends when all deviations are below a millionth of the range; with a real parameter no
///   two trials are closer than that.
/// - Failed and infeasible trials rank last, trials that a scheduler stopped before them.
/// - Candidates that lie next to a failed trial come last: about a fifth fails, also where the best
///   points lie at the edge of a region where all do.
///
/// For `TuneConfig::search_alg`; name "cmaes". `setup` says invalid_argument for options out of
/// range.
std::shared_ptr<Searcher> cmaes(CmaEsOptions options = {});

/// The options that `options` of a searcher gave, or a person typed. invalid_argument naming the
/// first one that is wrong.
Result<CmaEsOptions> cmaes_options(const Value& options);

}  // namespace troupe::tune
