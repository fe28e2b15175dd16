#pragma once

#include <troupe/tune/detail/loop_state.hpp>

#include <string>
#include <string_view>
#include <vector>

/// What trials and their folders are called.
namespace troupe::tune::detail {

/// "Quadratic_00003".
std::string trial_name(std::string_view trainable, TrialId id);

/// The values of the parameters at `paths`: "lr=0.001,layers=3", with last names, floats of 4
/// significant digits, and "_" for what does not belong in a file name.
std::string trial_tag(const std::vector<std::string>& paths, const Config& config);

/// Name and tag, at most 130 bytes.
std::string trial_dir(std::string_view name, std::string_view tag);

/// The record of a new trial, with its name and folder.
CreateTrial create_trial(const LoopSetting& setting, TrialId id, Config config, Value note);

}  // namespace troupe::tune::detail
