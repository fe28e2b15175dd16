#pragma once

#include <troupe/base/clock.hpp>
#include <troupe/base/ids.hpp>

#include <cstdint>

namespace troupe::tune::detail {

/// How long a trial waits for its next worker after its `failures`-th infrastructure failure, from
/// 1 on: about 50 ms, twice as long each time, at most about 5 s. Whatever ends workers (a host
/// that is shutting down, a full process table) gets time to pass, and the tries are spread.
[[nodiscard]] Duration restart_pause(std::uint64_t seed, TrialId trial, std::uint32_t failures);

}  // namespace troupe::tune::detail
