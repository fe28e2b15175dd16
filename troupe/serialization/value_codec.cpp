#include <troupe/base/limits.hpp>
#include <troupe/serialization/detail/archive_types.hpp>
#include <troupe/serialization/detail/map_access.hpp>
#include <troupe/serialization/detail/value_io.hpp>
#include <troupe/serialization/value_codec.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace troupe {
namespace detail {
namespace {

// The first byte of an encoded value. Stored: append only.
enum class Code : std::uint8_t {
  null = 0,
  no = 1,
  yes = 2,
  integer = 3,
  real = 4,
  string = 5,
  list = 6,
  map = 7,
};

void put_code(ByteWriter& out, Code code) {
  out.put(static_cast<std::uint8_t>(code));
}

[[noreturn]] void over_limit(const std::string& what, std::size_t limit) {
  throw Exception(ErrorCode::resource_exhausted,
                  "a value can not be stored: " + what + "; at most " + std::to_string(limit));
}

void write_list(ByteWriter& out, const List& list, std::size_t depth) {
  if (depth >= limits::max_value_depth)
    over_limit("nested too deep", limits::max_value_depth);
  if (list.size() > limits::max_list_elements)
    over_limit("a list of " + std::to_string(list.size()) + " elements", limits::max_list_elements);
  out.put_size(list.size());
  for (const Value& element : list)
    write_value(out, element, depth + 1);
}

void read_list(ByteReader& in, List& list, std::size_t depth) {
  if (depth >= limits::max_value_depth)
    in.fail("lists and maps are nested too deep");
  const std::size_t count = in.get_size();
  if (count > limits::max_list_elements)
    in.fail("a list has too many elements");
  list.reserve(std::min(count, reserve_limit<Value>(in.remaining())));
  for (std::size_t i = 0; i < count; ++i)
    read_value(in, list.emplace_back(), depth + 1);
}

double read_double(ByteReader& in) {
  const double v = in.get_double();
  constexpr std::uint64_t canonical = 0x7ff8000000000000;
  if (std::isnan(v) && std::bit_cast<std::uint64_t>(v) != canonical)
    in.fail("a NaN is not written in the one way it is written");
  return v;
}

}  // namespace

void write_value(ByteWriter& out, const Value& value, std::size_t depth) {
  switch (value.type()) {
    case ValueType::null:
      return put_code(out, Code::null);
    case ValueType::boolean:
      return put_code(out, *value.get_if<bool>() ? Code::yes : Code::no);
    case ValueType::integer:
      put_code(out, Code::integer);
      return out.put(*value.get_if<std::int64_t>());
    case ValueType::real:
      put_code(out, Code::real);
      return out.put(*value.get_if<double>());
    case ValueType::string:
      put_code(out, Code::string);
      return out.put_string(*value.get_if<std::string>());
    case ValueType::list:
      put_code(out, Code::list);
      return write_list(out, *value.get_if<List>(), depth);
    case ValueType::map:
      put_code(out, Code::map);
      return write_map(out, *value.get_if<Map>(), depth);
  }
}

void write_map(ByteWriter& out, const Map& map, std::size_t depth) {
  if (depth >= limits::max_value_depth)
    over_limit("nested too deep", limits::max_value_depth);
  if (map.size() > limits::max_map_entries)
    over_limit("a map of " + std::to_string(map.size()) + " entries", limits::max_map_entries);
  out.put_size(map.size());
  for (const auto& [key, value] : map) {
    if (key.size() > limits::max_key_bytes)
      over_limit("a key of " + std::to_string(key.size()) + " bytes", limits::max_key_bytes);
    out.put_string(key);
    write_value(out, value, depth + 1);
  }
}

void read_value(ByteReader& in, Value& value, std::size_t depth) {
  const auto code = in.get<std::uint8_t>();
  switch (static_cast<Code>(code)) {
    case Code::null:
      value = Value();
      return;
    case Code::no:
    case Code::yes:
      value = static_cast<Code>(code) == Code::yes;
      return;
    case Code::integer:
      value = in.get<std::int64_t>();
      return;
    case Code::real:
      value = read_double(in);
      return;
    case Code::string:
      value = in.get_string();
      return;
    case Code::list: {
      List list;
      read_list(in, list, depth);
      value = std::move(list);
      return;
    }
    case Code::map: {
      Map map;
      read_map(in, map, depth);
      value = std::move(map);
      return;
    }
  }
  in.fail("a value has the unknown type " + std::to_string(code));
}

void read_map(ByteReader& in, Map& map, std::size_t depth) {
  if (depth >= limits::max_value_depth)
    in.fail("lists and maps are nested too deep");
  const std::size_t count = in.get_size(2);  // a key of no bytes and a null
  if (count > limits::max_map_entries)
    in.fail("a map has too many entries");
  auto& entries = MapAccess::entries(map);
  entries.clear();
  entries.reserve(std::min(count, reserve_limit<Map::Entry>(in.remaining())));
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view key = in.get_string();
    if (key.size() > limits::max_key_bytes)
      in.fail("a key is too long");
    if (i > 0 && key <= entries.back().first)
      in.fail("the keys of a map do not ascend");
    auto& entry = entries.emplace_back(std::string(key), Value());
    read_value(in, entry.second, depth + 1);
  }
}

}  // namespace detail

namespace {

template <class T, class Read>
Result<T> decode_whole(std::string_view bytes, const Read& read) {
  try {
    detail::ByteReader in(bytes);
    T value;
    read(in, value);
    in.expect_end();
    return value;
  } catch (...) {
    return detail::current_decode_error();
  }
}

}  // namespace

std::string encode_value(const Value& value) {
  std::string bytes;
  detail::ByteWriter out(bytes);
  detail::write_value(out, value);
  return bytes;
}

std::string encode_map(const Map& map) {
  std::string bytes;
  bytes.reserve(1 + 24 * map.size());
  detail::ByteWriter out(bytes);
  detail::write_map(out, map);
  return bytes;
}

Result<Value> decode_value(std::string_view bytes) {
  return decode_whole<Value>(
      bytes, [](detail::ByteReader& in, Value& value) { detail::read_value(in, value); });
}

Result<Map> decode_map(std::string_view bytes) {
  return decode_whole<Map>(bytes,
                           [](detail::ByteReader& in, Map& map) { detail::read_map(in, map); });
}

}  // namespace troupe
