#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/domain.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
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
  if (!std::isfinite(value))
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  return to_json(Value(value));
}

std::string list(std::string_view name, const List& values) {
  return std::string(name) + '(' + to_json(Value(values)) + ')';
}

Error wrong(const Domain& domain, std::string_view what) {
  return Error(ErrorCode::invalid_argument, domain.to_string() + ": " + std::string(what));
}

/// `remedy`: of a value that comes twice.
Status check_values(const Domain& domain, const List& values, const std::string& example,
                    const std::string& remedy) {
  if (values.empty())
    return wrong(domain, "there is no value to take; give at least one, as in " + example);
  TROUPE_RETURN_IF_ERROR(check_limits(Value(values)));
  std::set<Value> seen;
  for (const Value& value : values)
    if (!seen.insert(value).second)
      return wrong(domain, "the value " + to_json(value) + " comes twice; remove one" + remedy);
  return ok();
}

Status check_range(const Domain& domain, double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high))
    return wrong(domain, "both bounds must be finite numbers");
  if (!(low <= high))
    return wrong(domain, "the lower bound must not be above the upper one");
  return ok();
}

/// What a value may differ from its place on the grid, in steps.
double tolerance(double steps) {
  return std::max(1e-9, steps * 1e-15);
}

/// The number of the last value of a stepped range. The tolerance lets 0.8, 0.9, 1.0 contain 1.0
/// although (1.0 - 0.8) / 0.1 is a little less than 2 in binary.
double last_step(const Uniform& d) {
  const double steps = (d.high - d.low) / d.step;
  return std::floor(steps + tolerance(steps));
}

/// Always this expression, so that a value is the same to the last bit wherever it is made. An
/// upper bound on the grid is itself the last value: 0.1, 0.2, 0.3 end with 0.3 although 0.1 + 2 *
/// 0.1 is a little more in binary.
double value_at(const Uniform& d, double index) {
  const double value = d.low + index * d.step;
  const double steps = (d.high - d.low) / d.step;
  return std::abs(value - d.high) <= tolerance(steps) * d.step ? d.high : value;
}

/// Is the range a single number? Then its upper end is included.
template <class Range>
bool is_point(const Range& d) {
  return d.low == d.high;
}

template <class Range>
double only_value(const Range& d) {
  if (is_point(d))
    return d.low;
  throw Exception(ErrorCode::failed_precondition, "the values of a continuum have no numbers");
}

/// Does a range without steps contain the number?
template <class Range>
bool is_within(const Range& d, double value) {
  return is_point(d) ? value == d.low : value >= d.low && value < d.high;
}

std::uint64_t last_step(const RandInt& d) {
  return (static_cast<std::uint64_t>(d.high) - static_cast<std::uint64_t>(d.low)) /
         static_cast<std::uint64_t>(d.step);
}

std::int64_t value_at(const RandInt& d, std::uint64_t index) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(d.low) +
                                   index * static_cast<std::uint64_t>(d.step));
}

/// The integer nearest to exp(x), inside of the range; doubles near 2^63 do not fit.
std::int64_t clamped_exp(const RandInt& d, double x) {
  const double value = std::floor(std::exp(x) + 0.5);
  if (!(value > static_cast<double>(d.low)))
    return d.low;
  if (value >= static_cast<double>(d.high))
    return d.high;
  return static_cast<std::int64_t>(value);
}

std::int64_t draw(const RandInt& d, Random& random) {
  if (d.log)
    return clamped_exp(d, random.uniform(std::log(static_cast<double>(d.low) - 0.5),
                                         std::log(static_cast<double>(d.high) + 0.5)));
  if (d.step == 1)
    return random.uniform_int(d.low, d.high);
  return value_at(d, random.below(last_step(d) + 1));
}

Status check_integers(const Domain& domain, const RandInt& d) {
  if (d.low > d.high)
    return wrong(domain, d.step == 1 ? "there is no whole number in it: the upper bound is not "
                                       "included, so it must be at least the lower bound plus 1"
                                     : "the lower bound must not be above the upper one");
  if (d.step < 1)
    return wrong(domain, "the step must be at least 1");
  if (d.log && d.low < 1)
    return wrong(domain,
                 "the lower bound of a logarithmic range must be at least 1; use randint for a "
                 "range with 0 in it");
  if (d.log && d.step != 1)
    return wrong(domain, "a logarithmic range has the step 1");
  return ok();
}

Status check_reals(const Domain& domain, const Uniform& d) {
  if (d.step == 0) {
    TROUPE_RETURN_IF_ERROR(check_range(domain, d.low, d.high));
  } else if (!std::isfinite(d.low) || !std::isfinite(d.high)) {
    return wrong(domain, "both bounds must be finite numbers");
  } else if (!std::isfinite(d.step) || d.step < 0) {
    return wrong(domain, "the step must be a number above 0; use uniform for a range without one");
  } else if (d.low > d.high) {
    return wrong(domain, "the lower bound must not be above the upper one");
  }
  if (!std::isfinite(d.high - d.low))
    return wrong(domain, "the range is too wide for a double");
  if (d.step != 0 && (d.high - d.low) / d.step > 9e15)
    return wrong(domain, "the range has more than 2^53 steps; use uniform, or a larger step");
  // Else two values may be the same number, and a value lie between those of the grid.
  const double largest = std::max(std::abs(d.low), std::abs(d.high));
  if (d.step != 0 && d.step < 4 * (largest - std::nextafter(largest, 0.0)))
    return wrong(domain,
                 "the step is too small for numbers of that size; use uniform, or a larger step");
  return ok();
}

bool is_on_grid(const Uniform& d, double value) {
  if (!std::isfinite(value))
    return false;
  if (d.step == 0)
    return is_within(d, value);
  const double index = std::floor((value - d.low) / d.step + 0.5);
  return index >= 0 && index <= last_step(d) && value_at(d, index) == value;
}

bool is_on_grid(const RandInt& d, std::int64_t value) {
  return value >= d.low && value <= d.high &&
         (static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(d.low)) %
                 static_cast<std::uint64_t>(d.step) ==
             0;
}

std::string text_of(const Uniform& d) {
  const std::string range = '(' + number(d.low) + ", " + number(d.high);
  return d.step == 0 ? "uniform" + range + ')' : "quniform" + range + ", " + number(d.step) + ')';
}

/// Is it what `randint` and `lograndint` make, with a bound that is not included?
bool half_open(const RandInt& d) {
  return d.step == 1 && d.high != INT64_MAX;
}

std::string text_of(const RandInt& d) {
  const std::string from = '(' + std::to_string(d.low) + ", ";
  if (half_open(d))
    return (d.log ? "lograndint" : "randint") + from + std::to_string(d.high + 1) + ')';
  if (d.log)
    return "lograndint" + from + "2^63)";
  return "qrandint" + from + std::to_string(d.high) + ", " + std::to_string(d.step) + ')';
}

Value data_of(const RandInt& d) {
  if (half_open(d))
    return Map{{d.log ? "lograndint" : "randint", List{d.low, d.high + 1}}};
  if (d.log)
    return Map{{"lograndint up to", List{d.low, d.high}}};
  return Map{{"qrandint", List{d.low, d.high, d.step}}};
}

Value data_of(const Uniform& d) {
  if (d.step == 0)
    return Map{{"uniform", List{d.low, d.high}}};
  return Map{{"quniform", List{d.low, d.high, d.step}}};
}

/// From a bound that is not included; low > high where nothing is left.
RandInt half_open_range(std::int64_t low, std::int64_t high, bool log) {
  if (high == INT64_MIN)
    return {INT64_MAX, INT64_MIN, 1, log};
  return {low, high - 1, 1, log};
}

std::optional<Domain> integers_from(const std::string& kind, const List& values) {
  for (const Value& value : values)
    if (!value.is_int())
      return std::nullopt;
  if (kind == "randint" && values.size() == 2)
    return randint(values[0].as_int(), values[1].as_int());
  if (kind == "lograndint" && values.size() == 2)
    return lograndint(values[0].as_int(), values[1].as_int());
  if (kind == "lograndint up to" && values.size() == 2)
    return RandInt{values[0].as_int(), values[1].as_int(), 1, true};
  if (kind == "qrandint" && values.size() == 3)
    return qrandint(values[0].as_int(), values[1].as_int(), values[2].as_int());
  return std::nullopt;
}

std::optional<Domain> reals_from(const std::string& kind, const List& values) {
  for (const Value& value : values)
    if (!value.is_number())
      return std::nullopt;
  if (kind == "uniform" && values.size() == 2)
    return uniform(values[0].as_double(), values[1].as_double());
  if (kind == "loguniform" && values.size() == 2)
    return loguniform(values[0].as_double(), values[1].as_double());
  if (kind == "quniform" && values.size() == 3 && values[2].as_double() != 0)
    return quniform(values[0].as_double(), values[1].as_double(), values[2].as_double());
  return std::nullopt;
}

}  // namespace

Domain randint(std::int64_t low, std::int64_t high) {
  return half_open_range(low, high, false);
}

Domain quniform(double low, double high, double q) {
  // 0 means "no step" in the struct; whoever passes it here is told.
  return Uniform{low, high, q == 0 ? std::numeric_limits<double>::quiet_NaN() : q};
}

Domain lograndint(std::int64_t low, std::int64_t high) {
  return half_open_range(low, high, true);
}

Status Domain::check() const {
  return std::visit(
      Overloaded{[&](const Uniform& d) { return check_reals(*this, d); },
                 [&](const LogUniform& d) -> Status {
                   TROUPE_RETURN_IF_ERROR(check_range(*this, d.low, d.high));
                   if (d.low <= 0)
                     return wrong(*this,
                                  "the lower bound of a logarithmic range must be above 0, "
                                  "such as 1e-6; use uniform for a range with 0 in it");
                   return ok();
                 },
                 [&](const RandInt& d) { return check_integers(*this, d); },
                 [&](const Choice& d) {
                   return check_values(*this, d.values, "choice({\"a\", \"b\"})",
                                       ": each is as likely");
                 },
                 [&](const Grid& d) {
                   return check_values(*this, d.values, "grid_search({1, 2, 3})",
                                       ", or raise num_samples to try everything more than once");
                 }},
      kind_);
}

Value Domain::sample(Random& random) const {
  return std::visit(
      Overloaded{[&](const Uniform& d) -> Value {
                   if (d.step == 0)
                     return random.uniform(d.low, d.high);
                   const auto steps = static_cast<std::uint64_t>(last_step(d));
                   return value_at(d, static_cast<double>(random.below(steps + 1)));
                 },
                 [&](const LogUniform& d) -> Value {
                   const double drawn = std::exp(random.uniform(std::log(d.low), std::log(d.high)));
                   return std::clamp(drawn, d.low, std::nextafter(d.high, d.low));
                 },
                 [&](const RandInt& d) -> Value { return draw(d, random); },
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
  return std::visit(
      Overloaded{
          [&](const Uniform& d) { return value.is_double() && is_on_grid(d, value.as_double()); },
          [&](const LogUniform& d) { return value.is_double() && is_within(d, value.as_double()); },
          [&](const RandInt& d) { return value.is_int() && is_on_grid(d, value.as_int()); },
          [&](const Choice& d) { return is_one_of(d.values); },
          [&](const Grid& d) { return is_one_of(d.values); }},
      kind_);
}

std::optional<std::uint64_t> Domain::last_index() const {
  using Last = std::optional<std::uint64_t>;
  return std::visit(
      Overloaded{[](const Uniform& d) -> Last {
                   if (d.step == 0)
                     return is_point(d) ? Last(0) : std::nullopt;
                   return static_cast<std::uint64_t>(last_step(d));
                 },
                 [](const LogUniform& d) -> Last { return is_point(d) ? Last(0) : std::nullopt; },
                 [](const RandInt& d) -> Last { return last_step(d); },
                 [](const Choice& d) -> Last { return d.values.size() - 1; },
                 [](const Grid& d) -> Last { return d.values.size() - 1; }},
      kind_);
}

Value Domain::at(std::uint64_t index) const {
  const auto element = [&](const List& values) {
    return values.at(static_cast<std::size_t>(index));
  };
  return std::visit(Overloaded{[&](const Uniform& d) -> Value {
                                 if (d.step != 0)
                                   return value_at(d, static_cast<double>(index));
                                 return only_value(d);
                               },
                               [](const LogUniform& d) -> Value { return only_value(d); },
                               [&](const RandInt& d) -> Value { return value_at(d, index); },
                               [&](const Choice& d) { return element(d.values); },
                               [&](const Grid& d) { return element(d.values); }},
                    kind_);
}

std::string Domain::to_string() const {
  return std::visit(Overloaded{[](const Uniform& d) { return text_of(d); },
                               [](const LogUniform& d) {
                                 return "loguniform(" + number(d.low) + ", " + number(d.high) + ')';
                               },
                               [](const RandInt& d) { return text_of(d); },
                               [](const Choice& d) { return list("choice", d.values); },
                               [](const Grid& d) { return list("grid_search", d.values); }},
                    kind_);
}

Value Domain::to_value() const {
  return std::visit(Overloaded{[](const Uniform& d) { return data_of(d); },
                               [](const LogUniform& d) -> Value {
                                 return Map{{"loguniform", List{d.low, d.high}}};
                               },
                               [](const RandInt& d) { return data_of(d); },
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
  if (auto integers = integers_from(kind, values))
    return *integers;
  if (auto reals = reals_from(kind, values))
    return *reals;
  return bad;
}

}  // namespace troupe::tune
