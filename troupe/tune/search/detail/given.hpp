#pragma once

#include <troupe/base/result.hpp>
#include <troupe/tune/search/searcher.hpp>

#include <optional>
#include <string>
#include <vector>

/// What a user gives a search to begin with: is it sound, and in the form of the space? For those
/// who start one. The space is checked.
namespace troupe::tune::detail {

/// invalid_argument when a metric is an objective twice; `setting` names where they were given.
[[nodiscard]] Status check_objectives(const std::vector<Objective>& objectives,
                                      const std::string& setting);

/// A point, which may leave parameters out, with its values as `Domain::adopt` gives them.
/// invalid_argument naming the first one that does not fit: a typing error would be tried as
/// something else, in silence.
[[nodiscard]] Result<Config> adopt_point(const ParamSpace& space, Config point);

/// All of them; the error names the point by `setting` and number.
[[nodiscard]] Result<std::vector<Config>> adopt_points(const ParamSpace& space,
                                                       std::vector<Config> points,
                                                       const std::string& setting);

/// The same for known results. Those that do not fit are removed; how many these were, and why the
/// first of them, is the answer. Nothing: all fit.
[[nodiscard]] std::optional<std::string> adopt_known_results(const ParamSpace& space,
                                                             std::vector<KnownResult>& results);

}  // namespace troupe::tune::detail
