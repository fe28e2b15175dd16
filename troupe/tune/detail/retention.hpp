#pragma once

#include <troupe/tune/records.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace troupe::tune::detail {

/// The newest of the checkpoints: by iteration, then by number. Null pointer: there is none.
const CheckpointRow* newest_checkpoint(const std::vector<CheckpointRow>& checkpoints);

/// Which of the committed checkpoints of a trial are to be given up, as numbers, in ascending
/// order.
///
/// With `ranked`, the scores decide (NaN and none rank lowest, among equals the newer is better),
/// otherwise age does. The newest is always kept, so one more than `num_to_keep` may stay.
std::vector<std::uint32_t> checkpoints_to_delete(const std::vector<CheckpointRow>& checkpoints,
                                                 std::optional<std::uint32_t> num_to_keep,
                                                 bool ranked, Mode order);

}  // namespace troupe::tune::detail
