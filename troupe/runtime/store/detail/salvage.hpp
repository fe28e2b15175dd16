#pragma once

#include <troupe/base/result.hpp>

#include <filesystem>

namespace troupe::detail {

/// What could be got out of a store that does not open.
struct Salvaged {
  std::filesystem::path copy;      ///< everything lies below it; to be removed when it was used
  std::filesystem::path database;  ///< opens
  /// The list of the files was whole, so that no row can be an older version of itself.
  bool files_known = false;
};

/// Makes a copy of the store that opens; the store is only read. The caller holds its lock.
///
/// 1. RocksDB finds its files through CURRENT, which names a manifest, which lists them. Where only
///    CURRENT is wrong, each manifest that is there is tried, the newest first.
/// 2. Without a manifest RocksDB collects the table files by themselves. It would read the logs,
///    too, but drop what is in families that have no table file yet, in a young experiment nearly
///    everything. So the logs are read by a fresh database, which has the same families under the
///    same numbers.
/// Errors: corrupt when too little is left, io.
Result<Salvaged> salvage(const std::filesystem::path& experiment_dir);

}  // namespace troupe::detail
