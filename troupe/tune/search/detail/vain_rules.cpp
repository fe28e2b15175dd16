#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/vain_rules.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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

/// The parameters with what they depend on, by number.
class Dependencies {
public:
  explicit Dependencies(const Leaves& leaves) {
    std::map<std::string_view, std::size_t> numbers;
    for (const auto& [path, leaf] : leaves) {
      numbers.emplace(path, parameters_.size());
      parameters_.push_back({.leaf = &leaf});
    }
    for (Parameter& parameter : parameters_)
      for (const Condition& condition : parameter.leaf->conditions)
        parameter.links.push_back({numbers.at(condition.parent), &condition});
  }

  [[nodiscard]] std::size_t size() const { return parameters_.size(); }
  [[nodiscard]] const Leaf& leaf(std::size_t number) const { return *parameters_[number].leaf; }

  /// The one that would need two values at a time where this one exists; null pointer: none.
  const Leaf* torn(std::size_t number) {
    std::vector<std::size_t> todo{number};
    const std::size_t climb = ++climbs_;
    while (!todo.empty()) {
      const std::size_t next = todo.back();
      todo.pop_back();
      for (Link& link : parameters_[next].links) {
        Parameter& parent = parameters_[link.parent];
        if (parent.climb != climb) {
          parent.climb = climb;
          parent.first = &link;
          parent.left.reset();
          todo.push_back(link.parent);
        } else if (!narrow(parent, link)) {
          return parent.leaf;
        }
      }
    }
    return nullptr;
  }

private:
  struct Link {
    std::size_t parent = 0;
    const Condition* condition = nullptr;
    std::optional<std::set<Value>> values{};  ///< as the parent has them; adopted when asked for
  };
  struct Parameter {
    const Leaf* leaf = nullptr;
    std::vector<Link> links{};
    std::size_t climb = 0;                  ///< that came here last: the two below are of it
    Link* first = nullptr;                  ///< by which it came
    std::optional<std::set<Value>> left{};  ///< where it came by several, what suits all
  };

  const std::set<Value>& values(Link& link) {
    if (!link.values) {
      link.values.emplace();
      for (const Value& value : link.condition->values)
        link.values->insert(parameters_[link.parent].leaf->entry->adopt(value).value_or(value));
    }
    return *link.values;
  }

  /// Is a value left that suits this link, too?
  bool narrow(Parameter& parent, Link& link) {
    if (!parent.left)
      parent.left = values(*parent.first);
    const std::set<Value>& wanted = values(link);
    std::erase_if(*parent.left, [&](const Value& value) { return !wanted.contains(value); });
    return !parent.left->empty();
  }

  std::vector<Parameter> parameters_;
  std::size_t climbs_ = 0;
};

}  // namespace

Status check_existence(const Leaves& leaves) {
  Dependencies dependencies(leaves);
  for (std::size_t i = 0; i < dependencies.size(); ++i) {
    const Leaf& leaf = dependencies.leaf(i);
    // A single condition contradicts nothing: none that its parent depends on is about the parent.
    if (leaf.conditions.size() < 2)
      continue;
    if (const Leaf* parent = dependencies.torn(i))
      return Error(ErrorCode::invalid_argument,
                   "param_space, key '" + leaf.path + "', condition: it never exists, since '" +
                       parent->path +
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
