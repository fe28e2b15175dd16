#pragma once

#include <cstdint>
#include <filesystem>

/// What the machine gives to this process.
namespace troupe {

struct HostResources {
  double cpus = 1.0;          ///< logical CPUs this process may use, a whole number >= 1
  uint64_t memory_bytes = 0;  ///< it may use; 0: unknown
};

/// CPUs: those of the affinity mask (taskset, cpuset), not more than the CPU quota of the control
/// group (v1 or v2, any ancestor; rounded up to a whole CPU). Memory: that of the machine, not more
/// than the limit of the control group. What cannot be read does not limit.
/// `root` is where /proc and /sys are looked for; for tests.
HostResources detect_host_resources(const std::filesystem::path& root = "/");

}  // namespace troupe
