#include <troupe/base/detail/edit_distance.hpp>
#include <troupe/base/detail/json_text.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/serialization/map.hpp>
#include <troupe/serialization/value.hpp>

#include <algorithm>
#include <charconv>
#include <ostream>

namespace troupe {
namespace {

struct KeyLess {
  bool operator()(const Map::Entry& a, std::string_view b) const noexcept { return a.first < b; }
};

// The front of a path up to the first '/', and what follows it.
std::pair<std::string_view, std::string_view> first_part(std::string_view path) noexcept {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos)
    return {path, {}};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

// An index is written in the one usual way: no sign, no zeros in front.
const Value* element(const List& list, std::string_view index) noexcept {
  std::size_t i = 0;
  const auto result = std::from_chars(index.data(), index.data() + index.size(), i);
  if (result.ec != std::errc() || result.ptr != index.data() + index.size())
    return nullptr;
  if (index.size() > 1 && index.front() == '0')
    return nullptr;
  return i < list.size() ? &list[i] : nullptr;
}

const Value* find_in(const Value& value, std::string_view path) noexcept {
  if (const Map* map = value.get_if<Map>())
    return map->find(path);
  const List* list = value.get_if<List>();
  if (list == nullptr)
    return nullptr;
  const auto [index, rest] = first_part(path);
  const Value* found = element(*list, index);
  const bool ends_here = index.size() == path.size();
  return found == nullptr || ends_here ? found : find_in(*found, rest);
}

// Calls `visit(entry value, rest of the path)` for each key that is the front of the path, the
// longest first, until one call returns something.
template <class Visit>
auto for_each_split(const Map& map, std::string_view path, const Visit& visit)
    -> decltype(visit(std::declval<const Value&>(), path)) {
  for (std::size_t slash = path.rfind('/'); slash != std::string_view::npos;
       slash = slash == 0 ? std::string_view::npos : path.rfind('/', slash - 1)) {
    const Value* entry = map.find_key(path.substr(0, slash));
    if (entry == nullptr)
      continue;
    if (auto result = visit(*entry, path.substr(slash + 1)))
      return result;
  }
  return {};
}

Value& set_in(Value& value, std::string_view path, std::string_view whole, Value&& content);

Value& set_in(Map& map, std::string_view path, std::string_view whole, Value&& content) {
  if (Value* existing = map.find_key(path))
    return *existing = std::move(content);
  std::string_view rest;
  const auto split = [&](const Value& entry, std::string_view after) {
    rest = after;
    return &entry;
  };
  if (const Value* entry = for_each_split(map, path, split))
    return set_in(const_cast<Value&>(*entry), rest, whole, std::move(content));
  const auto [key, after] = first_part(path);
  if (key.size() == path.size())
    return map[key] = std::move(content);
  Value& inner = map[key] = Map();
  return set_in(inner, after, whole, std::move(content));
}

Value& set_in(Value& value, std::string_view path, std::string_view whole, Value&& content) {
  if (Map* map = value.get_if<Map>())
    return set_in(*map, path, whole, std::move(content));
  const List* list = value.get_if<List>();
  const std::string place = "can not set '" + detail::printable(whole) + "': ";
  if (list == nullptr)
    throw Exception(ErrorCode::failed_precondition,
                    place + "there is a " + std::string(value.type_name()) + " where '" +
                        detail::printable(path) + "' would go in");
  const auto [index, rest] = first_part(path);
  auto* found = const_cast<Value*>(element(*list, index));
  if (found == nullptr)
    throw Exception(ErrorCode::out_of_range, place + "'" + detail::printable(index) +
                                                 "' is no index of a list of " +
                                                 std::to_string(list->size()) + " elements");
  if (index.size() == path.size())
    return *found = std::move(content);
  return set_in(*found, rest, whole, std::move(content));
}

// The map that holds `target` as an entry, somewhere along the path.
Map* owner_of(Map& map, std::string_view path, const Value* target) {
  if (map.find_key(path) == target)
    return &map;
  return for_each_split(map, path, [&](const Value& entry, std::string_view rest) -> Map* {
    auto* at = const_cast<Value*>(&entry);
    while (const List* list = at->get_if<List>()) {
      const auto [index, after] = first_part(rest);
      at = const_cast<Value*>(element(*list, index));
      rest = after;
      if (at == nullptr || at == target)
        return nullptr;
    }
    Map* inner = at->get_if<Map>();
    return inner == nullptr ? nullptr : owner_of(*inner, rest, target);
  });
}

// Entries of this level before those of deeper ones, so that the shallower of two equal names is
// first.
void flatten_into(std::vector<Map::Entry>& out, const Map& map, const std::string& prefix) {
  const auto dissolves = [](const Value& value) {
    const Map* inner = value.get_if<Map>();
    return inner != nullptr && !inner->empty() ? inner : nullptr;
  };
  for (const auto& [key, value] : map)
    if (dissolves(value) == nullptr)
      out.emplace_back(prefix + key, value);
  for (const auto& [key, value] : map)
    if (const Map* inner = dissolves(value))
      flatten_into(out, *inner, prefix + key + '/');
}

Error missing(const Map& map, std::string_view path) {
  constexpr std::size_t keys_named = 20;
  constexpr std::size_t keys_compared = 1000;
  std::vector<std::string> candidates = map.keys();
  if (candidates.size() < keys_compared)
    for (const auto& entry : map.flatten())
      if (entry.first.find('/') != std::string::npos)
        candidates.push_back(entry.first);
  candidates.resize(std::min(candidates.size(), keys_compared));
  std::string message =
      "no key '" + detail::printable(path) + "'" + detail::did_you_mean(path, candidates);
  if (map.empty())
    return Error(ErrorCode::not_found, message + "; there are no keys at all");
  message += "; present: ";
  std::size_t named = 0;
  for (const auto& entry : map) {
    if (named == keys_named)
      break;
    message += (named++ == 0 ? "" : ", ") + detail::printable(entry.first, 100);
  }
  if (map.size() > named)
    message += " and " + std::to_string(map.size() - named) + " more";
  return Error(ErrorCode::not_found, std::move(message));
}

}  // namespace

Map::Map() noexcept = default;
Map::Map(const Map&) = default;
Map::Map(Map&&) noexcept = default;
Map& Map::operator=(const Map&) = default;
Map& Map::operator=(Map&&) noexcept = default;
Map::~Map() = default;

Map::Map(std::initializer_list<Entry> entries)
    : Map(from_entries(std::vector<Entry>(entries)).value_or_throw()) {}

Result<Map> Map::from_entries(std::vector<Entry> entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.first < b.first; });
  const auto twice =
      std::adjacent_find(entries.begin(), entries.end(),
                         [](const Entry& a, const Entry& b) { return a.first == b.first; });
  if (twice != entries.end())
    return Error(ErrorCode::invalid_argument,
                 "the key '" + detail::printable(twice->first) + "' is given twice");
  Map map;
  map.entries_ = std::move(entries);
  return map;
}

std::size_t Map::size() const noexcept {
  return entries_.size();
}
bool Map::empty() const noexcept {
  return entries_.empty();
}
Map::const_iterator Map::begin() const noexcept {
  return entries_.data();
}
Map::const_iterator Map::end() const noexcept {
  return entries_.data() + entries_.size();
}
void Map::reserve(std::size_t entries) {
  entries_.reserve(entries);
}
void Map::clear() noexcept {
  entries_.clear();
}

std::vector<std::string> Map::keys() const {
  std::vector<std::string> names;
  names.reserve(size());
  for (const auto& entry : entries_)
    names.push_back(entry.first);
  return names;
}

const Value* Map::find_key(std::string_view key) const noexcept {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), key, KeyLess());
  return at != entries_.end() && at->first == key ? &at->second : nullptr;
}

Value* Map::find_key(std::string_view key) noexcept {
  return const_cast<Value*>(std::as_const(*this).find_key(key));
}

const Value* Map::find(std::string_view path) const noexcept {
  if (const Value* exact = find_key(path))
    return exact;
  return for_each_split(*this, path, find_in);
}

Value* Map::find(std::string_view path) noexcept {
  return const_cast<Value*>(std::as_const(*this).find(path));
}

bool Map::contains(std::string_view path) const noexcept {
  return find(path) != nullptr;
}

const Value& Map::at(std::string_view path) const {
  if (const Value* found = find(path))
    return *found;
  throw Exception(missing(*this, path));
}

Value& Map::at(std::string_view path) {
  return const_cast<Value&>(std::as_const(*this).at(path));
}

Value Map::get_or(std::string_view path, Value fallback) const {
  const Value* found = find(path);
  return found != nullptr ? *found : std::move(fallback);
}

Value& Map::operator[](std::string_view key) {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), key, KeyLess());
  if (at == entries_.end() || at->first != key)
    at = entries_.emplace(at, std::string(key), Value());
  return at->second;
}

Value& Map::set(std::string_view path, Value value) {
  if (Value* found = find(path))
    return *found = std::move(value);
  return set_in(*this, path, path, std::move(value));
}

bool Map::erase(std::string_view path) {
  const Value* target = find(path);
  if (target == nullptr)
    return false;
  Map* owner = owner_of(*this, path, target);
  if (owner == nullptr)
    return false;
  const auto at = std::find_if(owner->entries_.begin(), owner->entries_.end(),
                               [&](const Entry& entry) { return &entry.second == target; });
  if (at == owner->entries_.end())
    return false;
  owner->entries_.erase(at);
  return true;
}

void Map::merge(Map other) {
  std::vector<Entry> merged;
  merged.reserve(size() + other.size());
  auto mine = entries_.begin();
  for (auto& theirs : other.entries_) {
    while (mine != entries_.end() && mine->first < theirs.first)
      merged.push_back(std::move(*mine++));
    if (mine != entries_.end() && mine->first == theirs.first)
      ++mine;
    merged.push_back(std::move(theirs));
  }
  merged.insert(merged.end(), std::make_move_iterator(mine),
                std::make_move_iterator(entries_.end()));
  entries_ = std::move(merged);
}

Map Map::flatten() const {
  std::vector<Entry> all;
  all.reserve(size());
  flatten_into(all, *this, "");
  std::stable_sort(all.begin(), all.end(),
                   [](const Entry& a, const Entry& b) { return a.first < b.first; });
  all.erase(std::unique(all.begin(), all.end(),
                        [](const Entry& a, const Entry& b) { return a.first == b.first; }),
            all.end());
  Map map;
  map.entries_ = std::move(all);
  return map;
}

bool operator==(const Map& a, const Map& b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second == y.second;
  });
}

std::strong_ordering operator<=>(const Map& a, const Map& b) noexcept {
  const Map::Entry* x = a.begin();
  const Map::Entry* y = b.begin();
  for (; x != a.end() && y != b.end(); ++x, ++y) {
    if (const int order = x->first.compare(y->first); order != 0)
      return order <=> 0;
    if (const auto order = x->second <=> y->second; order != 0)
      return order;
  }
  return a.size() <=> b.size();
}

std::ostream& operator<<(std::ostream& out, const Map& map) {
  return out << to_json(map);
}

}  // namespace troupe
