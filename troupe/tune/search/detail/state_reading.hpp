#pragma once

#include <troupe/base/ids.hpp>
#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Reading the state of a searcher, of which nothing is known before. What it could not have
/// written is refused: a number out of its range would do harm long after it was read.
namespace troupe::tune::detail {

/// Counters of trials go up to that.
inline constexpr std::uint64_t most_trials = std::uint64_t{UINT32_MAX} + 1;

[[nodiscard]] Error incomplete_state(const std::string& searcher);
[[nodiscard]] bool is_trial(const Value& value);
[[nodiscard]] bool is_ending(const Value& value);
[[nodiscard]] std::optional<TrialId> trial_of(const Value& value);
/// Is it a real number from `low` to `high`?
[[nodiscard]] bool is_within(const Value& value, double low, double high);
[[nodiscard]] bool is_finite(const Value& value);
/// A whole number from 0 to `most`.
[[nodiscard]] std::optional<std::uint64_t> count_of(const Value& value, std::uint64_t most);
/// Null pointer when `state` is no map, or has no such key.
[[nodiscard]] const Value* find_state(const Value& state, std::string_view key);
[[nodiscard]] const List* find_list(const Value& state, std::string_view key);
/// A whole number from 0 to `most`.
[[nodiscard]] std::optional<std::uint64_t> find_count(const Value& state, std::string_view key,
                                                      std::uint64_t most);

/// A value as a person would write it in a message; the end of a long one is left out.
[[nodiscard]] std::string shown(const Value& value);

/// Where settings that were saved differ from those of now, as the tail of a sentence: "seed = 1,
/// and here it is 2". Names the first and innermost place. Nothing: they are equal.
[[nodiscard]] std::optional<std::string> difference(const Value& saved, const Value& own);

}  // namespace troupe::tune::detail
