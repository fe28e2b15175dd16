#pragma once

#include <troupe/base/result.hpp>

#include <compare>
#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

namespace detail {
class MapAccess;
}

class Value;
/// Elements of any types. For a list whose only element is a list write `List{Value(List{1})}`:
/// compilers disagree whether `List{List{1}}` means that or a copy.
using List = std::vector<Value>;

/// Names with values, sorted by name (by bytes), each name once: a configuration, the metrics of a
/// step, an object of JSON.
///
///     Metrics metrics{{"loss", 0.5}, {"done", true}, {"env", Map{{"reward", 3}}}};
///     metrics.at("env/reward").as_int();   // 3
///
/// **Paths.** Functions that take a `path` first look for a key that is exactly the path. If there
/// is none, "a/b" means key "b" in the map (or element "b" of the list) under key "a"; where
/// several splits exist the longest first key wins. A key itself may be any string, also one with
/// '/'.
///
/// A flat sorted vector: small maps are fast to build, copy and search; inserting into a map of n
/// entries costs O(n). References and iterators are valid until the map changes.
class Map {
public:
  using Entry = std::pair<std::string, Value>;
  using const_iterator = const Entry*;

  Map() noexcept;
  /// Throws Exception invalid_argument when a key comes twice.
  Map(std::initializer_list<Entry> entries);
  Map(const Map&);
  Map(Map&&) noexcept;
  Map& operator=(const Map&);
  Map& operator=(Map&&) noexcept;
  ~Map();

  /// From entries in any order; invalid_argument naming a key that comes twice.
  static Result<Map> from_entries(std::vector<Entry> entries);

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] bool empty() const noexcept;
  [[nodiscard]] const_iterator begin() const noexcept;
  [[nodiscard]] const_iterator end() const noexcept;
  [[nodiscard]] std::vector<std::string> keys() const;
  void reserve(std::size_t entries);
  void clear() noexcept;

  /// The value at a path, or null pointer.
  [[nodiscard]] const Value* find(std::string_view path) const noexcept;
  [[nodiscard]] Value* find(std::string_view path) noexcept;
  [[nodiscard]] bool contains(std::string_view path) const noexcept;
  /// Throws Exception not_found naming close matches and the keys there are.
  [[nodiscard]] const Value& at(std::string_view path) const;
  [[nodiscard]] Value& at(std::string_view path);
  /// The value at a path, or `fallback`.
  [[nodiscard]] Value get_or(std::string_view path, Value fallback) const;

  /// The value of exactly this key (no path); a new key starts as null.
  Value& operator[](std::string_view key);
  /// The value of exactly this key (no path), or null pointer.
  [[nodiscard]] const Value* find_key(std::string_view key) const noexcept;
  [[nodiscard]] Value* find_key(std::string_view key) noexcept;

  /// Assigns what `find(path)` would find. Where it finds nothing, goes as deep as existing maps
  /// lead and makes maps for the other parts of the path. Throws Exception failed_precondition when
  /// the path leads through something that is neither map nor list, out_of_range for a list index
  /// that does not exist. Returns the place.
  Value& set(std::string_view path, Value value);

  /// Removes what `find(path)` finds; elements of lists can not be removed. False: nothing there.
  bool erase(std::string_view path);

  /// Takes over all entries of `other`; its values win.
  void merge(Map other);

  /// All entries with the maps in it dissolved: {"a": {"b": 1}} becomes {"a/b": 1}. Lists and empty
  /// maps stay as they are. Where two entries get the same name, the shallower one is kept.
  [[nodiscard]] Map flatten() const;

  friend bool operator==(const Map& a, const Map& b) noexcept;
  /// Lexicographic over (key, value).
  friend std::strong_ordering operator<=>(const Map& a, const Map& b) noexcept;
  /// As one line of JSON.
  friend std::ostream& operator<<(std::ostream& out, const Map& map);

private:
  friend class detail::MapAccess;
  std::vector<Entry> entries_;
};

/// The settings of a trial, and its results.
using Config = Map;
using Metrics = Map;

}  // namespace troupe

#include <troupe/serialization/value.hpp>  // completes Value
