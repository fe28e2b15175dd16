#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

/// What a trial asks for and what a host has.
namespace troupe {

/// Resources of one trial. Equality decides whether a worker can be reused for another trial.
struct ResourceRequest {
  double cpus = 1.0;          ///< logical CPUs, >= 0, fractions allowed
  uint64_t memory_bytes = 0;  ///< limit for a worker process; 0: no limit

  friend bool operator==(const ResourceRequest&, const ResourceRequest&) = default;
};

/// "2 CPUs", "0.5 CPUs and 512 MiB of memory".
std::string to_string(const ResourceRequest& request);

/// "512 MiB", "1.5 GiB", "100 bytes".
std::string format_bytes(uint64_t bytes);

}  // namespace troupe
