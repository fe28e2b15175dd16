#pragma once

#include <troupe/runtime/store/detail/verify.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace troupe::detail {

/// A view of a store, beside its writer or when none runs, that is known to be whole.
///
/// RocksDB's secondary instance first reads what the manifest says and then the logs. When the
/// writer flushes and deletes a log in between, the view lacks what was in it until the next time:
/// a hole, measured in every second test with small buffers. So every view is checked from the last
/// event that was there before, and taken again when it has a hole. All families are flushed
/// together, so that whole events mean whole rows.
///
/// A secondary instance refuses a log whose end is damaged, which is what a loss of power leaves
/// behind and what the next opening for writing will cut off. Then the store is read as that
/// opening would do it.
struct LiveView {
  Database database;
  StoreFacts facts;  ///< `end` is the last event of the view
  /// What is wrong with the log, whose end is left out here; such a view can not catch up.
  std::string damaged_log;
  /// Set when the view is behind the witness, or of another history: see `compare_with_witness`.
  std::optional<Error> loss;
};

/// Opens a view. `witness` was read before, so that a writer can not be behind it. Tries several
/// times within a fraction of a second. Error: that of the last try.
Result<LiveView> open_live(const std::filesystem::path& folder,
                           const std::optional<Witness>& witness);

/// Catches up with the writer. On an error the view must be opened again.
Status catch_up(LiveView& view, const std::optional<Witness>& witness);

}  // namespace troupe::detail
