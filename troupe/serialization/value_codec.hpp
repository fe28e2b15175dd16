#pragma once

#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>

#include <string>
#include <string_view>

/// Values as compact bytes without an envelope, for use inside messages and records.
///
/// Canonical: equal values give equal bytes, and only those bytes are read back. One byte of type;
/// int and double in 8 bytes, little endian; string, list and map with their length as LEB128.
namespace troupe {

/// Throws Exception resource_exhausted when the value breaks a limit (`check_limits`).
std::string encode_value(const Value& value);
std::string encode_map(const Map& map);

/// Reads bytes that may come from anywhere; corrupt or resource_exhausted with the position of the
/// damage. Never allocates more than a constant times the size of the input.
Result<Value> decode_value(std::string_view bytes);
Result<Map> decode_map(std::string_view bytes);

}  // namespace troupe
