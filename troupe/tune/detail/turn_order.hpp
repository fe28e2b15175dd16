#pragma once

#include <troupe/base/ids.hpp>

#include <cstdint>
#include <map>
#include <optional>

namespace troupe::tune::detail {

/// Who may speak next when a run is deterministic: the running trials sit in numbered slots, and
/// the turn goes round.
///
/// A new trial takes the lowest free slot, so who sits where depends only on the order of the
/// events taken, never on their timing.
class TurnOrder {
public:
  /// Seats a trial; returns its slot.
  std::uint32_t enter(TrialId trial);
  void leave(std::uint32_t slot) { slots_.erase(slot); }
  /// Whose turn it is; nothing when nobody runs.
  [[nodiscard]] std::optional<TrialId> turn() const;
  /// The one in `slot` has spoken.
  void spoke(std::uint32_t slot) { next_ = slot + 1; }

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& slots_& next_;
  }

private:
  std::map<std::uint32_t, TrialId> slots_;
  std::uint32_t next_ = 0;
};

}  // namespace troupe::tune::detail
