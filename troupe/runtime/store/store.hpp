#pragma once

#include <troupe/base/clock.hpp>
#include <troupe/runtime/store/journal.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

/// The journal of an experiment on disk: RocksDB in `<experiment_dir>/store`, and beside it the
/// witness `<experiment_dir>/high_water`.
///
/// A database can not know by itself that its newest part is missing: when the log file is deleted
/// it opens happily with less. The witness lies outside and says how far the store was durable (it
/// is at most about a second behind), so that a store that lost something says so and stops.
namespace troupe {

enum class OpenMode : std::uint8_t {
  create,    ///< a new store; already_exists when there is one with any event in it
  existing,  ///< the store that is there; not_found when there is none
};

struct StoreOptions {
  std::filesystem::path experiment_dir{};  ///< on a local disk; made when a store is created
  OpenMode mode = OpenMode::existing;
  /// The least time between two writes of the witness (three fsyncs each, on a thread of their
  /// own). Zero: each sync writes it before it returns, and there is no thread.
  Duration witness_interval = std::chrono::seconds(1);
};

/// An open store and what a person should know about how it was opened, one sentence each: a tail
/// that was cut by a crash, a witness that had to be made anew. Empty for an ordinary opening.
struct OpenedStore {
  std::unique_ptr<Journal> journal;
  std::vector<std::string> notes;
};

/// Opens a store for writing. Nothing on disk is changed unless the store is found complete: it is
/// first read through (the events that are only in the log are checked one by one, the others by
/// their number), and compared with the witness. Takes a fraction of a second for a million events.
///
/// Errors, each naming the place and the remedy:
/// - not_found, already_exists: see `OpenMode`; a witness without its store is `data_loss`
/// - unavailable: another process has the store open (its pid is named where the system tells it)
/// - failed_precondition: the folder holds something that is not a store of Troupe
/// - version_mismatch: written by a newer Troupe, which is named
/// - corrupt: the database does not open or its events do not fit together
/// - data_loss: the store is behind its witness; the missing events are named
/// - io, resource_exhausted: the operating system refused
Result<OpenedStore> open_store(const StoreOptions& options);

/// True when the experiment has a store or a trace of one (also a damaged one): `create` would
/// refuse.
[[nodiscard]] bool store_exists(const std::filesystem::path& experiment_dir);

/// Where things lie.
[[nodiscard]] std::filesystem::path store_folder(const std::filesystem::path& experiment_dir);
[[nodiscard]] std::filesystem::path witness_file(const std::filesystem::path& experiment_dir);

}  // namespace troupe
