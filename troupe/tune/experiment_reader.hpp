#pragma once

#include <troupe/runtime/store/journal.hpp>
#include <troupe/tune/records.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

/// Reads the records of an experiment out of its journal: for the Tuner, result files, the progress
/// table and the command line. All functions read what `reader` sees; each returns the errors of
/// the journal, or corrupt with the record's name and what is wrong. Visitors of trials and results
/// may read the journal themselves; those of events may not.
namespace troupe::tune {

/// One accepted result.
struct TrialResult {
  Sequence sequence;  ///< of its event
  std::uint64_t iteration = 0;
  std::int64_t wall_ms = 0;
  bool done = false;  ///< the trial ended with it
  Metrics metrics;    ///< with "training_iteration"
};

/// not_found when the journal holds no experiment of tune.
Result<ExperimentSpec> read_spec(const JournalReader& reader);

/// How the experiment stands after the last event, also while it runs and when its driver died.
/// Cost: that of the events since the last snapshot.
Result<ExperimentRow> read_status(const JournalReader& reader);

/// not_found naming the trial.
Result<TrialRow> read_trial(const JournalReader& reader, TrialId trial);

/// Visits all trials in the order of their ids; returning false ends it. One row is in memory at a
/// time.
Status for_each_trial(const JournalReader& reader,
                      const std::function<bool(const TrialRow&)>& visit);
Result<std::vector<TrialRow>> read_trials(const JournalReader& reader);

/// Visits the results of a trial in the order of iterations, from the first beyond `after`.
Status for_each_result(const JournalReader& reader, TrialId trial, std::uint64_t after,
                       const std::function<bool(const TrialResult&)>& visit);
Result<std::vector<TrialResult>> read_results(const JournalReader& reader, TrialId trial);

/// The last result of a trial; nothing when it never reported. Cost: the logarithm of the number of
/// its results.
Result<std::optional<TrialResult>> read_last_result(const JournalReader& reader,
                                                    const TrialRow& trial);

/// All checkpoint rows of a trial, oldest first.
Result<std::vector<CheckpointRow>> read_checkpoints(const JournalReader& reader, TrialId trial);

/// Visits events in order, from the first beyond `after`; returning false ends it.
Status for_each_event(
    const JournalReader& reader, Sequence after,
    const std::function<bool(Sequence sequence, const EventRecord& event)>& visit);

/// The result that an event carries, when it carries an accepted one.
std::optional<TrialResult> result_of(Sequence sequence, const EventRecord& event);

/// Did an attempt of its trial fail with this event? Then `decision.reason` says how. A worker that
/// refuses to be reset is no failure.
bool is_failure(const EventRecord& event);

}  // namespace troupe::tune
