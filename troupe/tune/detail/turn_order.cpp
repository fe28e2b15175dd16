#include <troupe/tune/detail/turn_order.hpp>

namespace troupe::tune::detail {

std::uint32_t TurnOrder::enter(TrialId trial) {
  std::uint32_t slot = 0;
  for (const auto& [taken, who] : slots_) {
    if (taken != slot)
      break;
    ++slot;
  }
  slots_.emplace(slot, trial);
  return slot;
}

std::optional<TrialId> TurnOrder::turn() const {
  if (slots_.empty())
    return std::nullopt;
  const auto found = slots_.lower_bound(next_);
  return found != slots_.end() ? found->second : slots_.begin()->second;
}

}  // namespace troupe::tune::detail
