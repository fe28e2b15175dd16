#pragma once

#include <troupe/serialization/detail/byte_io.hpp>
#include <troupe/serialization/value.hpp>

/// The value codec on a stream, as archives use it.
namespace troupe::detail {

/// Throws Exception resource_exhausted when the value breaks a limit.
void write_value(ByteWriter& out, const Value& value, std::size_t depth = 0);
void write_map(ByteWriter& out, const Map& map, std::size_t depth = 0);

/// Throws DecodeFailure.
void read_value(ByteReader& in, Value& value, std::size_t depth = 0);
void read_map(ByteReader& in, Map& map, std::size_t depth = 0);

}  // namespace troupe::detail
