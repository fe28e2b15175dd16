#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/domain.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace troupe::tune {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

std::string number(double value) {
  if (std::isfinite(value) && value == std::trunc(value) && std::abs(value) < 1e15)
    return std::to_string(static_cast<std::int64_t>(value));
  return to_json(Value(value));
}

std::string list(std::string_view name, const List& values) {
  return std::string(name) + '(' + to_json(Value(values)) + ')';
}

Error wrong(const Domain& domain, std::string_view what) {
  return Error(ErrorCode::invalid_argument, domain.to_string() + ": " + std::string(what));
}

Status check_values(const Domain& domain, const List& values, std::string_view example) {
  if (values.empty())
    return wrong(domain,
                 "there is no value to take; give at least one, as in " + std::string(example));
  return check_limits(Value(values));
}

Status check_range(const Domain& domain, double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high))
    return wrong(domain, "both bounds must be finite numbers");
  if (!(low < high))
    return wrong(domain, "the lower bound must be less than the upper one, which is not included");
  return ok();
}

}  // namespace

Status Domain::check() const {
  return std::visit(
      Overloaded{
          [&](const Uniform& d) -> Status {
            TROUPE_RETURN_IF_ERROR(check_range(*this, d.low, d.high));
            if (!std::isfinite(d.high - d.low))
              return wrong(*this, "the range is too wide for a double");
            return ok();
          },
          [&](const LogUniform& d) -> Status {
            TROUPE_RETURN_IF_ERROR(check_range(*this, d.low, d.high));
            if (d.low <= 0)
              return wrong(*this,
                           "the lower bound of a logarithmic range must be above 0, "
                           "such as 1e-6; use uniform for a range with 0 in it");
            return ok();
          },
          [&](const RandInt& d) -> Status {
            if (d.low >= d.high)
              return wrong(*this,
                           "there is no whole number in it: the upper bound is not "
                           "included, so it must be at least the lower bound plus 1");
            return ok();
          },
          [&](const Choice& d) { return check_values(*this, d.values, "choice({\"a\", \"b\"})"); },
          [&](const Grid& d) -> Status {
            TROUPE_RETURN_IF_ERROR(check_values(*this, d.values, "grid_search({1, 2, 3})"));
            std::set<Value> seen;
            for (const Value& value : d.values)
              if (!seen.insert(value).second)
                return wrong(*this, "the value " + to_json(value) +
                                        " comes twice; remove one, or raise num_samples to try "
                                        "everything more than once");
            return ok();
          }},
      kind_);
}

Value Domain::sample(Random& random) const {
  return std::visit(
      Overloaded{[&](const Uniform& d) -> Value { return random.uniform(d.low, d.high); },
                 [&](const LogUniform& d) -> Value {
                   const double drawn = std::exp(random.uniform(std::log(d.low), std::log(d.high)));
                   return std::clamp(drawn, d.low, std::nextafter(d.high, d.low));
                 },
                 [&](const RandInt& d) -> Value { return random.uniform_int(d.low, d.high - 1); },
                 [&](const Choice& d) -> Value { return random.pick(d.values); },
                 [](const Grid&) -> Value {
                   throw Exception(ErrorCode::failed_precondition,
                                   "a grid is not drawn at random; use choice for that");
                 }},
      kind_);
}

bool Domain::contains(const Value& value) const {
  const auto is_one_of = [&](const List& values) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  return std::visit(Overloaded{[&](const Uniform& d) {
                                 return value.is_double() && value.as_double() >= d.low &&
                                        value.as_double() < d.high;
                               },
                               [&](const LogUniform& d) {
                                 return value.is_double() && value.as_double() >= d.low &&
                                        value.as_double() < d.high;
                               },
                               [&](const RandInt& d) {
                                 return value.is_int() && value.as_int() >= d.low &&
                                        value.as_int() < d.high;
                               },
                               [&](const Choice& d) { return is_one_of(d.values); },
                               [&](const Grid& d) { return is_one_of(d.values); }},
                    kind_);
}

std::string Domain::to_string() const {
  return std::visit(
      Overloaded{
          [](const Uniform& d) { return "uniform(" + number(d.low) + ", " + number(d.high) + ')'; },
          [](const LogUniform& d) {
            return "loguniform(" + number(d.low) + ", " + number(d.high) + ')';
          },
          [](const RandInt& d) {
            return "randint(" + std::to_string(d.low) + ", " + std::to_string(d.high) + ')';
          },
          [](const Choice& d) { return list("choice", d.values); },
          [](const Grid& d) { return list("grid_search", d.values); }},
      kind_);
}

Value Domain::to_value() const {
  return std::visit(Overloaded{[](const Uniform& d) -> Value {
                                 return Map{{"uniform", List{d.low, d.high}}};
                               },
                               [](const LogUniform& d) -> Value {
                                 return Map{{"loguniform", List{d.low, d.high}}};
                               },
                               [](const RandInt& d) -> Value {
                                 return Map{{"randint", List{d.low, d.high}}};
                               },
                               [](const Choice& d) -> Value {
                                 return Map{{"choice", d.values}};
                               },
                               [](const Grid& d) -> Value {
                                 return Map{{"grid_search", d.values}};
                               }},
                    kind_);
}

Result<Domain> Domain::from_value(const Value& value) {
  const Error bad(ErrorCode::corrupt,
                  "not a domain of a search space: " + to_json(value).substr(0, 200));
  const Map* map = value.get_if<Map>();
  if (map == nullptr || map->size() != 1 || !map->begin()->second.is_list())
    return bad;
  const auto& [kind, content] = *map->begin();
  const List& values = content.as_list();
  if (kind == "choice")
    return choice(values);
  if (kind == "grid_search")
    return grid_search(values);
  if (values.size() != 2)
    return bad;
  if (kind == "randint" && values[0].is_int() && values[1].is_int())
    return randint(values[0].as_int(), values[1].as_int());
  if (!values[0].is_number() || !values[1].is_number())
    return bad;
  if (kind == "uniform")
    return uniform(values[0].as_double(), values[1].as_double());
  if (kind == "loguniform")
    return loguniform(values[0].as_double(), values[1].as_double());
  return bad;
}

}  // namespace troupe::tune
