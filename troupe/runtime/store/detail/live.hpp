#pragma once

#include <troupe/runtime/store/detail/verify.hpp>

#include <filesystem>

namespace troupe::detail {

/// A view of a store beside its writer that is known to be whole.
///
/// RocksDB's secondary instance first reads what the manifest says and then the logs. When the
/// writer flushes and deletes a log in between, the view lacks what was in it until the next time:
/// a hole, measured in every second test with small buffers. So every view is checked from the last
/// event that was there before, and taken again when it has a hole. All families are flushed
/// together, so that whole events mean whole rows.
struct LiveView {
  Database database;
  StoreFacts facts;  ///< `end` is the last event of the view
};

/// Opens as a secondary instance; `scratch` is a folder of its own. Tries several times within a
/// fraction of a second. Error: that of the last try.
Result<LiveView> open_live(const std::filesystem::path& folder,
                           const std::filesystem::path& scratch);

/// Catches up with the writer. On an error the view must be opened again.
Status catch_up(LiveView& view);

}  // namespace troupe::detail
