#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <memory>

namespace troupe::tune {

/// The search algorithm that suits the experiment, so that nobody has to choose:
///
/// - `gp` for the first 300 trials: of all it needs the fewest trials on spaces of any kind, also
///   with categories, conditions and constraints, and many at once;
/// - `tpe` afterwards, with all results so far, since the time that `gp` needs grows; from the
///   start with more than three objectives or 60 parameters; while more than 64 trials run;
/// - `random_search` when the experiment names no metric.
///
/// Finite spaces are exhausted without a repetition. Which algorithm made a suggestion is in its
/// note ("by").
///
/// For `TuneConfig::search_alg`; name "auto".
std::shared_ptr<Searcher> auto_searcher();

}  // namespace troupe::tune
