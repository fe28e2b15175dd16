#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <memory>

namespace troupe::tune {

/// Random search: every parameter from its own distribution, no configuration twice. Grids count as
/// choices. Unlike `basic_variant` it knows conditions and constraints of any kind and ends when a
/// finite space is exhausted. The baseline for every other searcher.
///
/// For `TuneConfig::search_alg`; name "random".
std::shared_ptr<Searcher> random_search();

}  // namespace troupe::tune
