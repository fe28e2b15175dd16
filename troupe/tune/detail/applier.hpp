#pragma once

#include <troupe/actors/loop.hpp>
#include <troupe/tune/detail/loop_state.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace troupe::tune::detail {

/// What one event changes outside the state.
struct Output {
  std::vector<RowWrite> rows;
  std::vector<Command> when_accepted;
  std::vector<Command> when_durable;
};

/// Carries out one recorded event: the only code that changes the state of the loop. The same for
/// an event that happens and for one that is read back.
class Applier {
public:
  Applier(LoopParts& parts, Sequence sequence, Duration run_time, std::int64_t wall_ms)
      : parts_(parts), sequence_(sequence), run_time_(run_time), wall_ms_(wall_ms) {}

  void apply(const RecordedBody& body, const Decision& decision);
  void apply(const Action& action);
  /// Erases the rows of checkpoints that were deleted long ago. Once, after the last action.
  void forget_given_up();
  /// Writes the rows of the trials that changed. Once, at the end.
  void write_rows();

  [[nodiscard]] Output& output() { return output_; }
  /// The status row is to be written.
  void touch_status() { status_changed_ = true; }

  void on(const RunBegan& event, const Decision& decision);
  void on(const WorkerStarted& event, const Decision& decision);
  void on(const TrialStarted& event, const Decision& decision);
  void on(const ResetRefused& event, const Decision& decision);
  void on(const Reported& event, const Decision& decision);
  void on(const CheckpointSaved& event, const Decision& decision);
  void on(const TrialEnded& event, const Decision& decision);
  void on(const TrialFailed& event, const Decision& decision);
  void on(const WorkerExited& event, const Decision& decision);
  void on(const Tick& event, const Decision& decision);
  void on(const StopRequested& event, const Decision& decision);
  void on(const ErroredTaken& event, const Decision& decision);
  void on(const Suggested& event, const Decision& decision);
  void on(const RowsRestored& event, const Decision& decision);

  void on(const CreateTrial& action);
  void on(const StartTrial& action);
  void on(const EndTrial& action);
  void on(const HaltTrial& action);
  void on(const EndWorker& action);
  void on(const EndSearch& action);
  void on(const Drain& action);
  void on(const FinishExperiment& action);

private:
  Trial* trial_of(const Decision& decision);
  void take_result(Trial& trial, const Reported& event, const Decision& decision);
  void commit_checkpoint(Trial& trial, const CheckpointRef& ref, const Decision& decision);
  void give_up(Trial& trial, const std::vector<std::uint32_t>& numbers);
  void abandon(const Trial& trial, CheckpointRow row);
  void delete_when_durable(const GivenUp& checkpoint);
  void write_checkpoint(TrialId trial, const CheckpointRow& row);

  /// The attempt is over and the decision says what comes of it. `alive`: the worker is.
  /// `kind`: of the failure, when the decision says that there was one.
  void end_attempt(Trial& trial, const Decision& decision, FailureKind kind, bool alive,
                   bool reusable);
  void take_number_back(Trial& trial, bool alive, bool broken);
  void clear_leftover(Trial& trial);
  void leave_worker(Trial& trial, bool alive, bool reusable);
  void vacate(Trial& trial);
  void note_missing_checkpoint(Trial& trial, const std::string& why);
  void finish_trial(Trial& trial, TrialState state, Ending ending);
  void let_go(WorkerId worker);
  void note_repeated(const CreateTrial& create);
  void revive(const TrialRow& row, const std::vector<CheckpointRow>& checkpoints);
  void seat_again();
  void write_trial(const Trial& trial);
  void touch(const Trial& trial) { changed_.insert(trial.row.id); }

  LoopParts& parts_;
  const Sequence sequence_;
  const Duration run_time_;
  const std::int64_t wall_ms_;
  Output output_;
  std::set<TrialId> changed_;
  bool status_changed_ = false;
  bool before_run_ = false;  ///< what is created now belongs to the run about to begin
};

}  // namespace troupe::tune::detail
