#pragma once

#include <troupe/serialization/value.hpp>
#include <troupe/tune/search/searcher.hpp>

#include <cstddef>
#include <string>
#include <vector>

/// What came out of an experiment with several objectives.
namespace troupe::tune {

/// The results that no other one beats: an other is at least as good in every objective and better
/// in one. Indices, ascending.
///
/// Left out are results without a number for an objective (NaN is none), and those of which a
/// metric in `constraints` is above 0 or no number. Equal results are all on the front. Throws
/// Exception invalid_argument when there is no objective.
std::vector<std::size_t> pareto_front(const std::vector<Metrics>& results,
                                      const std::vector<Objective>& objectives,
                                      const std::vector<std::string>& constraints = {});

/// The volume between the front of these results and a reference: a value for each objective that
/// is worse than any of interest, in the order of `objectives`. The larger, the better; the same
/// reference makes experiments comparable. Results that are not better than it everywhere count
/// nothing. Exact; a hundred results with up to six objectives take milliseconds.
/// Throws Exception invalid_argument: no objective, or not one finite reference for each.
double hypervolume(const std::vector<Metrics>& results, const std::vector<Objective>& objectives,
                   const std::vector<double>& reference,
                   const std::vector<std::string>& constraints = {});

}  // namespace troupe::tune
