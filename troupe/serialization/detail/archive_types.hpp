#pragma once

#include <troupe/base/error.hpp>
#include <troupe/base/limits.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/// Which types an archive takes, decided when it is compiled.
namespace troupe::detail {

template <class T, template <class...> class Template>
inline constexpr bool is_instance = false;
template <template <class...> class Template, class... Args>
inline constexpr bool is_instance<Template<Args...>, Template> = true;

template <class T>
inline constexpr bool is_duration = false;
template <class Rep, class Period>
inline constexpr bool is_duration<std::chrono::duration<Rep, Period>> = std::is_integral_v<Rep>;

template <class T>
inline constexpr bool is_std_array = false;
template <class T, std::size_t N>
inline constexpr bool is_std_array<std::array<T, N>> = true;

template <class T>
inline constexpr bool is_optional = is_instance<T, std::optional>;
template <class T>
inline constexpr bool is_variant = is_instance<T, std::variant>;
template <class T>
inline constexpr bool is_tuple_like = is_instance<T, std::pair> || is_instance<T, std::tuple>;
template <class T>
inline constexpr bool is_sequence = is_instance<T, std::vector> || is_instance<T, std::deque>;
template <class T>
inline constexpr bool is_ordered = is_instance<T, std::map> || is_instance<T, std::set>;

/// The entry of a map without the const of its key.
template <class T>
struct MutableEntry {
  using type = T;
};
template <class K, class V>
struct MutableEntry<std::pair<const K, V>> {
  using type = std::pair<K, V>;
};

template <class T>
concept smart_pointer = requires(T t) {
  typename T::element_type;
  t.operator->();
};

template <class T>
concept checked_enum = requires(T t) {
  { enum_last(t) } -> std::same_as<T>;
};

template <class T>
consteval void check_archivable() {
  static_assert(!std::is_pointer_v<T> && !std::is_null_pointer_v<T> && !smart_pointer<T>,
                "pointers are not archived: store the object, an optional, or an id");
  static_assert(!std::is_array_v<T>, "use std::array or std::string");
  static_assert(!std::is_polymorphic_v<T>, "polymorphic types are not archived: use a variant");
  static_assert(!std::is_union_v<T>, "unions are not archived: use a variant");
  static_assert(!std::is_same_v<T, long double> && !std::is_same_v<T, wchar_t>,
                "long double and wchar_t differ between machines");
  if constexpr (std::is_enum_v<T>)
    static_assert(
        checked_enum<T>,
        "an archived enum needs `constexpr E enum_last(E)` beside it, naming the last one");
  if constexpr (is_variant<T>)
    static_assert(std::variant_size_v<T> < 256, "a variant of at most 255 alternatives");
}

/// A lower bound of the bytes that one element takes, to check a count before anything is read.
template <class T>
consteval std::size_t min_archived_bytes() {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
    return sizeof(T);
  else
    return 1;
}

/// How many elements may be reserved at once with so many bytes left: about as much memory as
/// there is input.
template <class T>
constexpr std::size_t reserve_limit(std::size_t remaining_bytes) {
  return remaining_bytes / std::max<std::size_t>(sizeof(T), 1) + 16;
}

/// Counts nesting while it lives; throws Exception when there is too much.
class DepthGuard {
public:
  explicit DepthGuard(std::size_t& depth) : depth_(depth) {
    if (depth >= limits::max_archive_depth)
      too_deep();
    ++depth_;
  }
  ~DepthGuard() { --depth_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

private:
  [[noreturn]] static void too_deep();
  std::size_t& depth_;
};

}  // namespace troupe::detail
