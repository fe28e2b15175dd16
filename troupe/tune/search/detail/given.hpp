#pragma once

#include <troupe/base/result.hpp>
#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/searcher.hpp>

#include <optional>
#include <string>
#include <vector>

/// What a user gives a search: is it sound, and in the form of the space? For those who drive one.
/// The space is checked; errors are invalid_argument.
namespace troupe::tune::detail {

/// Each objective has a name, no two of them the same, and a mode; `setting` says where they were
/// given.
[[nodiscard]] Status check_objectives(const std::vector<Objective>& objectives,
                                      const std::string& setting);
/// The same for constraints.
[[nodiscard]] Status check_constraints(const std::vector<std::string>& constraints,
                                       const std::string& setting);

/// Has a result all objectives and constraints, as numbers? Names close matches.
[[nodiscard]] Status check_result(const Metrics& metrics, const std::vector<Objective>& objectives,
                                  const std::vector<std::string>& constraints);

/// A point, which may leave parameters out, with its values as `Domain::adopt` gives them. The
/// error names the first one that does not fit, or does not exist by the others: a typing error
/// would be tried as something else, in silence.
[[nodiscard]] Result<Config> adopt_point(const Design& design, Config point);

/// All of them; the error names the point by `setting` and number.
[[nodiscard]] Result<std::vector<Config>> adopt_points(const Design& design,
                                                       std::vector<Config> points,
                                                       const std::string& setting);

/// A configuration that could have been tried: whole, and all rules of the space hold.
[[nodiscard]] Result<Config> adopt_whole(const Design& design, Config config);

/// What a searcher suggests, in the form of the space, with its constants; it may break rules. An
/// error when a parameter is missing, or there is anything else.
[[nodiscard]] Result<Config> adopt_suggested(const Design& design, const Config& config);

/// The known results of a search, which may have more parameters than the space. Those that do not
/// fit its space, objectives and constraints are removed; how many these were, and why the first of
/// them, is the answer. Nothing: all fit.
[[nodiscard]] std::optional<std::string> adopt_known_results(
    const Design& design, const std::vector<Objective>& objectives,
    const std::vector<std::string>& constraints, std::vector<KnownResult>& results);

}  // namespace troupe::tune::detail
