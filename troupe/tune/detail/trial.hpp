#pragma once

#include <troupe/tune/records.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace troupe::tune::detail {

/// Where a RUNNING trial stands between two events.
enum class Phase : std::uint8_t {
  running,
  stopping,  ///< had its last result; TERMINATED when it has let go
  pausing,   ///< PAUSED when it has let go
  halting,   ///< let go in the middle; stays unfinished
};

constexpr Phase enum_last(Phase) noexcept {
  return Phase::halting;
}

/// A checkpoint that the worker was asked for and has not reported yet.
struct AwaitedSave {
  std::uint32_t number = 0;
  std::optional<double> score;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& number& score;
  }
};

/// A trial that is not over. `row.state` is the truth; the row that is written says PENDING for a
/// RUNNING trial without a worker.
struct Trial {
  TrialRow row;
  Phase phase = Phase::running;
  WorkerId worker;          ///< 0: none
  bool fresh_only = false;  ///< must not get a used worker: one refused it
  bool holds_resources = false;
  bool revived = false;  ///< taken up for the run that is about to begin
  std::optional<AwaitedSave> saving;
  std::vector<CheckpointRow> checkpoints;  ///< committed ones, in the order of commitment
  std::optional<std::uint32_t> slot;       ///< in the turn order
  std::uint64_t order = 0;                 ///< in the queue it waits in

  Duration rests_until{0};  ///< run time before which it gets no worker
  bool leftover = false;    ///< a checkpoint nobody knows of may lie under the next number

  std::uint64_t last_message = 0;  ///< of this attempt; not part of the state

  [[nodiscard]] bool has_worker() const { return worker.value != 0; }

  template <class Archive>
  void serialize(Archive& archive, unsigned version) {
    row.serialize(archive, version);
    archive& phase;
    if (version < 3)
      archive& row.ending;
    archive& worker& fresh_only& holds_resources& revived& saving& checkpoints& slot& order;
    if (version >= 2)
      archive& rests_until& leftover;
  }
};

}  // namespace troupe::tune::detail
