#include <troupe/serialization/json.hpp>
#include <troupe/serialization/objective.hpp>
#include <troupe/tune/stop/stop.hpp>

#include <chrono>
#include <cmath>

namespace troupe::tune {
namespace {

std::string number(double value) {
  if (std::isfinite(value) && value == std::trunc(value) && std::abs(value) < 1e15)
    return std::to_string(static_cast<std::int64_t>(value));
  if (!std::isfinite(value))
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  return to_json(Value(value));
}

}  // namespace

std::string_view to_string(Comparison comparison) noexcept {
  switch (comparison) {
    case Comparison::less:
      return "<";
    case Comparison::less_equal:
      return "<=";
    case Comparison::greater:
      return ">";
    case Comparison::greater_equal:
      return ">=";
  }
  return "?";
}

bool StopCriterion::satisfied_by(double value) const noexcept {
  switch (comparison) {
    case Comparison::less:
      return value < threshold;
    case Comparison::less_equal:
      return value <= threshold;
    case Comparison::greater:
      return value > threshold;
    case Comparison::greater_equal:
      return value >= threshold;
  }
  return false;
}

std::string StopCriterion::to_string() const {
  return metric + ' ' + std::string(tune::to_string(comparison)) + ' ' + number(threshold);
}

StopCriterion max_iterations(std::uint64_t count) {
  return metric("training_iteration") >= static_cast<double>(count);
}

StopCriterion max_time(Duration time) {
  return metric("time_total_s") >= std::chrono::duration<double>(time).count();
}

Status StopCriteria::check() const {
  const auto wrong = [](const StopCriterion& criterion, const std::string& what) {
    return Error(ErrorCode::invalid_argument,
                 "RunConfig.stop, criterion '" + criterion.to_string() + "': " + what);
  };
  for (const StopCriterion& criterion : any_of) {
    if (criterion.metric.empty())
      return wrong(criterion, "the name of the metric is empty");
    if (std::isnan(criterion.threshold))
      return wrong(criterion, "nothing compares with NaN; give a number");
    const bool counts_up =
        criterion.metric == "training_iteration" || criterion.metric == "time_total_s";
    if (!counts_up)
      continue;
    if (criterion.comparison == Comparison::less || criterion.comparison == Comparison::less_equal)
      return wrong(criterion, "it only grows, so this holds from the first result on; use >=");
    if (criterion.threshold <= 0)
      return wrong(criterion, "the limit must be above 0");
  }
  return ok();
}

Result<std::optional<StopCriterion>> StopCriteria::match(const Metrics& metrics) const {
  std::optional<StopCriterion> found;
  for (const StopCriterion& criterion : any_of) {
    auto value = metric_number(metrics, criterion.metric);
    if (!value)
      return std::move(value).error().with_context("stop criterion '" + criterion.to_string() +
                                                   "'");
    if (!found && criterion.satisfied_by(*value))
      found = criterion;
  }
  return found;
}

}  // namespace troupe::tune
