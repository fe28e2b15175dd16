#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <cstdint>
#include <memory>

namespace troupe::tune {

/// Settings of `gp`. The defaults suit all but special cases.
struct GpOptions {
  /// How the values of the metric are scaled before the model sees them.
  enum class Warp : std::uint8_t {
    automatic,    ///< the one of the others that foretells left out values better, decided anew
    none,         ///< as they are
    yeo_johnson,  ///< a power transform that shortens long tails
  };

  /// Points of a scrambled Sobol sequence before the first model, at least 2. Results known before
  /// count.
  std::uint64_t startup_trials = 10;
  Warp warp = Warp::automatic;
  /// Take turns with steps of a quadratic model around the best point, which finds the bottom of a
  /// smooth valley in a few trials. One objective, no constraints.
  bool trust_region = true;
  /// Ways in which trials that run may turn out that are weighed against each other, 1 to 256; 1: a
  /// running trial counts as if it had its expected value.
  std::uint64_t fantasies = 16;
  /// Results that the model sees, 50 to 2000; of more, the best, the newest, and some others. A
  /// suggestion takes time with its cube.
  std::uint64_t max_observations = 400;

  friend bool operator==(const GpOptions&, const GpOptions&) = default;
};

/// Bayesian optimisation with a Gaussian process: the best choice for up to some 20 parameters and
/// some 300 trials that cost seconds or more.
///
/// Model: Matern 5/2 with a length scale for each parameter; categories are equal or different;
/// parameters under conditions count only where they exist. Suggestions maximise the expected
/// improvement; with constraints, times the probability that they hold, one model each; with two or
/// three objectives, the expected growth of the dominated volume. Trials that run are part of the
/// model, so that many can be suggested at once; most of these are looked for around the best
/// points. Regions where trials fail are avoided, the more the more trials fail: about one in five,
/// where the best points lie at the edge of one. Stopped trials count with their last value, but at
/// least the median of the finished ones; while few have finished, trials are compared after
/// equally many iterations, as many as 2 d + 2 of them reached. A suggestion takes some 10 ms after
/// 100 trials and some 100 ms after 500 (5 parameters).
///
/// For `TuneConfig::search_alg`; name "gp". `setup` says invalid_argument for options out of range
/// and for more than three objectives.
std::shared_ptr<Searcher> gp(GpOptions options = {});

/// Options out of data, as `Searcher::options` gives them; those that are missing have their
/// default. invalid_argument for unknown ones and for values out of range.
Result<GpOptions> gp_options(const Value& options);

}  // namespace troupe::tune
