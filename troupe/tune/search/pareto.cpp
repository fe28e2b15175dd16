#include <troupe/base/error.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/serialization/objective.hpp>
#include <troupe/tune/search/detail/pareto.hpp>
#include <troupe/tune/search/pareto.hpp>

#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace troupe::tune {
namespace {

void require_objectives(const std::vector<Objective>& objectives) {
  if (objectives.empty())
    throw Exception(ErrorCode::invalid_argument,
                    "a Pareto front needs objectives: name at least one metric and its mode");
}

/// Its losses, or nothing when it is to be left out.
std::optional<detail::Losses> losses_of(const Metrics& metrics,
                                        const std::vector<Objective>& objectives,
                                        const std::vector<std::string>& constraints) {
  if (constraint_violation(metrics, constraints) > 0)
    return std::nullopt;
  detail::Losses losses;
  for (const Objective& objective : objectives) {
    const auto value = metric_number(metrics, objective.metric);
    if (!value || std::isnan(*value))
      return std::nullopt;
    losses.push_back(-score_of(*value, objective.mode));
  }
  return losses;
}

}  // namespace

std::vector<std::size_t> pareto_front(const std::vector<Metrics>& results,
                                      const std::vector<Objective>& objectives,
                                      const std::vector<std::string>& constraints) {
  require_objectives(objectives);
  std::vector<detail::Losses> table;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (auto losses = losses_of(results[i], objectives, constraints)) {
      table.push_back(std::move(*losses));
      rows.push_back(i);
    }
  std::vector<std::size_t> front;
  for (const std::size_t i : detail::pareto_front(table))
    front.push_back(rows[i]);
  return front;
}

double hypervolume(const std::vector<Metrics>& results, const std::vector<Objective>& objectives,
                   const std::vector<double>& reference,
                   const std::vector<std::string>& constraints) {
  require_objectives(objectives);
  if (reference.size() != objectives.size())
    throw Exception(ErrorCode::invalid_argument,
                    "a hypervolume needs one reference value for each of the " +
                        std::to_string(objectives.size()) + " objectives, not " +
                        std::to_string(reference.size()));
  detail::Losses limits;
  for (std::size_t m = 0; m < reference.size(); ++m) {
    if (!std::isfinite(reference[m]))
      throw Exception(ErrorCode::invalid_argument,
                      "the reference value of '" + objectives[m].metric + "' is " +
                          to_json(Value(reference[m])) + "; a hypervolume needs a finite number");
    limits.push_back(-score_of(reference[m], objectives[m].mode));
  }
  std::vector<detail::Losses> table;
  for (const Metrics& metrics : results)
    if (auto losses = losses_of(metrics, objectives, constraints))
      table.push_back(std::move(*losses));
  return detail::hypervolume(table, limits);
}

}  // namespace troupe::tune
