#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/vain_rules.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace troupe::tune::detail {
namespace {

using Leaf = ParamSpace::Leaf;

/// The least and the largest value of a parameter, as numbers go; equal ones: it has no other.
struct Extent {
  Value low{};
  Value high{};

  [[nodiscard]] bool single() const { return low == high; }
};

template <class Range>
Extent extent_of(const Range& range) {
  return {range.low, std::max(range.low, std::nextafter(range.high, range.low))};
}

/// Nothing: its values have no order.
std::optional<Extent> extent_of(const List& values) {
  if (values.size() == 1)
    return Extent{values[0], values[0]};
  if (!std::all_of(values.begin(), values.end(),
                   [](const Value& v) { return v.is_number() && !std::isnan(v.as_double()); }))
    return std::nullopt;
  const auto [low, high] = std::minmax_element(
      values.begin(), values.end(),
      [](const Value& a, const Value& b) { return a.as_double() < b.as_double(); });
  return Extent{*low, *high};
}

std::optional<Extent> extent_of(const SpaceEntry& entry) {
  if (const Value* constant = entry.constant())
    return Extent{*constant, *constant};
  const Domain& domain = *entry.domain();
  if (const auto* choice = std::get_if<Choice>(&domain.kind()))
    return extent_of(choice->values);
  if (const auto* grid = std::get_if<Grid>(&domain.kind()))
    return extent_of(grid->values);
  if (const auto last = domain.last_index())
    return Extent{domain.at(0), domain.at(*last)};
  if (const auto* log = std::get_if<LogUniform>(&domain.kind()))
    return extent_of(*log);
  return extent_of(std::get<Uniform>(domain.kind()));
}

bool always_exists(const Leaf& leaf) {
  return leaf.conditions.empty() && !leaf.entry->optional();
}

/// Is nothing but 0 a multiple, and 0 is out of range?
bool too_small_to_be_multiple(const Extent& a, const Extent& b) {
  const auto least = [](const Extent& e) {
    return std::max({e.low.as_double(), -e.high.as_double(), 0.0});
  };
  const double largest = std::max(std::abs(a.low.as_double()), std::abs(a.high.as_double()));
  return least(a) > 0 && largest < least(b);
}

/// The values of its parameters that suit the constraint best; nothing: that is hard to say.
std::optional<std::vector<Value>> best_case(const Constraint& constraint,
                                            const std::vector<Extent>& extents) {
  using Kind = Constraint::Kind;
  std::vector<Value> values;
  for (const Extent& extent : extents)
    values.push_back(extent.low);
  const bool single =
      std::all_of(extents.begin(), extents.end(), [](const Extent& e) { return e.single(); });
  if (single || constraint.kind == Kind::sum_at_most)
    return values;
  if (constraint.kind == Kind::less || constraint.kind == Kind::less_equal)
    return std::vector{extents[0].low, extents[1].high};
  const bool rising = std::all_of(values.begin(), values.end(), [](const Value& value) {
    return value.is_number() && value.as_double() >= 0;
  });
  if (constraint.kind == Kind::product_at_most && rising)
    return values;
  return std::nullopt;
}

bool never_holds(const Constraint& constraint, const Leaves& leaves) {
  std::vector<Extent> extents;
  for (const std::string& path : constraint.paths) {
    const Leaf& leaf = leaves.at(path);
    const auto extent = extent_of(*leaf.entry);
    // Where a parameter does not exist the constraint holds.
    if (!always_exists(leaf) || !extent)
      return false;
    extents.push_back(*extent);
  }
  if (constraint.kind == Constraint::Kind::multiple_of &&
      too_small_to_be_multiple(extents[0], extents[1]))
    return true;
  const auto best = best_case(constraint, extents);
  if (!best)
    return false;
  std::vector<const Value*> values;
  for (const Value& value : *best)
    values.push_back(&value);
  return !holds(constraint, values);
}

std::string text_of(const SpaceEntry& entry) {
  return entry.domain() != nullptr ? entry.domain()->to_string() : to_json(*entry.constant());
}

Error no_case(const Constraint& constraint, const Leaves& leaves) {
  std::string ranges;
  for (const std::string& path : constraint.paths)
    ranges += (ranges.empty() ? "'" : ", '") + path + "' = " + text_of(*leaves.at(path).entry);
  return Error(ErrorCode::invalid_argument, "param_space, constraint " + constraint.to_string() +
                                                ": no configuration can keep it, with " + ranges +
                                                "; change a range, or leave it out");
}

/// The one parameter that decides about a combination, since the others always have these values;
/// null pointer: several do.
struct Decisive {
  const std::string* path = nullptr;
  Value value{};
  bool several = false;
};

Decisive decisive(const Map& combination, const Leaves& leaves) {
  Decisive found;
  for (const auto& [path, value] : combination) {
    const Leaf& leaf = leaves.at(path);
    const Domain* domain = leaf.entry->domain();
    if (always_exists(leaf) && (domain == nullptr || domain->last_index() == 0))
      continue;
    found.several = found.path != nullptr;
    if (found.several)
      break;
    found.path = &path;
    found.value = leaf.entry->adopt(value).value_or(value);
  }
  return found;
}

Status check_forbidden_values(const ParamSpace& space, const Leaves& leaves) {
  std::map<std::string, std::set<Value>> forbidden;
  for (const Map& combination : space.forbidden()) {
    const std::string where = "param_space, forbidden combination " + to_json(Value(combination));
    Decisive one = decisive(combination, leaves);
    if (one.several)
      continue;
    if (one.path == nullptr)
      return Error(ErrorCode::invalid_argument,
                   where +
                       ": it forbids everything, since these are the only values; leave it "
                       "out, or give a parameter another value");
    const Leaf& leaf = leaves.at(*one.path);
    std::set<Value>& values = forbidden[*one.path];
    values.insert(std::move(one.value));
    if (always_exists(leaf) && leaf.entry->domain()->last_index() == values.size() - 1)
      return Error(ErrorCode::invalid_argument,
                   where + ": with those before it forbids every value of '" + *one.path +
                       "' = " + text_of(*leaf.entry) + "; leave one out, or give it another value");
  }
  return ok();
}

/// The values that a parameter may have, by its path, where another one exists.
using Needs = std::map<std::string, std::set<Value>>;

/// Adds what `path` needs, directly or through the parameters that it names. The name of the one
/// that would need two values at a time; nothing: there is none.
std::optional<std::string> add_needs(const std::string& path, const Leaves& leaves, Needs& needs) {
  for (const Condition& condition : leaves.at(path).conditions) {
    const SpaceEntry& parent = *leaves.at(condition.parent).entry;
    std::set<Value> wanted;
    for (const Value& value : condition.values)
      wanted.insert(parent.adopt(value).value_or(value));
    const auto [found, first] = needs.try_emplace(condition.parent, wanted);
    if (!first)
      std::erase_if(found->second, [&](const Value& value) { return !wanted.contains(value); });
    if (found->second.empty())
      return condition.parent;
    if (first)
      if (auto parent_of_two = add_needs(condition.parent, leaves, needs))
        return parent_of_two;
  }
  return std::nullopt;
}

}  // namespace

Status check_existence(const Leaves& leaves) {
  for (const auto& [path, leaf] : leaves) {
    Needs needs;
    if (const auto parent = add_needs(path, leaves, needs))
      return Error(ErrorCode::invalid_argument,
                   "param_space, key '" + path + "', condition: it never exists, since '" +
                       *parent +
                       "' would need two values at a time; loosen a condition, its own "
                       "or one of a parameter or space that it depends on");
  }
  return ok();
}

Status check_rules_leave_something(const ParamSpace& space, const Leaves& leaves) {
  for (const Constraint& constraint : space.constraints())
    if (never_holds(constraint, leaves))
      return no_case(constraint, leaves);
  return check_forbidden_values(space, leaves);
}

}  // namespace troupe::tune::detail
