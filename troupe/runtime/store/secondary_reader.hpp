#pragma once

#include <troupe/runtime/store/journal.hpp>

#include <filesystem>
#include <memory>

namespace troupe {

/// Reads the store of an experiment beside its writer, or when none runs: for the command line,
/// the progress table and result files.
///
/// A view of the moment of the last `refresh`; a write set is never seen half. It can not disturb
/// the writer: nothing is written into the experiment's folder, no lock is taken; a scratch folder
/// under the system's temporary folder is removed at the end. Files that the writer replaces under
/// its hands are an everyday event and answered by opening again, never reported as damage.
///
/// `watermarks().durable` comes from the witness and is up to a second behind. Thread rules: as
/// `JournalReader`; `refresh` from any thread, it waits for running visits to end.
class SecondaryReader : public JournalReader {
public:
  /// Catches up with the writer, a few milliseconds. Errors: as `open_secondary`.
  virtual Status refresh() = 0;
};

/// Opens a view of the store of an experiment. Errors: not_found (no store), failed_precondition
/// (not a store of Troupe), version_mismatch, io, corrupt (it can not be read even after opening
/// again).
Result<std::unique_ptr<SecondaryReader>> open_secondary(
    const std::filesystem::path& experiment_dir);

}  // namespace troupe
