#include <troupe/base/detail/edit_distance.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/space_relations.hpp>
#include <troupe/tune/search/detail/vain_rules.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace troupe::tune::detail {
namespace {

Error unknown(const std::string& where, const std::string& path, const Leaves& leaves) {
  std::vector<std::string> names;
  for (const auto& [name, leaf] : leaves)
    names.push_back(name);
  return Error(ErrorCode::invalid_argument, where + ": the space has no parameter '" + path + "'" +
                                                troupe::detail::did_you_mean(path, names));
}

/// Which values parameters can have. Of long lists, which hundreds of conditions may ask for, a set
/// is kept.
class PossibleValues {
public:
  /// Can the parameter have this value?
  Status check(const std::string& where, const ParamSpace::Leaf& leaf, const Value& value) {
    if (listed(leaf).contains(value))
      return ok();
    const auto adopted = leaf.entry->adopt(value);
    if (adopted)
      return ok();
    return Error(ErrorCode::invalid_argument, where + ": '" + leaf.path + "' is never " +
                                                  to_json(value) + ": " +
                                                  adopted.error().message());
  }

private:
  /// The values of a choice or a grid; of anything else none.
  const std::set<Value>& listed(const ParamSpace::Leaf& leaf) {
    const auto [set, is_new] = sets_.try_emplace(leaf.path);
    const Domain* domain = is_new ? leaf.entry->domain() : nullptr;
    if (domain == nullptr)
      return set->second;
    if (const auto* choice = std::get_if<Choice>(&domain->kind()))
      set->second.insert(choice->values.begin(), choice->values.end());
    if (const auto* grid = std::get_if<Grid>(&domain->kind()))
      set->second.insert(grid->values.begin(), grid->values.end());
    return set->second;
  }

  std::map<std::string, std::set<Value>> sets_;
};

bool is_numeric(const SpaceEntry& entry, bool whole) {
  const auto fits = [&](const Value& value) { return whole ? value.is_int() : value.is_number(); };
  if (const Value* constant = entry.constant())
    return fits(*constant);
  const Domain::Kind& kind = entry.domain()->kind();
  if (const auto* choice = std::get_if<Choice>(&kind))
    return std::all_of(choice->values.begin(), choice->values.end(), fits);
  if (const auto* grid = std::get_if<Grid>(&kind))
    return std::all_of(grid->values.begin(), grid->values.end(), fits);
  return !whole || std::holds_alternative<RandInt>(kind);
}

Status check_conditions(const Leaves& leaves, PossibleValues& possible) {
  for (const auto& [path, leaf] : leaves)
    for (const Condition& condition : leaf.conditions) {
      const std::string where = "param_space, key '" + path + "', condition";
      const auto parent = leaves.find(condition.parent);
      if (parent == leaves.end())
        return unknown(where, condition.parent, leaves);
      if (condition.values.empty())
        return Error(ErrorCode::invalid_argument, where + ": there is no value of '" +
                                                      condition.parent +
                                                      "' for which it exists; give at least one");
      for (const Value& value : condition.values)
        TROUPE_RETURN_IF_ERROR(possible.check(where, parent->second, value));
    }
  return ok();
}

Status check_cycles(const Leaves& leaves) {
  std::map<std::string, int> state;  // 1: being visited, 2: sound
  std::function<bool(const std::string&)> sound = [&](const std::string& path) {
    int& mine = state[path];
    if (mine != 0)
      return mine == 2;
    mine = 1;
    for (const Condition& condition : leaves.at(path).conditions)
      if (!sound(condition.parent))
        return false;
    state[path] = 2;
    return true;
  };
  for (const auto& [path, leaf] : leaves)
    if (!sound(path))
      return Error(ErrorCode::invalid_argument,
                   "param_space, key '" + path +
                       "', condition: it depends on itself, directly or through others");
  return ok();
}

Status check_constraint(const Constraint& constraint, const Leaves& leaves) {
  const std::string where = "param_space, constraint " + constraint.to_string();
  const bool pair = constraint.kind == Constraint::Kind::less ||
                    constraint.kind == Constraint::Kind::less_equal ||
                    constraint.kind == Constraint::Kind::multiple_of;
  if (constraint.kind > Constraint::Kind::multiple_of)
    return Error(ErrorCode::invalid_argument,
                 where + ": there is no kind of constraint with the number " +
                     std::to_string(static_cast<int>(constraint.kind)) +
                     "; make it by less, less_equal and the like");
  if (pair ? constraint.paths.size() != 2 : constraint.paths.empty())
    return Error(ErrorCode::invalid_argument, where + ": name the parameters it is about");
  if (std::isnan(constraint.bound))
    return Error(ErrorCode::invalid_argument, where + ": the bound must be a number");
  std::set<std::string> named;
  for (const std::string& path : constraint.paths) {
    const auto leaf = leaves.find(path);
    if (leaf == leaves.end())
      return unknown(where, path, leaves);
    if ((pair || constraint.kind == Constraint::Kind::different) && !named.insert(path).second)
      return Error(ErrorCode::invalid_argument,
                   where + ": it compares '" + path + "' with itself; name different parameters");
    if (constraint.kind != Constraint::Kind::different && !is_numeric(*leaf->second.entry, false))
      return Error(ErrorCode::invalid_argument, where + ": '" + path + "' is not a number");
    if (constraint.kind == Constraint::Kind::multiple_of && !is_numeric(*leaf->second.entry, true))
      return Error(ErrorCode::invalid_argument,
                   where + ": '" + path +
                       "' is not always a whole number; use randint, or count in a smaller unit");
  }
  return ok();
}

Status check_forbidden(const Map& combination, const Leaves& leaves, PossibleValues& possible) {
  const std::string where = "param_space, forbidden combination " + to_json(Value(combination));
  if (combination.empty())
    return Error(ErrorCode::invalid_argument, where + ": it forbids everything; name values");
  for (const auto& [path, value] : combination) {
    const auto leaf = leaves.find(path);
    if (leaf == leaves.end())
      return unknown(where, path, leaves);
    TROUPE_RETURN_IF_ERROR(possible.check(where, leaf->second, value));
  }
  return ok();
}

}  // namespace

Status check_relations(const ParamSpace& space) {
  Leaves leaves;
  for (ParamSpace::Leaf& leaf : space.leaves()) {
    std::string path = leaf.path;
    leaves.emplace(std::move(path), std::move(leaf));
  }
  PossibleValues possible;
  TROUPE_RETURN_IF_ERROR(check_conditions(leaves, possible));
  TROUPE_RETURN_IF_ERROR(check_cycles(leaves));
  TROUPE_RETURN_IF_ERROR(check_existence(leaves));
  for (const Constraint& constraint : space.constraints())
    TROUPE_RETURN_IF_ERROR(check_constraint(constraint, leaves));
  for (const Map& combination : space.forbidden())
    TROUPE_RETURN_IF_ERROR(check_forbidden(combination, leaves, possible));
  return check_rules_leave_something(space, leaves);
}

}  // namespace troupe::tune::detail
