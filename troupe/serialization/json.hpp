#pragma once

#include <troupe/base/limits.hpp>
#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// Values as JSON text (RFC 8259), lossless in both directions and valid for every other reader.
///
/// | value                  | text                                                              |
/// |------------------------|-------------------------------------------------------------------|
/// | int                    | all digits: 9223372036854775807                                   |
/// | double                 | shortest that reads back the same, always with '.' or 'e': 1.0    |
/// | NaN, inf, -inf         | {"$double":"nan"}, {"$double":"inf"}, {"$double":"-inf"}          |
/// | string, not UTF-8      | {"$bytes":"ff00"} (hexadecimal)                                   |
/// | key "$x"               | "$$x" (one more '$' in front)                                     |
/// | key, not UTF-8         | "$bytes:ff00"                                                     |
///
/// So a key with one '$' in front is reserved in text. Keys come sorted; equal values give equal
/// text.
namespace troupe {

enum class JsonStyle : std::uint8_t { compact, pretty };

std::string to_json(const Value& value, JsonStyle style = JsonStyle::compact);
std::string to_json(const Map& map, JsonStyle style = JsonStyle::compact);

/// Limits of a text; a text beyond one is refused with resource_exhausted.
struct JsonLimits {
  std::size_t max_bytes = limits::max_message_bytes;
  std::size_t max_depth = limits::max_value_depth;
  std::size_t max_entries = limits::max_map_entries;  ///< of one object or array
};

/// Reads one JSON value and nothing after it. A number without '.' and exponent is an int and must
/// fit 64 bits; every other number is a double and must be finite. Keys that come twice, unknown
/// '$' keys, text that is not UTF-8 and comments are errors. Errors name line and column (from 1,
/// in bytes; the place where reading stopped): code corrupt, or resource_exhausted for a limit.
Result<Value> parse_json(std::string_view text, const JsonLimits& limits = {});

}  // namespace troupe
