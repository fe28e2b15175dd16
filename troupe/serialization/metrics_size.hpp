#pragma once

#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>

#include <cstddef>

namespace troupe {

/// The largest result, about as counted in memory: with room for the decision that is recorded with
/// it and for the frame around it on a wire.
inline constexpr std::size_t max_metrics_bytes = std::size_t{4} << 20;

/// About how many bytes a map takes. It must be within the limits of depth (`check_limits`).
[[nodiscard]] std::size_t approximate_bytes(const Map& map);

/// Can these metrics be a result? resource_exhausted or invalid_argument, with what to do instead.
[[nodiscard]] Status check_metrics(const Map& metrics);

}  // namespace troupe
