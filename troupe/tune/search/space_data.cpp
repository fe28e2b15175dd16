#include <troupe/tune/search/space.hpp>

#include <array>
#include <string_view>

// A search space as data, and back.

namespace troupe::tune {
namespace {

/// Keeps the recursion over stored data bounded.
constexpr std::size_t max_depth = 96;

constexpr std::array<std::string_view, 6> constraint_names = {
    "less", "less_equal", "different", "sum_at_most", "product_at_most", "multiple_of"};

Error bad(const std::string& what) {
  return Error(ErrorCode::corrupt, what);
}

Value data_of(const ParamSpace& space);

Value data_of(const SpaceEntry& entry, std::size_t conditions) {
  if (conditions > 0) {
    const Condition& condition = entry.conditions()[conditions - 1];
    return Map{{"when", List{condition.parent, condition.values, data_of(entry, conditions - 1)}}};
  }
  if (const Domain* domain = entry.domain())
    return entry.optional() ? Value(Map{{"maybe", domain->to_value()}}) : domain->to_value();
  if (const ParamSpace* inner = entry.space())
    return Map{{"space", data_of(*inner)}};
  return Map{{"constant", *entry.constant()}};
}

Value data_of(const ParamSpace& space) {
  Map map;
  for (const auto& [name, entry] : space.entries())
    map[name] = data_of(entry, entry.conditions().size());
  return map;
}

Result<ParamSpace> read_space(const Value& value, std::size_t depth);

Result<SpaceEntry> read_conditional(const Value& content, std::size_t depth);

Result<SpaceEntry> read_entry(const Value& value, std::size_t depth) {
  if (depth > max_depth)
    return bad("a search space that is nested too deep");
  const Map* map = value.get_if<Map>();
  if (map == nullptr || map->size() != 1)
    return bad("not an entry of a search space");
  const auto& [kind, content] = *map->begin();
  if (kind == "constant")
    return SpaceEntry(content);
  if (kind == "when")
    return read_conditional(content, depth);
  if (kind == "space") {
    TROUPE_TRY(inner, read_space(content, depth + 1));
    return SpaceEntry(std::move(inner));
  }
  const bool optional = kind == "maybe";
  auto domain = Domain::from_value(optional ? content : value);
  if (!domain)
    return std::move(domain).error();
  return optional ? maybe(*domain) : SpaceEntry(*domain);
}

Result<SpaceEntry> read_conditional(const Value& content, std::size_t depth) {
  const List* parts = content.get_if<List>();
  if (parts == nullptr || parts->size() != 3 || !(*parts)[0].is_string() || !(*parts)[1].is_list())
    return bad("not a condition of a search space");
  TROUPE_TRY(entry, read_entry((*parts)[2], depth + 1));
  return when((*parts)[0].as_string(), (*parts)[1].as_list(), std::move(entry));
}

Result<ParamSpace> read_space(const Value& value, std::size_t depth) {
  const Map* map = value.get_if<Map>();
  if (map == nullptr)
    return bad("not a search space: a map is expected");
  ParamSpace space;
  for (const auto& [name, content] : *map) {
    auto entry = read_entry(content, depth);
    if (!entry)
      return std::move(entry).error().with_context("param_space, key '" + name + "'");
    space.add(name, entry.take());
  }
  return space;
}

Value data_of(const Constraint& constraint) {
  List paths(constraint.paths.begin(), constraint.paths.end());
  return List{constraint_names[static_cast<std::size_t>(constraint.kind)], std::move(paths),
              constraint.bound};
}

Result<Constraint> read_constraint(const Value& value) {
  const List* parts = value.get_if<List>();
  if (parts == nullptr || parts->size() != 3 || !(*parts)[0].is_string() ||
      !(*parts)[1].is_list() || !(*parts)[2].is_double())
    return bad("not a constraint of a search space");
  Constraint constraint;
  constraint.bound = (*parts)[2].as_double();
  for (const Value& path : (*parts)[1].as_list()) {
    if (!path.is_string())
      return bad("not a constraint of a search space: a path is no text");
    constraint.paths.push_back(path.as_string());
  }
  for (std::size_t kind = 0; kind < constraint_names.size(); ++kind)
    if (constraint_names[kind] == (*parts)[0].as_string()) {
      constraint.kind = static_cast<Constraint::Kind>(kind);
      return constraint;
    }
  return bad("a constraint of a kind that this version does not know: '" + (*parts)[0].as_string() +
             "'");
}

}  // namespace

Value ParamSpace::to_value() const {
  Map map{{"parameters", data_of(*this)}};
  for (const Constraint& constraint : constraints_) {
    if (map.find_key("require") == nullptr)
      map["require"] = List{};
    map["require"].as_list().push_back(data_of(constraint));
  }
  if (!forbidden_.empty())
    map["forbid"] = List(forbidden_.begin(), forbidden_.end());
  return map;
}

Result<ParamSpace> ParamSpace::from_value(const Value& value) {
  const Map* map = value.get_if<Map>();
  const Value* parameters = map != nullptr ? map->find_key("parameters") : nullptr;
  if (parameters == nullptr)
    return bad("not a search space: a map with 'parameters' is expected");
  TROUPE_TRY(space, read_space(*parameters, 0));
  for (const auto& [name, content] : *map) {
    if (name == "parameters")
      continue;
    if ((name != "require" && name != "forbid") || !content.is_list())
      return bad("not a search space: '" + name + "' does not belong there");
    for (const Value& element : content.as_list()) {
      if (name == "require") {
        TROUPE_TRY(constraint, read_constraint(element));
        space.require(std::move(constraint));
      } else if (const Map* combination = element.get_if<Map>()) {
        space.forbid(*combination);
      } else {
        return bad("not a forbidden combination of a search space: a map is expected");
      }
    }
  }
  return space;
}

}  // namespace troupe::tune
