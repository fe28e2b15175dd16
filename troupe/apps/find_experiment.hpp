#pragma once

#include <troupe/base/result.hpp>
#include <troupe/tune/records.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace troupe::apps {

/// The names of the experiments under a storage path, sorted: folders that hold a store.
/// Errors: not_found when there is no such folder, io.
Result<std::vector<std::string>> experiment_names(const std::filesystem::path& storage_path);

/// The folder of an experiment that is named by path or by name (under `storage_path`; empty: the
/// default). Errors: not_found with close matches.
Result<std::filesystem::path> find_experiment(const std::string& path_or_name,
                                              const std::filesystem::path& storage_path);

/// `given`, or the default storage path when it is empty.
Result<std::filesystem::path> storage_path_or_default(const std::filesystem::path& given);

/// The process that runs the experiment, by the lock on its store; nothing: none does.
std::optional<int64_t> driver_of(const std::filesystem::path& experiment_dir);

/// The state of an experiment, of which the journal says `recorded`: "running" as long as a process
/// runs it, "died" when that is gone without a word.
std::string experiment_state(tune::ExperimentState recorded, bool has_driver);

/// The state of a trial: one that ran when its driver died waits for the next.
tune::TrialState trial_state(tune::TrialState recorded, bool has_driver);

}  // namespace troupe::apps
