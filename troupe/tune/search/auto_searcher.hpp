#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <memory>

namespace troupe::tune {

/// The default: the search algorithm that suits the experiment, so that nobody has to choose.
///
/// - `basic_variant` where there is nothing to learn, or the user says what is tried: without a
///   metric, without a parameter that varies, and as soon as the space has a `grid_search`. Then
///   there are exactly `num_samples` trials for each cell of the grid, as in Ray.
/// - `gp` for the first 300 trials: of all it needs the fewest trials on spaces of any kind, also
///   with categories, conditions and constraints, and many at once;
/// - `cmaes` afterwards, since the time that `gp` needs grows: for one objective, where all
///   parameters are numbers and none depends on another one, without constraints on results. It
///   begins where the results so far lead. Everywhere else `tpe`, which knows them, too.
/// - `tpe` from the start with more than three objectives or 60 parameters, and among the first 300
///   trials while more than 64 run.
///
/// Counts decide, never a clock: with equal seeds and results in equal order the trials are equal.
/// But for the first kind no configuration comes twice, so a finite space may end before
/// `num_samples`. Where the samples cover it, everything is tried in the end; a model is asked all
/// the same, since what it puts first is known earlier.
/// Which algorithm made a suggestion is in its note ("by").
///
/// For `TuneConfig::search_alg`; name "auto".
std::shared_ptr<Searcher> auto_searcher();

}  // namespace troupe::tune
