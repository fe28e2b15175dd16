#pragma once

#include <troupe/runtime/store/detail/verify.hpp>
#include <troupe/runtime/store/store.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace troupe::detail {

/// A store that was read without writing, in the way in which it would be opened for writing.
struct Look {
  Database database;  ///< read-only: a view of the moment
  StoreFacts facts;
  LogMode mode = LogMode::tolerate_tail;
  std::string refused;  ///< why the first step was not enough; empty: it was
};

/// The two steps of `recover_store` up to the comparison with the witness, without the writing.
/// `thorough` as for `verify_events`. Error: that of the first step, with the remedy.
Result<Look> look_at_store(const std::filesystem::path& folder, const Platform& platform,
                           bool thorough);

/// For a store whose folder is gone while its witness is there.
[[nodiscard]] Error store_is_gone(const std::filesystem::path& folder, const Witness& witness);

/// A store that was opened and found complete.
struct Recovered {
  Database database;
  StoreFacts facts;
  std::vector<std::string> notes;
};

/// Opens a store in two steps, as no single recovery mode of RocksDB is right: one that ends at the
/// first damage silently drops what follows, one that refuses damage refuses the harmless tail of a
/// power loss too.
///
/// 1. With only a cut tail allowed. 2. If that is refused: up to the first damage, and only if what
/// is left reaches the witness; the folder is linked aside first, and the note says so.
/// Each try is made read-only first, under the lock of the folder: on refusal nothing has changed.
Result<Recovered> recover_store(const std::filesystem::path& experiment_dir,
                                const Platform& platform);

/// Makes an empty store, whole or not at all.
Status create_store(const std::filesystem::path& experiment_dir, const Platform& platform);

/// Writes an empty store's own records into a fresh database.
Status write_identity(Database& database, const std::string& store_id);

/// A copy of a folder of RocksDB beside it, by hard links where the file system has them: RocksDB
/// never changes a finished file. Returns its path, `<folder>.<label>-<n>`.
Result<std::filesystem::path> link_aside(const std::filesystem::path& folder,
                                         const std::string& label);

}  // namespace troupe::detail
