#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::tune {

/// How much of what makes a configuration good lies in one parameter.
struct ParameterImportance {
  std::string parameter{};  ///< path
  double importance = 0;    ///< share, all together 1; 0: it does not matter
};

struct ImportanceOptions {
  /// The share of the best results, with all equal to the last one, compared with all; in (0, 1).
  double top_share = 0.1;
};

/// Which parameters matter for reaching good results, most important first (PED-ANOVA: the
/// divergence of the distribution of each parameter among the best results from that among all;
/// Watanabe, Bansal, Hutter, "PED-ANOVA", IJCAI 2023).
///
/// `results` are trials with the objective among their metrics, `ResultGrid::known_results()` for
/// example; failed ones, those without the objective, and those that do not fit the space are left
/// out. Infeasible and stopped ones count with their values. Parameters with a single value are not
/// listed. A parameter that exists only sometimes counts with the share of the results that have
/// it. Takes O(results * parameters); nothing is random.
///
/// Errors: invalid_argument for a space that does not check, a share out of range, or fewer than
/// two results.
[[nodiscard]] Result<std::vector<ParameterImportance>> parameter_importance(
    const ParamSpace& space, const std::vector<KnownResult>& results, const Objective& objective,
    const ImportanceOptions& options = {});

}  // namespace troupe::tune
