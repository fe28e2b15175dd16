#pragma once

#include <string>
#include <string_view>

/// Pieces of JSON text that logging (here) and `serialization/json` share.
namespace troupe::detail {

[[nodiscard]] bool is_valid_utf8(std::string_view text) noexcept;

/// Appends `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD: callers
/// that need them back encode such strings before.
void append_json_string(std::string& out, std::string_view text);

/// Appends the shortest decimal text that reads back as the same double, always with '.' or an
/// exponent. `value` is finite.
void append_json_double(std::string& out, double value);

/// Replaces control characters and bytes that are not ASCII by \xNN, for error messages, and cuts
/// after `max_bytes`.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 200);

}  // namespace troupe::detail
