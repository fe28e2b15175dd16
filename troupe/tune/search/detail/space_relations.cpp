#include <troupe/base/detail/edit_distance.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/space_relations.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace troupe::tune {
namespace {

using Leaves = std::map<std::string, ParamSpace::Leaf>;

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts)
    text += (text.empty() ? "" : std::string(separator)) + part;
  return text;
}

Error unknown(const std::string& where, const std::string& path, const Leaves& leaves) {
  std::vector<std::string> names;
  for (const auto& [name, leaf] : leaves)
    names.push_back(name);
  return Error(ErrorCode::invalid_argument, where + ": the space has no parameter '" + path + "'" +
                                                troupe::detail::did_you_mean(path, names));
}

/// Can the parameter have this value?
Status can_be(const std::string& where, const std::string& path, const SpaceEntry& entry,
              const Value& value) {
  const auto adopted = entry.adopt(value);
  if (adopted)
    return ok();
  return Error(ErrorCode::invalid_argument, where + ": '" + path + "' is never " + to_json(value) +
                                                ": " + adopted.error().message());
}

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

Status check_conditions(const Leaves& leaves) {
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
        TROUPE_RETURN_IF_ERROR(can_be(where, condition.parent, *parent->second.entry, value));
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
  if (pair ? constraint.paths.size() != 2 : constraint.paths.empty())
    return Error(ErrorCode::invalid_argument, where + ": name the parameters it is about");
  if (std::isnan(constraint.bound))
    return Error(ErrorCode::invalid_argument, where + ": the bound must be a number");
  for (const std::string& path : constraint.paths) {
    const auto leaf = leaves.find(path);
    if (leaf == leaves.end())
      return unknown(where, path, leaves);
    if (constraint.kind != Constraint::Kind::different && !is_numeric(*leaf->second.entry, false))
      return Error(ErrorCode::invalid_argument, where + ": '" + path + "' is not a number");
    if (constraint.kind == Constraint::Kind::multiple_of && !is_numeric(*leaf->second.entry, true))
      return Error(ErrorCode::invalid_argument,
                   where + ": '" + path +
                       "' is not always a whole number; use randint, or count in a smaller unit");
  }
  return ok();
}

Status check_forbidden(const Map& combination, const Leaves& leaves) {
  const std::string where = "param_space, forbidden combination " + to_json(Value(combination));
  if (combination.empty())
    return Error(ErrorCode::invalid_argument, where + ": it forbids everything; name values");
  for (const auto& [path, value] : combination) {
    const auto leaf = leaves.find(path);
    if (leaf == leaves.end())
      return unknown(where, path, leaves);
    TROUPE_RETURN_IF_ERROR(can_be(where, path, *leaf->second.entry, value));
  }
  return ok();
}

/// The values of a constraint's parameters; empty when one of them does not exist.
std::vector<const Value*> values_of(const Constraint& constraint, const Config& config) {
  std::vector<const Value*> values;
  for (const std::string& path : constraint.paths) {
    const Value* value = config.find(path);
    if (value == nullptr)
      return {};
    values.push_back(value);
  }
  return values;
}

bool all_different(const std::vector<const Value*>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (*values[i] == *values[j])
        return false;
  return true;
}

bool is_multiple(const Value& a, const Value& b) {
  if (!a.is_int() || !b.is_int())
    return false;
  const std::int64_t divisor = b.as_int();
  return divisor != 0 && (divisor == -1 || a.as_int() % divisor == 0);
}

/// Is a <= b, where both came about with rounding in numbers as large as `scale`?
bool at_most(double a, double b, double scale) {
  constexpr double ulps = 8 * std::numeric_limits<double>::epsilon();
  return a <= b || (std::isfinite(scale) && a - b <= ulps * scale);
}

/// Exact where both are integers.
bool at_most(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int())
    return a.as_int() <= b.as_int();
  const double x = a.as_double();
  const double y = b.as_double();
  return at_most(x, y, std::min(std::abs(x), std::abs(y)));
}

bool holds(const Constraint& constraint, const std::vector<const Value*>& values) {
  double sum = 0;
  double size = 0;
  double product = 1;
  if (constraint.kind != Constraint::Kind::different) {
    for (const Value* value : values) {
      if (!value->is_number())
        return false;
      sum += value->as_double();
      size += std::abs(value->as_double());
      product *= value->as_double();
    }
  }
  switch (constraint.kind) {
    case Constraint::Kind::less:
      return !at_most(*values[1], *values[0]);
    case Constraint::Kind::less_equal:
      return at_most(*values[0], *values[1]);
    case Constraint::Kind::different:
      return all_different(values);
    case Constraint::Kind::sum_at_most:
      return at_most(sum, constraint.bound, size);
    case Constraint::Kind::product_at_most:
      return at_most(product, constraint.bound,
                     std::abs(product) * static_cast<double>(values.size()));
    case Constraint::Kind::multiple_of:
      return is_multiple(*values[0], *values[1]);
  }
  return false;
}

/// Does the parameter have the value that was meant by `wanted`?
bool has(const ParamSpace& space, const std::string& path, const Value& value,
         const Value& wanted) {
  if (value == wanted)
    return true;
  if (!value.is_double() || !wanted.is_number())
    return false;
  const SpaceEntry* entry = space.find(path);
  const auto meant = entry != nullptr ? entry->adopt(wanted) : Result<Value>(wanted);
  return meant && *meant == value;
}

bool matches(const ParamSpace& space, const Map& combination, const Config& config) {
  return std::all_of(combination.begin(), combination.end(), [&](const Map::Entry& entry) {
    const Value* value = config.find(entry.first);
    return value != nullptr && has(space, entry.first, *value, entry.second);
  });
}

bool breaks(const Constraint& constraint, const Config& config) {
  const auto values = values_of(constraint, config);
  return !values.empty() && !holds(constraint, values);
}

}  // namespace

Constraint less(std::string first, std::string second) {
  return {Constraint::Kind::less, {std::move(first), std::move(second)}, 0};
}

Constraint less_equal(std::string first, std::string second) {
  return {Constraint::Kind::less_equal, {std::move(first), std::move(second)}, 0};
}

Constraint different(std::vector<std::string> paths) {
  return {Constraint::Kind::different, std::move(paths), 0};
}

Constraint sum_at_most(std::vector<std::string> paths, double bound) {
  return {Constraint::Kind::sum_at_most, std::move(paths), bound};
}

Constraint product_at_most(std::vector<std::string> paths, double bound) {
  return {Constraint::Kind::product_at_most, std::move(paths), bound};
}

Constraint multiple_of(std::string first, std::string second) {
  return {Constraint::Kind::multiple_of, {std::move(first), std::move(second)}, 0};
}

std::string Constraint::to_string() const {
  switch (kind) {
    case Kind::less:
      return joined(paths, " < ");
    case Kind::less_equal:
      return joined(paths, " <= ");
    case Kind::different:
      return joined(paths, " != ");
    case Kind::sum_at_most:
      return joined(paths, " + ") + " <= " + to_json(Value(bound));
    case Kind::product_at_most:
      return joined(paths, " * ") + " <= " + to_json(Value(bound));
    case Kind::multiple_of:
      return joined(paths, " is a multiple of ");
  }
  return {};
}

std::optional<std::string> ParamSpace::broken_rule(const Config& config) const {
  for (const Constraint& constraint : constraints_)
    if (breaks(constraint, config))
      return constraint.to_string();
  for (const Map& combination : forbidden_)
    if (matches(*this, combination, config))
      return "forbidden: " + to_json(Value(combination));
  return std::nullopt;
}

ParamSpace ParamSpace::without_rules_broken_by(const Config& config) const {
  ParamSpace rest = *this;
  std::erase_if(rest.constraints_, [&](const Constraint& c) { return breaks(c, config); });
  std::erase_if(rest.forbidden_, [&](const Map& c) { return matches(*this, c, config); });
  return rest;
}

namespace detail {

Status check_relations(const ParamSpace& space) {
  Leaves leaves;
  for (ParamSpace::Leaf& leaf : space.leaves()) {
    std::string path = leaf.path;
    leaves.emplace(std::move(path), std::move(leaf));
  }
  TROUPE_RETURN_IF_ERROR(check_conditions(leaves));
  TROUPE_RETURN_IF_ERROR(check_cycles(leaves));
  for (const Constraint& constraint : space.constraints())
    TROUPE_RETURN_IF_ERROR(check_constraint(constraint, leaves));
  for (const Map& combination : space.forbidden())
    TROUPE_RETURN_IF_ERROR(check_forbidden(combination, leaves));
  return ok();
}

}  // namespace detail
}  // namespace troupe::tune
