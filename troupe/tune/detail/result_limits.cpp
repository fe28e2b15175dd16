#include <troupe/tune/detail/result_limits.hpp>

namespace troupe::tune::detail {
namespace {

std::size_t value_bytes(const Value& value) {
  std::size_t bytes = 16;
  if (const auto* text = value.get_if<std::string>())
    bytes += text->size();
  if (const auto* map = value.get_if<Map>())
    bytes += detail::approximate_bytes(*map);
  if (const auto* list = value.get_if<List>())
    for (const Value& element : *list)
      bytes += value_bytes(element);
  return bytes;
}

}  // namespace

std::size_t approximate_bytes(const Map& map) {
  std::size_t bytes = 16;
  for (const auto& [key, value] : map)
    bytes += key.size() + value_bytes(value);
  return bytes;
}

std::optional<std::string> result_problem(const Reported& report) {
  const std::string which = "result " + std::to_string(report.iteration) + ": ";
  // Depth comes first: the others recurse.
  if (const Status limits = check_limits(report.metrics); !limits)
    return which + limits.error().message();
  const std::size_t bytes = approximate_bytes(report.metrics);
  if (bytes > max_result_bytes)
    return which + "its metrics take " + std::to_string(bytes >> 20) +
           " MiB, but at most 4 MiB are stored; put large data into a checkpoint or a file of the "
           "trial's folder";
  return std::nullopt;
}

}  // namespace troupe::tune::detail
