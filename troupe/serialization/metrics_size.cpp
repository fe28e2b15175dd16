#include <troupe/serialization/metrics_size.hpp>
#include <troupe/serialization/value.hpp>

#include <string>

namespace troupe {
namespace {

std::size_t value_bytes(const Value& value) {
  std::size_t bytes = 16;
  if (const auto* text = value.get_if<std::string>())
    bytes += text->size();
  if (const auto* map = value.get_if<Map>())
    bytes += approximate_bytes(*map);
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

Status check_metrics(const Map& metrics) {
  // Depth comes first: the count recurses.
  TROUPE_RETURN_IF_ERROR(check_limits(metrics).with_context("the reported metrics"));
  const std::size_t bytes = approximate_bytes(metrics);
  if (bytes <= max_metrics_bytes)
    return ok();
  return Error(ErrorCode::resource_exhausted,
               "the reported metrics have " + std::to_string(bytes) + " bytes, at most " +
                   std::to_string(max_metrics_bytes) +
                   " are possible: write large data to a checkpoint or to the trial's folder");
}

}  // namespace troupe
