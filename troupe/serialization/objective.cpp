#include <troupe/base/detail/edit_distance.hpp>
#include <troupe/serialization/objective.hpp>
#include <troupe/serialization/value.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace troupe {

namespace {

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  if (names.empty())
    return "nothing";
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i)
    text += (i > 0 ? ", " : "") + names[i];
  return names.size() > most ? text + ", ..." : text;
}

}  // namespace

Result<double> metric_number(const Metrics& metrics, std::string_view path) {
  const Value* value = metrics.find(path);
  if (value == nullptr) {
    const auto names = metrics.flatten().keys();
    std::string hint = detail::did_you_mean(path, names);
    if (hint.empty())
      hint = "; reported: " + listed(names);
    return Error(ErrorCode::not_found,
                 "the metric '" + std::string(path) + "' is not among the reported metrics" + hint);
  }
  if (value->is_number())
    return value->as_double();
  if (value->is_bool())
    return value->as_bool() ? 1.0 : 0.0;
  if (value->is_null())
    return std::numeric_limits<double>::quiet_NaN();
  return Error(ErrorCode::invalid_argument, "the metric '" + std::string(path) +
                                                "' must be a number, but a " +
                                                std::string(value->type_name()) + " was reported");
}

double constraint_violation(const Metrics& metrics, const std::vector<std::string>& constraints) {
  double sum = 0;
  for (const std::string& path : constraints) {
    const auto value = metric_number(metrics, path);
    if (!value || std::isnan(*value))
      return std::numeric_limits<double>::infinity();
    sum += std::max(0.0, *value);
  }
  return sum;
}

}  // namespace troupe
