#pragma once

#include <troupe/runtime/store/detail/examine.hpp>
#include <troupe/runtime/store/detail/recovery.hpp>

#include <filesystem>
#include <optional>

namespace troupe::detail {

/// The repairs of a store, from the least to the most. Each leaves the folder as it was beside the
/// new one, and changes the store in a single step at the end. The caller holds the folder's lock.

/// The log is damaged at its end, the rest is sound: opens it up to the damage.
Result<Repair> cut_log(const std::filesystem::path& experiment_dir, FolderLock& lock);

/// Copies the sound events into a fresh database, and the rows that are sound and were written with
/// one of them. Snapshots go all or none: without them a restore replays the events from the start.
Result<Repair> rebuild(const std::filesystem::path& experiment_dir, const View& source,
                       const Examination& found);

/// Writes the witness for what is there now. The old one is kept beside it.
Status renew_witness(const std::filesystem::path& experiment_dir, const std::string& store_id,
                     HighWater mark);

}  // namespace troupe::detail
