#pragma once

#include <troupe/base/ids.hpp>
#include <troupe/serialization/value.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

/// What user code can ask and tell while a trial runs: the function API and the context.
///
/// Thread rules: the session belongs to the thread that runs the trainable. Calling these from
/// any other thread, or outside a trial, throws `Exception` (failed_precondition).
namespace troupe {

/// A folder with files that a trial can go on from.
class Checkpoint {
public:
  /// A folder that the caller filled; `report` copies its files, the folder stays the caller's.
  static Checkpoint from_directory(std::filesystem::path directory);

  const std::filesystem::path& directory() const { return directory_; }

private:
  explicit Checkpoint(std::filesystem::path directory) : directory_(std::move(directory)) {}
  std::filesystem::path directory_;
};

/// Which trial runs here.
struct TrialContext {
  std::string experiment_name;
  std::string trial_name;
  TrialId trial_id;
  uint32_t attempt = 0;             ///< 0 at first; counts restarts of any kind
  std::filesystem::path trial_dir;  ///< files written here stay with the trial
  double cpus = 1.0;                ///< logical CPUs that the trial asked for
  uint64_t iteration = 0;           ///< results reported so far, earlier attempts included
};

/// Reports one result and waits until it is accepted by the journal. Throws `TrialStopped` when the
/// trial ends here: let it pass through, it only unwinds the function.
void report(Metrics metrics);

/// The same with a checkpoint, which is committed to storage before the result is sent.
void report(Metrics metrics, const Checkpoint& checkpoint);

/// The checkpoint to go on from, or nothing at the start of a trial.
std::optional<Checkpoint> get_checkpoint();

const TrialContext& get_context();

/// True when the trial should end soon: return from `step`, or call `report`.
bool should_stop();

/// Unwinds a function trainable that is told to stop. Not an error; derived from nothing so that
/// `catch (const std::exception&)` in user code does not swallow it.
class TrialStopped {};

}  // namespace troupe
