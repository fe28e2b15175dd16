#pragma once

#include <cstdint>

/// What a trial asks for and what a host has.
namespace troupe {

/// Resources of one trial. Equality decides whether a worker can be reused for another trial.
struct ResourceRequest {
  double cpus = 1.0;          ///< logical CPUs, >= 0, fractions allowed
  uint64_t memory_bytes = 0;  ///< limit for a worker process; 0: no limit

  friend bool operator==(const ResourceRequest&, const ResourceRequest&) = default;
};

}  // namespace troupe
