#include <troupe/serialization/metrics_size.hpp>
#include <troupe/tune/detail/result_limits.hpp>

namespace troupe::tune::detail {

std::optional<std::string> result_problem(const Reported& report) {
  const Status good = check_metrics(report.metrics);
  if (good)
    return std::nullopt;
  return "result " + std::to_string(report.iteration) + ": " + good.error().message();
}

}  // namespace troupe::tune::detail
