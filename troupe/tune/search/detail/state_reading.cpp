#include <troupe/serialization/json.hpp>
#include <troupe/serialization/objective.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace troupe::tune::detail {
namespace {

/// Two values that differ; null pointer: there is none.
struct Place {
  std::string name{};
  const Value* saved = nullptr;
  const Value* own = nullptr;
};

/// The first difference between the elements of the place, which are maps or lists.
Place within(const Place& outer) {
  const Map* saved = outer.saved->get_if<Map>();
  if (saved != nullptr) {
    const Map& own = outer.own->as_map();
    std::vector<std::string> keys = saved->keys();
    for (const std::string& key : own.keys())
      keys.push_back(key);
    for (const std::string& key : keys) {
      const Value* a = saved->find_key(key);
      const Value* b = own.find_key(key);
      if (a == nullptr || b == nullptr || *a != *b)
        return {outer.name.empty() ? key : outer.name + '.' + key, a, b};
    }
    return outer;
  }
  const List& a = outer.saved->as_list();
  const List& b = outer.own->as_list();
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i])
    ++i;
  return {outer.name + '[' + std::to_string(i) + ']', i < a.size() ? &a[i] : nullptr,
          i < b.size() ? &b[i] : nullptr};
}

}  // namespace

std::string shown(const Value& value) {
  constexpr std::size_t most = 200;
  if (value.is_double() && !std::isfinite(value.as_double()))
    return std::isnan(value.as_double()) ? "NaN" : value.as_double() > 0 ? "inf" : "-inf";
  std::string text = to_json(value);
  if (text.size() <= most)
    return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;  // not in the middle of a character
  return text.substr(0, end) + "...";
}

std::optional<std::string> difference(const Value& saved, const Value& own) {
  if (saved == own)
    return std::nullopt;
  Place place{"", &saved, &own};
  const auto have_parts = [&] {
    return place.saved != nullptr && place.own != nullptr &&
           place.saved->type() == place.own->type() &&
           (place.saved->is_map() || place.saved->is_list());
  };
  while (have_parts())
    place = within(place);
  const auto text = [](const Value* value) { return value != nullptr ? shown(*value) : "nothing"; };
  return place.name + " = " + text(place.saved) + ", and here it is " + text(place.own);
}

Error incomplete_state(const std::string& searcher) {
  return Error(ErrorCode::corrupt, "the state of the searcher " + searcher + " is incomplete");
}

bool is_trial(const Value& value) {
  return value.is_int() && value.as_int() >= 0 && value.as_int() <= std::int64_t{UINT32_MAX};
}

bool is_ending(const Value& value) {
  return value.is_int() && value.as_int() >= 0 &&
         value.as_int() <= static_cast<std::int64_t>(Ending::failed);
}

std::optional<TrialId> trial_of(const Value& value) {
  if (!is_trial(value))
    return std::nullopt;
  return TrialId(static_cast<TrialId::rep>(value.as_int()));
}

bool is_within(const Value& value, double low, double high) {
  return value.is_double() && value.as_double() >= low && value.as_double() <= high;
}

bool is_finite(const Value& value) {
  constexpr double largest = std::numeric_limits<double>::max();
  return is_within(value, -largest, largest);
}

std::optional<std::uint64_t> count_of(const Value& value, std::uint64_t most) {
  if (!value.is_int() || value.as_int() < 0 || static_cast<std::uint64_t>(value.as_int()) > most)
    return std::nullopt;
  return static_cast<std::uint64_t>(value.as_int());
}

const Value* find_state(const Value& state, std::string_view key) {
  const Map* map = state.get_if<Map>();
  return map != nullptr ? map->find_key(key) : nullptr;
}

const List* find_list(const Value& state, std::string_view key) {
  const Value* value = find_state(state, key);
  return value != nullptr ? value->get_if<List>() : nullptr;
}

std::optional<std::uint64_t> find_count(const Value& state, std::string_view key,
                                        std::uint64_t most) {
  const Value* value = find_state(state, key);
  return value != nullptr ? count_of(*value, most) : std::nullopt;
}

}  // namespace troupe::tune::detail
