#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/space_relations.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

namespace troupe::tune {
namespace {

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts)
    text += (text.empty() ? "" : std::string(separator)) + part;
  return text;
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

}  // namespace

bool detail::holds(const Constraint& constraint, const std::vector<const Value*>& values) {
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

namespace {

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
  return !values.empty() && !detail::holds(constraint, values);
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

}  // namespace troupe::tune
