#pragma once

#include <troupe/runtime/store/journal.hpp>

#include <cstdint>
#include <span>
#include <string_view>

/// What every implementation of the journal does the same way.
namespace troupe::detail {

/// The chain after `event`: a checksum over all sequences and events up to it, so that an event
/// that is missing, damaged, doubled or in another place shows at every later one.
[[nodiscard]] std::uint32_t chain_next(std::uint32_t before, Sequence sequence,
                                       std::string_view event);

/// Checks what `Journal::append` asks of a batch. Error: invalid_argument naming the write set.
Status check_batch(std::span<const WriteSet> batch);

/// The refusal of a journal that failed before: that error again, so that whoever hears of it first
/// hears what is wrong.
[[nodiscard]] Error refuse_after(const Error& failure);
[[nodiscard]] Error refuse_closed();

/// "event 17 does not exist: the journal ends at 12"
[[nodiscard]] Error no_such_event(Sequence sequence, Sequence last);

/// True for a number that is a table.
[[nodiscard]] bool is_table(Table table);

}  // namespace troupe::detail
