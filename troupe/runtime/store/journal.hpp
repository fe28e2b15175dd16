#pragma once

#include <troupe/base/ids.hpp>
#include <troupe/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The journal of one experiment: what happened, in order, and the rows that follow from it.
///
/// An experiment is lost when its record is lost, and a record is worthless when nobody can say
/// whether it is complete. The journal answers both: a `WriteSet` (one event and every row it
/// changes) is applied whole or not at all, events are numbered without a hole and chained by a
/// checksum, and two watermarks say how far they are safe.
namespace troupe {

/// Row families. The numbers are part of the format on disk: append only.
enum class Table : uint8_t {
  experiment = 1,   ///< specification and status of the experiment
  trials = 2,       ///< one row per trial: configuration, status, counters
  results = 3,      ///< index: (trial, iteration) to an `EventPointer` at the event that carries it
  checkpoints = 4,  ///< one row per checkpoint: reference and state
  state = 5,        ///< snapshots of the decision machines
};
inline constexpr std::size_t table_count = 5;

constexpr std::string_view to_string(Table table) noexcept {
  switch (table) {
    case Table::experiment:
      return "experiment";
    case Table::trials:
      return "trials";
    case Table::results:
      return "results";
    case Table::checkpoints:
      return "checkpoints";
    case Table::state:
      return "state";
  }
  return "unknown";
}

/// One row to put, or to erase when `value` is empty. Keys: see keys.hpp.
struct RowWrite {
  Table table;
  std::string key;                   ///< 1 to `limits::max_key_bytes` bytes
  std::optional<std::string> value;  ///< a sealed record (see serialization/record.hpp)
};

/// Everything that one decision changes. Applied atomically; a later write of the same key wins.
struct WriteSet {
  std::string event{};  ///< a sealed record; receives the next sequence number
  std::vector<RowWrite> rows{};
};

/// How far the journal is safe. `durable <= accepted` always.
struct Watermarks {
  Sequence accepted{};  ///< in the write-ahead log: survives any crash of the process
  Sequence durable{};   ///< synced to the disk: survives a loss of power
  uint32_t chain = 0;   ///< checksum over all events up to `accepted`
};

/// Reads a journal. Implemented by the writer itself and by the secondary reader of a live store.
///
/// Thread rules: every method may be called from any thread. A visitor runs on the caller's
/// thread, must not call back into the store, and ends the scan early by returning false.
class JournalReader {
public:
  using RowVisitor = std::function<bool(std::string_view key, std::string_view value)>;
  using EventVisitor = std::function<bool(Sequence sequence, std::string_view event)>;

  virtual ~JournalReader() = default;

  /// The row, or nothing when there is none. Errors: io, corrupt.
  virtual Result<std::optional<std::string>> get(Table table, std::string_view key) const = 0;

  /// Visits the rows whose key begins with `prefix`, in byte order of the key.
  virtual Status scan(Table table, std::string_view prefix, const RowVisitor& visit) const = 0;

  /// Visits the events with a sequence greater than `after`, in order.
  virtual Status events(Sequence after, const EventVisitor& visit) const = 0;

  /// One event. Errors: not_found, io, corrupt.
  virtual Result<std::string> event(Sequence sequence) const = 0;

  virtual Watermarks watermarks() const = 0;

  /// Identity of the store, made at creation; a witness of another store never matches.
  virtual std::string store_id() const = 0;
};

/// Writes a journal. One writer per store.
///
/// Thread rules: `append` from one thread at a time; `sync` from any thread, also while `append`
/// runs, and it does not block it. The readers' methods from any thread.
class Journal : public JournalReader {
public:
  /// Appends the write sets in order as one atomic batch and returns the sequence of the last
  /// one. On return they are accepted. Sequences count from 1 without a hole.
  ///
  /// A batch that breaks a rule of the format (an empty event, an empty or too long key, a record
  /// beyond its limit) is refused with invalid_argument and harms nothing. After any other error
  /// the journal refuses further writes, with that error, until it is opened again: a disk that
  /// failed once cannot be trusted to have kept what it was given. Opened again, it has the batch
  /// as a whole or not at all.
  virtual Result<Sequence> append(std::span<const WriteSet> batch) = 0;

  /// Makes everything accepted before the call durable and returns the new durable watermark.
  virtual Result<Sequence> sync() = 0;

  /// Syncs, writes the high-water witness and releases the store. Further calls fail, except
  /// `watermarks` and `store_id`. Destroying an open journal releases it without any of this, as
  /// a crash would.
  virtual Status close() = 0;
};

}  // namespace troupe
