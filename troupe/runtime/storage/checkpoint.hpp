#pragma once

#include <cstdint>
#include <string>

namespace troupe {

/// Names one committed checkpoint of a trial. The files lie in `<trial_dir>/<directory>`; the
/// checkpoint exists if and only if its manifest is there and verifies.
struct CheckpointRef {
  uint32_t number = 0;      ///< counts up within a trial; never used twice
  uint64_t iteration = 0;   ///< training_iteration at which it was taken
  double time_total_s = 0;  ///< training time up to it, in seconds
  uint64_t bytes = 0;       ///< sum over its files
  std::string directory{};  ///< "checkpoint_000003"
  std::string digest{};     ///< SHA-256 of the manifest, hex

  friend bool operator==(const CheckpointRef&, const CheckpointRef&) = default;
};

}  // namespace troupe
