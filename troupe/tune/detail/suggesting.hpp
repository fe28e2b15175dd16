#pragma once

#include <troupe/tune/detail/loop_state.hpp>

#include <optional>

namespace troupe::tune::detail {

/// What follows from the answer of a searcher that was asked for trial `id`: a trial, or the end of
/// the search. Nothing: it has nothing to suggest now.
[[nodiscard]] std::optional<Action> what_was_suggested(const LoopParts& parts, TrialId id,
                                                       Result<Suggestion> answer);

/// It has nothing to suggest although no trial runs: the search has failed.
[[nodiscard]] Action nothing_suggested(const LoopParts& parts);

}  // namespace troupe::tune::detail
