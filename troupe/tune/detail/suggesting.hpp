#pragma once

#include <troupe/tune/detail/loop_state.hpp>

#include <optional>
#include <string_view>

namespace troupe::tune::detail {

/// Why a search ends before all planned trials were created, told to the user at the end.
inline constexpr std::string_view space_exhausted =
    "every configuration of the search space was tried; TuneConfig.allow_repeats tries them again";

/// What follows from the answer of a guarded searcher (its errors name it) that was asked for trial
/// `id`: a trial, or the end of the search. Nothing: it has nothing to suggest now.
[[nodiscard]] std::optional<Action> what_was_suggested(const LoopParts& parts, TrialId id,
                                                       Result<Suggestion> answer);

/// It has nothing to suggest although no trial runs: the search has failed.
[[nodiscard]] Action nothing_suggested(const LoopParts& parts);

}  // namespace troupe::tune::detail
