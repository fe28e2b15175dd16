#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/detail/given.hpp>

#include <set>
#include <utility>

namespace troupe::tune::detail {

Status check_objectives(const std::vector<Objective>& objectives, const std::string& setting) {
  std::set<std::string> metrics;
  for (const Objective& objective : objectives)
    if (!metrics.insert(objective.metric).second)
      return Error(ErrorCode::invalid_argument,
                   setting + ": the metric '" + objective.metric +
                       "' is an objective twice; name each of them once, with one mode");
  return ok();
}

Result<Config> adopt_point(const ParamSpace& space, Config point) {
  for (const auto& [path, value] : point.flatten()) {
    const SpaceEntry* entry = space.find(path);
    if (entry == nullptr)
      return Error(ErrorCode::invalid_argument, "param_space has no parameter '" + path + "'");
    auto adopted = entry->adopt(value);
    if (!adopted)
      return std::move(adopted).error().with_context(path + " = " + to_json(value));
    point.set(path, adopted.take());
  }
  return point;
}

Result<std::vector<Config>> adopt_points(const ParamSpace& space, std::vector<Config> points,
                                         const std::string& setting) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    auto adopted = adopt_point(space, std::move(points[i]));
    if (!adopted)
      return std::move(adopted).error().with_context(setting + '[' + std::to_string(i) + ']');
    points[i] = adopted.take();
  }
  return points;
}

std::optional<std::string> adopt_known_results(const ParamSpace& space,
                                               std::vector<KnownResult>& results) {
  const Design design(space);
  std::vector<KnownResult> fitting;
  std::string first;
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto config = design.adopt(results[i].config);
    if (config) {
      results[i].config = config.take();
      fitting.push_back(std::move(results[i]));
    } else if (first.empty()) {
      first = "known_results[" + std::to_string(i) + "]: " + config.error().message();
    }
  }
  const std::size_t all = results.size();
  results = std::move(fitting);
  if (results.size() == all)
    return std::nullopt;
  return std::to_string(all - results.size()) + " of " + std::to_string(all) +
         " known results do not fit param_space, and nothing is learned from them; the first is " +
         first;
}

}  // namespace troupe::tune::detail
