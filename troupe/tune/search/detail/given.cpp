#include <troupe/base/detail/edit_distance.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/given.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace troupe::tune::detail {
namespace {

Error refused(const std::string& what) {
  return Error(ErrorCode::invalid_argument, what);
}

/// Each of these is the name of a metric, and comes once.
Status check_names(const std::vector<std::string>& names, const std::string& setting,
                   const std::string& kind) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty() || name.size() > limits::max_key_bytes)
      return refused(setting + ": the name of a metric is empty or too long; it has up to " +
                     std::to_string(limits::max_key_bytes) + " bytes");
    if (!seen.insert(name).second)
      return refused(setting + ": the metric '" + name + "' is " + kind +
                     " twice; name each of them once");
  }
  return ok();
}

Status check_rules(const ParamSpace& space, const Config& config) {
  if (const auto rule = space.broken_rule(config))
    return refused("it breaks the rule '" + *rule + "' of param_space");
  return ok();
}

/// What a searcher could learn nothing from: it tells nothing, and not that it failed either.
Status check_known(const KnownResult& known, const std::vector<Objective>& objectives,
                   const std::vector<std::string>& constraints) {
  if (known.ending == Ending::failed || known.metrics.empty())
    return ok();
  return check_result(known.metrics, objectives, constraints);
}

}  // namespace

Status check_objectives(const std::vector<Objective>& objectives, const std::string& setting) {
  std::vector<std::string> names;
  for (const Objective& objective : objectives) {
    if (objective.mode > enum_last(objective.mode))
      return refused(setting + ": the mode of the metric '" + objective.metric + "' is " +
                     std::to_string(static_cast<int>(objective.mode)) +
                     "; it must be Mode::min or Mode::max");
    names.push_back(objective.metric);
  }
  return check_names(names, setting, "an objective");
}

Status check_constraints(const std::vector<std::string>& constraints, const std::string& setting) {
  return check_names(constraints, setting, "a constraint");
}

Status check_result(const Metrics& metrics, const std::vector<Objective>& objectives,
                    const std::vector<std::string>& constraints) {
  const auto check = [&](const std::string& name, const std::string& kind) -> Status {
    if (const auto number = metric_number(metrics, name); !number)
      return refused(kind + ": " + number.error().message());
    return ok();
  };
  for (const Objective& objective : objectives)
    TROUPE_RETURN_IF_ERROR(check(objective.metric, "objective"));
  for (const std::string& constraint : constraints)
    TROUPE_RETURN_IF_ERROR(check(constraint, "constraint"));
  return ok();
}

Result<Config> adopt_point(const Design& design, Config point) {
  for (const auto& [path, value] : point.flatten()) {
    const SpaceEntry* entry = design.space().find(path);
    if (entry == nullptr) {
      std::vector<std::string> names;
      for (const ParamSpace::Leaf& leaf : design.space().leaves())
        names.push_back(leaf.path);
      return refused("param_space has no parameter '" + path + "'" +
                     troupe::detail::did_you_mean(path, names));
    }
    auto adopted = entry->adopt(value);
    if (!adopted)
      return std::move(adopted).error().with_context(path + " = " + to_json(value));
    point.set(path, adopted.take());
  }
  TROUPE_RETURN_IF_ERROR(design.check_conditions(point));
  return point;
}

Result<std::vector<Config>> adopt_points(const Design& design, std::vector<Config> points,
                                         const std::string& setting) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    auto adopted = adopt_point(design, std::move(points[i]));
    if (!adopted)
      return std::move(adopted).error().with_context(setting + '[' + std::to_string(i) + ']');
    points[i] = adopted.take();
  }
  return points;
}

Result<Config> adopt_whole(const Design& design, Config config) {
  TROUPE_TRY(given, adopt_point(design, std::move(config)));
  TROUPE_TRY(whole, design.adopt(given));
  TROUPE_RETURN_IF_ERROR(check_rules(design.space(), whole));
  return whole;
}

Result<Config> adopt_suggested(const Design& design, const Config& config) {
  TROUPE_TRY(adopted, design.adopt(config));
  const auto varies = [&](const std::string& path) {
    return std::any_of(design.axes().begin(), design.axes().end(),
                       [&](const Axis& axis) { return axis.path() == path; });
  };
  const Map known = adopted.flatten();
  for (const auto& [path, value] : config.flatten()) {
    const Value* expected = known.find_key(path);
    if (expected == nullptr)
      return refused("the configuration has an entry '" + path +
                     "' that the space has not, or not with its other values: leave it out");
    if (*expected != value && !varies(path))
      return refused("'" + path + "' is " + to_json(value) + ", and in the space the constant " +
                     to_json(*expected) + ": leave it out");
  }
  return adopted;
}

std::optional<std::string> adopt_known_results(const Design& design,
                                               const std::vector<Objective>& objectives,
                                               const std::vector<std::string>& constraints,
                                               std::vector<KnownResult>& results) {
  std::vector<KnownResult> fitting;
  std::string first;
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto config = design.adopt(results[i].config);
    Status status = config ? check_rules(design.space(), *config) : Status(config.error());
    if (status)
      status = check_known(results[i], objectives, constraints);
    if (status) {
      results[i].config = config.take();
      fitting.push_back(std::move(results[i]));
    } else if (first.empty()) {
      first = "known_results[" + std::to_string(i) + "]: " + status.error().message();
    }
  }
  const std::size_t all = results.size();
  results = std::move(fitting);
  if (results.size() == all)
    return std::nullopt;
  return std::to_string(all - results.size()) + " of " + std::to_string(all) +
         " known results do not fit the search, and nothing is learned from them; the first is " +
         first;
}

}  // namespace troupe::tune::detail
