#pragma once

#include <troupe/tune/config.hpp>
#include <troupe/tune/records.hpp>
#include <troupe/tune/search/space.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::tune {

/// What a specification is made of.
struct ExperimentDefinition {
  std::string name{};       ///< of the experiment's folder, not empty
  std::string trainable{};  ///< registered name
  bool is_function = false;
  bool saves_checkpoints = true;  ///< see TrainableEntry
  ParamSpace param_space{};
  TuneConfig tune_config{};
  RunConfig run_config{};
  std::uint64_t seed = 0;   ///< when `tune_config.seed` gives none
  std::int64_t now_ms = 0;  ///< Unix time
};

/// Checks everything that can be checked before an experiment has a folder, and writes it down.
/// Errors: invalid_argument naming the field or key, and how to put it right; also what searcher
/// and scheduler say about the space and their own settings.
[[nodiscard]] Result<ExperimentSpec> make_spec(const ExperimentDefinition& definition);

/// Searcher and scheduler, set up for the experiment. A null pointer means: one of Troupe's own,
/// made from the specification. The searcher is guarded: see `detail::guarded`. Errors:
/// failed_precondition when the object given is of another kind than the experiment's, not_found
/// when it is needed and none was given.
[[nodiscard]] Result<std::unique_ptr<Searcher>> searcher_for(const ExperimentSpec& spec,
                                                             const SearchContext& context,
                                                             const Searcher* given);
[[nodiscard]] Result<std::unique_ptr<Scheduler>> scheduler_for(const ExperimentSpec& spec,
                                                               const Scheduler* given);

/// Metric and mode, then the further ones; none when no metric is named.
[[nodiscard]] std::vector<Objective> objectives_of(const ExperimentSpec& spec);
[[nodiscard]] Result<SearchContext> search_context(const ExperimentSpec& spec);

/// The paths of the parameters that have a domain, so that they differ between trials.
[[nodiscard]] std::vector<std::string> varying_parameters(const ParamSpace& space);

}  // namespace troupe::tune
