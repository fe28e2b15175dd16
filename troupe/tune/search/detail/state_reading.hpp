#pragma once

#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Reading the state of a searcher, of which nothing is known before.
namespace troupe::tune::detail {

[[nodiscard]] Error incomplete_state(const std::string& searcher);
[[nodiscard]] bool is_trial(const Value& value);
[[nodiscard]] bool is_ending(const Value& value);
/// Null pointer when `state` is no map, or has no such key.
[[nodiscard]] const Value* find_state(const Value& state, std::string_view key);
[[nodiscard]] const List* find_list(const Value& state, std::string_view key);
/// A whole number >= 0.
[[nodiscard]] std::optional<std::uint64_t> find_count(const Value& state, std::string_view key);

/// Where settings that were saved differ from those of now, as the tail of a sentence: "seed = 1,
/// and here it is 2". Names the first and innermost place. Nothing: they are equal.
[[nodiscard]] std::optional<std::string> difference(const Value& saved, const Value& own);

}  // namespace troupe::tune::detail
