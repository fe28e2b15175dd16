#pragma once

#include <troupe/base/random.hpp>
#include <troupe/serialization/value.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/// Data as somebody else could have written it.
namespace troupe::testing {

namespace detail {

inline void collect(Value& value, std::vector<Value*>& all) {
  all.push_back(&value);
  if (List* list = value.get_if<List>())
    for (Value& element : *list)
      collect(element, all);
  else if (Map* map = value.get_if<Map>())
    for (const std::string& key : map->keys())
      collect(*map->find_key(key), all);
}

/// What a reader might not have thought of.
inline Value surprise(Random& random) {
  const std::vector<Value> values{nullptr,
                                  true,
                                  0,
                                  -1,
                                  7,
                                  std::int64_t{UINT32_MAX},
                                  std::int64_t{UINT32_MAX} + 1,
                                  INT64_MAX,
                                  INT64_MIN,
                                  -0.5,
                                  1e308,
                                  -1e308,
                                  std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::quiet_NaN(),
                                  "",
                                  "text",
                                  List{},
                                  List{1, 2.5, "x"},
                                  Map{},
                                  Map{{"key", 1}}};
  return random.pick(values);
}

inline void shuffle(List& list, Random& random) {
  if (list.empty())
    return;
  const auto at = [&] { return static_cast<std::ptrdiff_t>(random.below(list.size())); };
  const auto place = list.begin() + at();
  switch (random.below(4)) {
    case 0:
      list.erase(place);
      return;
    case 1: {
      Value copy = *place;
      list.insert(list.begin() + at(), std::move(copy));
      return;
    }
    case 2:
      std::swap(*place, list[static_cast<std::size_t>(at())]);
      return;
    default:
      list.erase(place, list.end());
  }
}

}  // namespace detail

/// `original` with one thing in it changed: a value is another one, of any type, or comes from
/// another place; a list lacks elements, or has one twice or elsewhere; a map lacks a key.
inline Value mutated(Value original, Random& random) {
  std::vector<Value*> all;
  detail::collect(original, all);
  Value& chosen = *random.pick(all);
  List* list = chosen.get_if<List>();
  Map* map = chosen.get_if<Map>();
  if (list != nullptr && random.chance(0.7))
    detail::shuffle(*list, random);
  else if (map != nullptr && !map->empty() && random.chance(0.5))
    map->erase(map->keys()[static_cast<std::size_t>(random.below(map->size()))]);
  else if (random.chance(0.2))
    chosen = Value(*random.pick(all));
  else
    chosen = detail::surprise(random);
  return original;
}

}  // namespace troupe::testing
