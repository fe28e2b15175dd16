#include <troupe/base/detail/json_text.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/serialization/value.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <ostream>

namespace troupe {
namespace {

// A number whose order is the order of doubles: -inf ... -0 < +0 ... +inf < NaN.
std::int64_t order_of(double v) noexcept {
  if (std::isnan(v))
    return std::numeric_limits<std::int64_t>::max();
  const auto bits = std::bit_cast<std::int64_t>(v);
  return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits - 1 : bits;
}

std::strong_ordering compare(const List& a, const List& b) noexcept {
  const std::size_t shorter = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < shorter; ++i)
    if (const auto order = a[i] <=> b[i]; order != 0)
      return order;
  return a.size() <=> b.size();
}

// What a person sees of a value in an error message.
std::string excerpt(const Value& value) {
  constexpr std::size_t longest = 60;
  if (value.is_list())
    return "of " + std::to_string(value.as_list().size()) + " elements";
  if (value.is_map())
    return "of " + std::to_string(value.as_map().size()) + " entries";
  if (value.is_string())
    return '"' + detail::printable(value.as_string(), longest) + '"';
  return to_json(value);
}

Status check(const Value& value, std::size_t depth, const std::string& place);

Error too_large(const std::string& place, const std::string& what, std::size_t limit) {
  return Error(ErrorCode::resource_exhausted, (place.empty() ? "the value" : "'" + place + "'") +
                                                  ' ' + what + "; at most " +
                                                  std::to_string(limit) + " are allowed");
}

std::string child(const std::string& place, std::string_view key) {
  return (place.empty() ? "" : place + '/') + detail::printable(key, 100);
}

Status check(const Map& map, std::size_t depth, const std::string& place) {
  if (depth >= limits::max_value_depth)
    return too_large(place, "is nested too deep", limits::max_value_depth);
  if (map.size() > limits::max_map_entries)
    return too_large(place, "has " + std::to_string(map.size()) + " entries",
                     limits::max_map_entries);
  for (const auto& [key, value] : map) {
    if (key.size() > limits::max_key_bytes)
      return too_large(child(place, key), "is a key of " + std::to_string(key.size()) + " bytes",
                       limits::max_key_bytes);
    if (value.is_list() || value.is_map())
      TROUPE_RETURN_IF_ERROR(check(value, depth + 1, child(place, key)));
  }
  return ok();
}

Status check(const List& list, std::size_t depth, const std::string& place) {
  if (depth >= limits::max_value_depth)
    return too_large(place, "is nested too deep", limits::max_value_depth);
  if (list.size() > limits::max_list_elements)
    return too_large(place, "has " + std::to_string(list.size()) + " elements",
                     limits::max_list_elements);
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].is_list() || list[i].is_map())
      TROUPE_RETURN_IF_ERROR(check(list[i], depth + 1, child(place, std::to_string(i))));
  return ok();
}

Status check(const Value& value, std::size_t depth, const std::string& place) {
  if (const Map* map = value.get_if<Map>())
    return check(*map, depth, place);
  if (const List* list = value.get_if<List>())
    return check(*list, depth, place);
  return ok();
}

}  // namespace

std::string_view to_string(ValueType type) noexcept {
  switch (type) {
    case ValueType::null:
      return "null";
    case ValueType::boolean:
      return "bool";
    case ValueType::integer:
      return "int";
    case ValueType::real:
      return "double";
    case ValueType::string:
      return "string";
    case ValueType::list:
      return "list";
    case ValueType::map:
      return "map";
  }
  return "unknown";
}

Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

Value::Value(const char* v) {
  if (v == nullptr)
    throw Exception(ErrorCode::invalid_argument, "a string value was made of a null pointer");
  data_ = std::string(v);
}

Value::Value(std::initializer_list<std::pair<std::string, Value>> entries) : data_(Map(entries)) {}

void Value::integer_too_large(std::uint64_t v) {
  throw Exception(ErrorCode::out_of_range,
                  "the integer " + std::to_string(v) +
                      " does not fit a value; the largest is 9223372036854775807");
}

void Value::wrong_type(ValueType wanted) const {
  std::string message = "expected ";
  message += wanted == ValueType::integer ? "an " : "a ";
  message += to_string(wanted);
  message += ", found ";
  if (!is_null()) {
    message += type_name();
    message += ' ';
  }
  throw Exception(ErrorCode::failed_precondition, message + excerpt(*this));
}

bool operator==(const Value& a, const Value& b) noexcept {
  return (a <=> b) == 0;
}

std::strong_ordering operator<=>(const Value& a, const Value& b) noexcept {
  if (a.type() != b.type())
    return a.data_.index() <=> b.data_.index();
  switch (a.type()) {
    case ValueType::null:
      return std::strong_ordering::equal;
    case ValueType::boolean:
      return *a.get_if<bool>() <=> *b.get_if<bool>();
    case ValueType::integer:
      return *a.get_if<std::int64_t>() <=> *b.get_if<std::int64_t>();
    case ValueType::real:
      return order_of(*a.get_if<double>()) <=> order_of(*b.get_if<double>());
    case ValueType::string:
      return a.get_if<std::string>()->compare(*b.get_if<std::string>()) <=> 0;
    case ValueType::list:
      return compare(*a.get_if<List>(), *b.get_if<List>());
    case ValueType::map:
      return *a.get_if<Map>() <=> *b.get_if<Map>();
  }
  return std::strong_ordering::equal;
}

std::ostream& operator<<(std::ostream& out, const Value& value) {
  return out << to_json(value);
}

Status check_limits(const Value& value) {
  return check(value, 0, "");
}
Status check_limits(const Map& map) {
  return check(map, 0, "");
}

}  // namespace troupe
