#pragma once

#include <troupe/serialization/map.hpp>

#include <compare>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace troupe {

/// The order is the order of values of different types.
enum class ValueType : std::uint8_t { null, boolean, integer, real, string, list, map };

/// "null", "bool", "int", "double", "string", "list", "map".
std::string_view to_string(ValueType type) noexcept;

namespace detail {
template <class T>
concept value_integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                        !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                        !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;
}  // namespace detail

/// One value of a configuration or a result: null, bool, int, double, string, list or map.
///
/// **Identity.** 1, 1.0, true and "1" are four different values. `==` is identity, made for keys
/// and for "did it change": the type counts, NaN equals NaN, and 0.0 differs from -0.0. Compare
/// `as_double()` where arithmetic equality is meant. `<=>` is a total order consistent with `==`:
/// by type, then by content; -NaN does not exist, NaN comes after +inf.
///
/// Accessors throw Exception failed_precondition naming the type expected and the value found.
/// A plain value: not safe to change from two threads, safe to read from many.
class Value {
public:
  Value() noexcept = default;
  // Not inline: inlined moves of a variant make g++ 12 warn about users' code.
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
  Value(std::nullptr_t) noexcept {}
  template <std::same_as<bool> T>
  Value(T v) noexcept : data_(v) {}
  /// Any integer type except characters. Throws Exception out_of_range beyond 2^63 - 1.
  template <detail::value_integer T>
  Value(T v) : data_(to_int64(v)) {}
  template <std::floating_point T>
  Value(T v) noexcept : data_(static_cast<double>(v)) {}
  Value(std::string v) noexcept : data_(std::move(v)) {}
  Value(std::string_view v) : data_(std::string(v)) {}
  /// Throws Exception invalid_argument for a null pointer.
  Value(const char* v);
  Value(List v) noexcept : data_(std::move(v)) {}
  Value(Map v) noexcept : data_(std::move(v)) {}
  /// A map in braces: `Map{{"env", {{"reward", 3}}}}`.
  Value(std::initializer_list<std::pair<std::string, Value>> entries);

  [[nodiscard]] ValueType type() const noexcept { return static_cast<ValueType>(data_.index()); }
  [[nodiscard]] std::string_view type_name() const noexcept { return to_string(type()); }
  [[nodiscard]] bool is_null() const noexcept { return type() == ValueType::null; }
  [[nodiscard]] bool is_bool() const noexcept { return type() == ValueType::boolean; }
  [[nodiscard]] bool is_int() const noexcept { return type() == ValueType::integer; }
  [[nodiscard]] bool is_double() const noexcept { return type() == ValueType::real; }
  [[nodiscard]] bool is_number() const noexcept { return is_int() || is_double(); }
  [[nodiscard]] bool is_string() const noexcept { return type() == ValueType::string; }
  [[nodiscard]] bool is_list() const noexcept { return type() == ValueType::list; }
  [[nodiscard]] bool is_map() const noexcept { return type() == ValueType::map; }

  [[nodiscard]] bool as_bool() const { return need<bool>(ValueType::boolean); }
  [[nodiscard]] std::int64_t as_int() const { return need<std::int64_t>(ValueType::integer); }
  /// Accepts an int too, rounded to the nearest double.
  [[nodiscard]] double as_double() const {
    if (const auto* i = std::get_if<std::int64_t>(&data_))
      return static_cast<double>(*i);
    return need<double>(ValueType::real);
  }
  [[nodiscard]] const std::string& as_string() const {
    return need<std::string>(ValueType::string);
  }
  [[nodiscard]] const List& as_list() const { return need<List>(ValueType::list); }
  [[nodiscard]] List& as_list() { return const_cast<List&>(std::as_const(*this).as_list()); }
  [[nodiscard]] const Map& as_map() const { return need<Map>(ValueType::map); }
  [[nodiscard]] Map& as_map() { return const_cast<Map&>(std::as_const(*this).as_map()); }

  /// The content when it is exactly a T (bool, std::int64_t, double, std::string, List, Map).
  template <class T>
  [[nodiscard]] const T* get_if() const noexcept {
    return std::get_if<T>(&data_);
  }
  template <class T>
  [[nodiscard]] T* get_if() noexcept {
    return std::get_if<T>(&data_);
  }

  friend bool operator==(const Value& a, const Value& b) noexcept;
  friend std::strong_ordering operator<=>(const Value& a, const Value& b) noexcept;
  /// As one line of JSON.
  friend std::ostream& operator<<(std::ostream& out, const Value& value);

private:
  template <class T>
  static std::int64_t to_int64(T v) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(std::int64_t)) {
      if (v > static_cast<T>(INT64_MAX))
        integer_too_large(v);
    }
    return static_cast<std::int64_t>(v);
  }
  [[noreturn]] static void integer_too_large(std::uint64_t v);
  [[noreturn]] void wrong_type(ValueType wanted) const;

  template <class T>
  const T& need(ValueType wanted) const {
    if (const T* found = std::get_if<T>(&data_))
      return *found;
    wrong_type(wanted);
  }

  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Map> data_;
};

/// Is this value one that can be stored and sent? Checks the limits of base/limits.hpp: depth,
/// entries and elements, bytes of keys. resource_exhausted naming the place. Call it on what user
/// code made.
Status check_limits(const Value& value);
Status check_limits(const Map& map);

}  // namespace troupe
