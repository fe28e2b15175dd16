#include <troupe/serialization/objective.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>

namespace troupe::tune::detail {

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

const Value* find_state(const Value& state, std::string_view key) {
  const Map* map = state.get_if<Map>();
  return map != nullptr ? map->find_key(key) : nullptr;
}

const List* find_list(const Value& state, std::string_view key) {
  const Value* value = find_state(state, key);
  return value != nullptr ? value->get_if<List>() : nullptr;
}

std::optional<std::uint64_t> find_count(const Value& state, std::string_view key) {
  const Value* value = find_state(state, key);
  if (value == nullptr || !value->is_int() || value->as_int() < 0)
    return std::nullopt;
  return static_cast<std::uint64_t>(value->as_int());
}

}  // namespace troupe::tune::detail
