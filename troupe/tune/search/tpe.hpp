#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <cstdint>
#include <memory>

namespace troupe::tune {

/// Settings of `tpe`. The defaults suit all but special cases; `optuna()` gives those of Optuna 5,
/// and then every decision is made as Optuna makes it.
struct TpeOptions {
  /// Which parameters are modelled together, so that dependencies between them are seen: joint, all
  /// that exist together; independent, each alone; automatic, joint with one objective and
  /// independent with several (as in Optuna).
  enum class Model : std::uint8_t { automatic, joint, independent };

  /// Random configurations before the first model: until so many trials have a result.
  std::uint32_t startup_trials = 10;
  /// Points drawn from the model of the good trials, of which the most promising one is suggested,
  /// 1 to 10,000. Time grows with it.
  std::uint32_t candidates = 24;
  Model model = Model::automatic;
  /// Joint models with conditions: parameters that exist together make a group with a model of its
  /// own. Without it only those that always exist are modelled together, the others each alone.
  bool group = true;
  /// Trials that run count as bad ones, so that suggestions made at once differ.
  bool constant_liar = true;
  /// They weigh 0.3 trials, push others away from themselves alone (no other kernel gets narrower
  /// by them) and less far the more parameters there are: many at once converge faster.
  bool local_liar = true;
  /// As how many bad trials a failed one counts, so that regions where trials fail are left; while
  /// many fail up to 16 times as many, and points next to a failed one come last. 0: not at all.
  double failure_weight = 3;
  /// Weight of the flat distribution over the whole space, in trials. Above 0.
  double prior_weight = 1;
  /// Share of the trials that count as good, and at most how many (one objective), above 0.
  double good_fraction = 0.1;
  std::uint32_t max_good = 25;
  /// Good trials weigh according to their rank (as in CMA-ES), instead of by age. One objective.
  bool rank_weights = true;
  /// No kernel is narrower than 1 / min(100, 2 + trials) of a range. Without it kernels may become
  /// points.
  bool magic_clip = true;
  /// Kernels of good trials may be so many times narrower than that, at least 1: what makes it
  /// converge.
  double sharpness = 5;
  /// Do the ends of a range count as neighbours of the outermost kernels?
  bool endpoints = false;

  /// What Optuna 5 does by default, with groups.
  static TpeOptions optuna();

  friend bool operator==(const TpeOptions&, const TpeOptions&) = default;
};

/// The tree-structured Parzen estimator: for any kind of space (many categories, conditions,
/// constraints) and for more trials than a Gaussian process takes. Two densities are estimated, one
/// of the good trials and one of all others; suggested is where their ratio is large.
///
/// Stopped trials count: those that came further are better, and of the same length those with the
/// better value; all finished ones are better. With constraints, feasible trials are better than
/// others. Failed trials are bad. With several objectives the good ones are taken by Pareto rank
/// and, within the last rank, by the volume that they dominate together.
/// A suggestion takes some 0.4 ms after 1,000 trials and some 4 ms after 10,000 (10 parameters), up
/// to twice that after 1,000 where all of them are whole numbers.
///
/// Sources: Bergstra et al. (NIPS 2011); Watanabe (arXiv 2304.11127); for several objectives
/// Ozaki et al., "Multiobjective tree-structured Parzen estimator" (JAIR 73, 2022).
///
/// For `TuneConfig::search_alg`; name "tpe". `setup` says invalid_argument for options out of
/// range.
std::shared_ptr<Searcher> tpe(TpeOptions options = {});

/// The options that `options` of a searcher gave, or a person typed. invalid_argument naming the
/// first one that is wrong.
Result<TpeOptions> tpe_options(const Value& options);

}  // namespace troupe::tune
