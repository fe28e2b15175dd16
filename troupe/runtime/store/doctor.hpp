#pragma once

#include <troupe/base/ids.hpp>
#include <troupe/base/result.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Looks a store over and says in plain words what is wrong with it and what can be done.
namespace troupe {

struct DoctorOptions {
  /// Repair: keep the longest consistent prefix of the events, give up what comes after, also the
  /// damaged end of a log that the next opening would drop anyway. The damaged folder is kept
  /// beside it, unchanged. A prefix without the specification is worth nothing: then the repair is
  /// not done. Without this flag nothing on disk is touched.
  bool accept_loss = false;
};

enum class Severity : std::uint8_t {
  note,     ///< worth knowing
  warning,  ///< unusual; nothing is lost
  damage,   ///< the store does not open, or lost something
};

struct Finding {
  Severity severity = Severity::note;
  std::string place;   ///< a file, a table and key, an event
  std::string what;    ///< what is wrong
  std::string remedy;  ///< what to do about it; may be empty for a note
};

/// What a repair did.
struct Repair {
  Sequence kept;                  ///< events 1 to this one are there
  std::uint64_t lost_events = 0;  ///< known to have existed; at least so many
  /// Rows that came from lost events or were damaged. `Tuner::restore` writes those that follow
  /// from the events again when it goes on.
  std::uint64_t dropped_rows = 0;
  std::vector<std::string> dropped;  ///< which, the first 100
  bool replayed_from_start = false;  ///< snapshots went: a restore replays all events
  std::filesystem::path kept_aside;  ///< the damaged folder, as it was
};

struct DoctorReport {
  std::filesystem::path experiment_dir;
  std::string store_id;    ///< empty when it can not be read
  std::string written_by;  ///< version of the Troupe that made the store
  bool in_use = false;     ///< a writer runs: what was seen is a moment of it
  std::uint64_t events = 0;
  std::uint64_t rows = 0;
  Sequence accepted;              ///< the store's last event
  Sequence witnessed;             ///< what the witness says was durable
  std::vector<Finding> findings;  ///< at most 100; the last one counts the others
  std::optional<Repair> repair;

  /// No damage, or none that is left after a repair.
  [[nodiscard]] bool healthy() const;
  /// The whole report for a terminal, several lines.
  [[nodiscard]] std::string to_text() const;
};

/// Examines the store of an experiment: every record's envelope, the numbers and the chain of the
/// events, that each result points to its event, the witness, and all of RocksDB's checksums. Reads
/// everything once: seconds for a million events. Works beside a running writer.
///
/// `path` is the experiment's folder, or the store inside it. Errors: not_found (no store there),
/// unavailable (a repair while a writer runs), io; damage is not an error but a finding. A repair
/// that can not be done says why in the findings and leaves everything as it was.
Result<DoctorReport> run_doctor(const std::filesystem::path& path,
                                const DoctorOptions& options = {});

}  // namespace troupe
