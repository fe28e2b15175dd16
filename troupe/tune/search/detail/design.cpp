#include <troupe/base/crc32c.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/design.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace troupe::tune::detail {
namespace {

constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();
/// Draws for points to evaluate; other counters than those of `sample` in use.
constexpr std::uint32_t point_counters = 2'000'000;
constexpr std::uint32_t max_point_draws = 10'000;
/// Beyond, doubles can not tell neighbours apart.
constexpr std::uint64_t max_count = std::uint64_t{1} << 53;

double clamp_unit(double coordinate) {
  return std::clamp(coordinate, 0.0, 1.0);
}

const List* listed(const Domain& domain) {
  if (const auto* choice = std::get_if<Choice>(&domain.kind()))
    return &choice->values;
  if (const auto* grid = std::get_if<Grid>(&domain.kind()))
    return &grid->values;
  return nullptr;
}

std::uint64_t distance(std::int64_t low, std::int64_t high) {
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

}  // namespace

// -- Axis ---------------------------------------------------------------------------------------

Axis::Axis(std::string path, Domain domain) : path_(std::move(path)), domain_(std::move(domain)) {
  if (const List* values = listed(domain_)) {
    categorical_ = true;
    values_ = *values;
    count_ = values_.size();
    return;
  }
  const auto last = domain_.last_index();
  if (last && *last < max_count)
    count_ = *last + 1;
  if (const auto* log = std::get_if<LogUniform>(&domain_.kind())) {
    log_ = true;
    low_ = std::log(log->low);
    width_ = std::log(log->high) - low_;
  } else if (const auto* integers = std::get_if<RandInt>(&domain_.kind())) {
    log_ = integers->log;
    if (log_) {
      low_ = std::log(static_cast<double>(integers->low) - 0.5);
      width_ = std::log(static_cast<double>(integers->high) + 0.5) - low_;
    }
  }
}

std::optional<double> Axis::encode(const Value& value) const {
  if (categorical_) {
    const auto found = std::find(values_.begin(), values_.end(), value);
    if (found == values_.end())
      return std::nullopt;
    return static_cast<double>(found - values_.begin());
  }
  if (!domain_.contains(value)) {
    const auto adopted = domain_.adopt(value);
    return adopted ? encode(*adopted) : std::nullopt;
  }
  if (log_)
    return clamp_unit((std::log(value.as_double()) - low_) / width_);
  if (const auto* integers = std::get_if<RandInt>(&domain_.kind())) {
    const std::uint64_t index =
        distance(integers->low, value.as_int()) / static_cast<std::uint64_t>(integers->step);
    return unit_of(index);
  }
  const Uniform& reals = std::get<Uniform>(domain_.kind());
  if (reals.step == 0)
    return clamp_unit((value.as_double() - reals.low) / (reals.high - reals.low));
  return unit_of(
      static_cast<std::uint64_t>(std::floor((value.as_double() - reals.low) / reals.step + 0.5)));
}

double Axis::unit_of(std::uint64_t index) const {
  const double all = static_cast<double>(*domain_.last_index()) + 1;
  return (static_cast<double>(index) + 0.5) / all;
}

Value Axis::decode(double coordinate) const {
  if (categorical_)
    return values_[static_cast<std::size_t>(index(coordinate))];
  const double u = clamp_unit(coordinate);
  if (const auto* integers = std::get_if<RandInt>(&domain_.kind())) {
    if (!log_ && count_ == 0) {
      const auto last = static_cast<long double>(*domain_.last_index());
      return domain_.at(static_cast<std::uint64_t>(std::min(last, std::floor(u * (last + 1)))));
    }
    if (count_ != 0)
      return domain_.at(index(u));
    const double value = std::floor(std::exp(low_ + u * width_) + 0.5);
    if (value >= static_cast<double>(integers->high))
      return integers->high;
    return std::max(static_cast<std::int64_t>(value), integers->low);
  }
  if (count_ != 0)
    return domain_.at(index(u));
  if (const auto* log = std::get_if<LogUniform>(&domain_.kind()))
    return std::clamp(std::exp(low_ + u * width_), log->low, std::nextafter(log->high, log->low));
  const Uniform& reals = std::get<Uniform>(domain_.kind());
  return std::clamp(reals.low + u * (reals.high - reals.low), reals.low,
                    std::nextafter(reals.high, reals.low));
}

double Axis::snap(double coordinate) const {
  if (categorical_)
    return static_cast<double>(index(coordinate));
  if (count_ == 0)
    return clamp_unit(coordinate);
  return this->coordinate(index(coordinate));
}

std::pair<double, double> Axis::cell(double coordinate) const {
  const std::uint64_t at = index(coordinate);
  if (log_) {
    const double value = grid_value(at);
    return {clamp_unit((std::log(value - 0.5) - low_) / width_),
            clamp_unit((std::log(value + 0.5) - low_) / width_)};
  }
  const auto all = static_cast<double>(count_);
  return {static_cast<double>(at) / all, static_cast<double>(at + 1) / all};
}

double Axis::coordinate(std::uint64_t index) const {
  if (categorical_)
    return static_cast<double>(index);
  if (log_)
    return clamp_unit((std::log(grid_value(index)) - low_) / width_);
  return (static_cast<double>(index) + 0.5) / static_cast<double>(count_);
}

std::uint64_t Axis::index(double coordinate) const {
  const auto last = static_cast<double>(count_ - 1);
  double index = 0;
  if (categorical_)
    index = std::floor(coordinate + 0.5);
  else if (log_)
    index = std::floor(std::exp(low_ + clamp_unit(coordinate) * width_) + 0.5) - grid_value(0);
  else
    index = std::floor(clamp_unit(coordinate) * static_cast<double>(count_));
  return static_cast<std::uint64_t>(std::clamp(index, 0.0, last));
}

double Axis::grid_value(std::uint64_t index) const {
  return domain_.at(index).as_double();
}

double Axis::from_uniform(double u) const {
  if (!categorical_)
    return u;
  const auto all = static_cast<double>(count_);
  return std::min(std::floor(u * all), all - 1);
}

// -- Design -------------------------------------------------------------------------------------

Design::Design(const ParamSpace& space) : space_(space) {
  std::map<std::string, ParamSpace::Leaf> waiting;
  for (ParamSpace::Leaf& leaf : space_.leaves()) {
    std::string path = leaf.path;
    waiting.emplace(std::move(path), std::move(leaf));
  }
  // Parents before those that depend on them, otherwise by path. `check` made sure that it ends.
  while (!waiting.empty())
    for (auto it = waiting.begin(); it != waiting.end();) {
      const auto& conditions = it->second.conditions;
      const bool ready =
          std::none_of(conditions.begin(), conditions.end(),
                       [&](const Condition& c) { return waiting.contains(c.parent); });
      if (ready) {
        place(it->second);
        it = waiting.erase(it);
      } else {
        ++it;
      }
    }
  cells_ = 1;
  for (const Axis& axis : axes_) {
    std::uint64_t product = 0;
    if (!cells_ || axis.continuous() || __builtin_mul_overflow(*cells_, axis.count(), &product) ||
        product > INT64_MAX)
      cells_ = std::nullopt;
    else
      cells_ = product;
  }
}

void Design::place(const ParamSpace::Leaf& leaf) {
  std::vector<Gate> gates;
  for (const Condition& condition : leaf.conditions) {
    const auto parent = std::find_if(axes_.begin(), axes_.end(), [&](const Axis& axis) {
      return axis.path() == condition.parent;
    });
    if (parent != axes_.end()) {
      Gate gate{static_cast<std::size_t>(parent - axes_.begin()), {}};
      for (const Value& value : condition.values)
        if (const auto coordinate = parent->encode(value))
          gate.coordinates.push_back(*coordinate);
      const std::set<double> values(gate.coordinates.begin(), gate.coordinates.end());
      const bool always = gates_[gate.axis].empty() && !optional_[gate.axis];
      if (!always || values.empty() || values.size() != parent->count())  // else never closed
        gates.push_back(std::move(gate));
      continue;
    }
    // A parent with a single value, which exists where its own gates let it.
    const auto fixed = std::find_if(fixed_.begin(), fixed_.end(), [&](const Fixed& candidate) {
      return candidate.path == condition.parent;
    });
    const auto is_meant = [&](const Value& given) {
      return given == fixed->value ||
             (fixed->domain && fixed->domain->adopt(given).value_or(Value()) == fixed->value);
    };
    if (fixed == fixed_.end() ||
        std::none_of(condition.values.begin(), condition.values.end(), is_meant))
      return;  // never exists
    gates.insert(gates.end(), fixed->gates.begin(), fixed->gates.end());
  }
  conditional_ = conditional_ || !gates.empty();
  const Domain* domain = leaf.entry->domain();
  if (domain != nullptr && domain->last_index() != 0) {
    axes_.emplace_back(leaf.path, *domain);
    gates_.push_back(std::move(gates));
    optional_.push_back(leaf.entry->optional());
    conditional_ = conditional_ || leaf.entry->optional();
    return;
  }
  Value value = domain != nullptr ? domain->at(0) : *leaf.entry->constant();
  if (gates.empty())
    constants_.set(leaf.path, value);
  fixed_.push_back({leaf.path, std::move(value), std::move(gates),
                    domain != nullptr ? std::optional(*domain) : std::nullopt});
}

bool Design::open(const std::vector<Gate>& gates, const Point& point) {
  return std::all_of(gates.begin(), gates.end(), [&](const Gate& gate) {
    return std::find(gate.coordinates.begin(), gate.coordinates.end(), point[gate.axis]) !=
           gate.coordinates.end();
  });
}

bool Design::discrete() const {
  return std::none_of(axes_.begin(), axes_.end(),
                      [](const Axis& axis) { return axis.continuous(); });
}

std::optional<Point> Design::encode(const Config& config) const {
  Point point(axes_.size(), nowhere);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (!open(gates_[i], point))
      continue;
    const Value* value = config.find(axes_[i].path());
    if (value == nullptr && optional_[i])
      continue;
    const auto coordinate = value != nullptr ? axes_[i].encode(*value) : std::nullopt;
    if (!coordinate)
      return std::nullopt;
    point[i] = *coordinate;
  }
  return point;
}

Point Design::canonical(Point point) const {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (!open(gates_[i], point) || (optional_[i] && !exists(point[i])))
      point[i] = nowhere;
    else
      point[i] = axes_[i].snap(exists(point[i]) ? point[i] : 0.0);
  }
  return point;
}

Config Design::decode(const Point& point) const {
  Config config = constants_;
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (exists(point[i]))
      config.set(axes_[i].path(), axes_[i].decode(point[i]));
  add_fixed(point, config);
  return config;
}

void Design::add_fixed(const Point& point, Config& config) const {
  for (const Fixed& fixed : fixed_)
    if (!fixed.gates.empty() && open(fixed.gates, point))
      config.set(fixed.path, fixed.value);
}

bool Design::allowed(const Point& point) const {
  return !constrained() || allowed(decode(point));
}

template <class ValueOf>
Config Design::filled(ValueOf value_of) const {
  Config config = constants_;
  Point point(axes_.size(), nowhere);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (!open(gates_[i], point))
      continue;
    std::optional<Value> value = value_of(i);
    if (!value)
      continue;
    point[i] = axes_[i].encode(*value).value_or(nowhere);
    config.set(axes_[i].path(), *std::move(value));
  }
  add_fixed(point, config);
  return config;
}

Config Design::complete(const Config& given, std::uint64_t seed, std::uint64_t stream,
                        std::uint32_t counter) const {
  return filled([&](std::size_t i) -> std::optional<Value> {
    const Axis& axis = axes_[i];
    if (const Value* value = given.find(axis.path()))
      return axis.domain().adopt(*value).value_or(*value);
    Random random(seed, stream, RandomPurpose::searcher, crc32c(axis.path(), counter));
    return axis.sample(random);
  });
}

Result<Config> Design::complete_point(const Config& given, std::uint64_t seed,
                                      std::uint64_t index) const {
  if (!constrained())
    return complete(given, seed, index, point_counters);
  Config alone = constants_;
  for (const Axis& axis : axes_)
    if (const Value* value = given.find(axis.path()))
      alone.set(axis.path(), axis.domain().adopt(*value).value_or(*value));
  const ParamSpace rules = space_.without_rules_broken_by(alone);
  Config config;
  for (std::uint32_t i = 0; i < max_point_draws; ++i) {
    config = complete(given, seed, index, point_counters + i);
    if (rules.allows(config))
      return config;
  }
  return Error(ErrorCode::invalid_argument,
               std::to_string(max_point_draws) +
                   " draws of what it leaves out broke a rule of param_space, the last one '" +
                   rules.broken_rule(config).value_or("") + "'; give these parameters, too");
}

Status Design::check_gates(const std::string& path, const std::vector<Gate>& gates,
                           const Config& given, const Point& point) const {
  if (given.find(path) == nullptr)
    return ok();
  for (const Gate& gate : gates) {
    const double coordinate = point[gate.axis];
    if (std::count(gate.coordinates.begin(), gate.coordinates.end(), coordinate) > 0)
      continue;
    const Axis& parent = axes_[gate.axis];
    List values;
    for (const double one : gate.coordinates)
      values.push_back(parent.decode(one));
    const Value* value = given.find(parent.path());
    return Error(
        ErrorCode::invalid_argument,
        "'" + path + "' exists only where '" + parent.path() + "' is " +
            (values.size() == 1 ? to_json(values[0]) : "one of " + to_json(values)) +
            (value != nullptr ? ", and it is " + to_json(*value) + ": leave '" + path + "' out"
                              : ", which is not given: give '" + parent.path() + "', too"));
  }
  return ok();
}

Status Design::check_conditions(const Config& given) const {
  Point point(axes_.size(), nowhere);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    TROUPE_RETURN_IF_ERROR(check_gates(axes_[i].path(), gates_[i], given, point));
    if (const Value* value = given.find(axes_[i].path()))
      point[i] = axes_[i].encode(*value).value_or(nowhere);
  }
  for (const Fixed& fixed : fixed_)
    TROUPE_RETURN_IF_ERROR(check_gates(fixed.path, fixed.gates, given, point));
  return ok();
}

Result<Config> Design::adopt(const Config& given) const {
  Status status;  // the first error
  Config config = filled([&](std::size_t i) -> std::optional<Value> {
    const Axis& axis = axes_[i];
    const Value* value = given.find(axis.path());
    if (!status || (value == nullptr && optional_[i]))
      return std::nullopt;
    if (value == nullptr) {
      status = Error(ErrorCode::invalid_argument, "'" + axis.path() + "' is missing");
      return std::nullopt;
    }
    auto adopted = axis.domain().adopt(*value);
    if (adopted)
      return adopted.take();
    status = std::move(adopted).error().with_context(axis.path() + " = " + to_json(*value));
    return std::nullopt;
  });
  TROUPE_RETURN_IF_ERROR(status);
  return config;
}

bool Design::possible(const Point& point) const {
  if (point.size() != axes_.size())
    return false;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const double x = point[i];
    const double last = axes_[i].categorical() ? static_cast<double>(axes_[i].count() - 1) : 1;
    const bool there = open(i, point);
    if (exists(x) ? !there || !(x >= 0 && x <= last) : there && !optional_[i])
      return false;
    if (exists(x) && axes_[i].categorical() && x != std::floor(x))
      return false;
  }
  return true;
}

Point Design::cell(std::uint64_t index) const {
  Point point(axes_.size());
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    point[i] = axes_[i].coordinate(index % axes_[i].count());
    index /= axes_[i].count();
  }
  return canonical(std::move(point));
}

}  // namespace troupe::tune::detail
