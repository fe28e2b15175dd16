#pragma once

#include <troupe/runtime/store/journal.hpp>
#include <troupe/tune/records.hpp>

#include <cstdint>

namespace troupe::tune::detail {

/// Writes rows again that a repair of the store dropped (`RowsDropped`): all events are replayed,
/// and what they wrote and is not there any more is put back, each piece with a `RowsRestored`.
/// Interrupted, it is done again. Returns how many rows came back: 0, at once, when nothing was
/// dropped. Takes memory for the missing rows. Call it before the loop is restored.
/// `searcher` and `scheduler` as in `TrialLoop::restore`; errors as there.
Result<std::uint64_t> mend_rows(Journal& journal, const Searcher* searcher,
                                const Scheduler* scheduler, std::int64_t wall_ms);

}  // namespace troupe::tune::detail
