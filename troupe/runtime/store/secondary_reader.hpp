#pragma once

#include <troupe/runtime/store/journal.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// Reads the store of an experiment beside its writer, or when none runs: for the command line,
/// the progress table and result files.
///
/// A view of the moment of the last `refresh`; a write set is never seen half. It can not disturb
/// the writer: nothing is written anywhere, no lock is taken. Files that the writer replaces under
/// its hands are an everyday event and answered by opening again, never reported as damage. The
/// files that a view reads stay on the disk as long as it lives, or until the next `refresh`, also
/// when the writer has removed them: a view that is not needed any more is better let go.
///
/// A store whose log has a damaged end, as a loss of power leaves it, is shown as the next opening
/// for writing will find it.
///
/// `watermarks().durable` comes from the witness and is up to a second behind. Thread rules: as
/// `JournalReader`; `refresh` from any thread, it waits for running visits to end.
class SecondaryReader : public JournalReader {
public:
  /// Catches up with the writer, a few milliseconds. Errors: as `open_secondary`.
  virtual Status refresh() = 0;

  /// What a person should know about the view, one sentence each, as in `OpenedStore`: a damaged
  /// end of the log that was left out, events that were durable and are missing. Empty for an
  /// ordinary view.
  virtual std::vector<std::string> notes() const = 0;
};

struct ReaderOptions {
  /// Refuse what `open_store` would refuse: a store that is behind its witness, or whose witness is
  /// damaged. Otherwise what is left of it is shown, with a note.
  bool refuse_loss = false;
};

/// Opens a view of the store of an experiment. Errors: not_found (no store), data_loss (no store,
/// where the witness says that there was one; more with `refuse_loss`), failed_precondition (not a
/// store of Troupe), version_mismatch, io, corrupt (it can not be read even after opening again,
/// with the remedy).
Result<std::unique_ptr<SecondaryReader>> open_secondary(const std::filesystem::path& experiment_dir,
                                                        const ReaderOptions& options = {});

}  // namespace troupe
