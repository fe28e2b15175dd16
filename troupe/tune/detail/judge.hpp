#pragma once

#include <troupe/tune/detail/loop_state.hpp>

#include <optional>

namespace troupe::tune::detail {

/// What an event means.
struct Judgement {
  enum class Kind : std::uint8_t {
    stale,     ///< from an attempt or worker that is history: dropped and counted
    ignored,   ///< nothing changes
    answered,  ///< nothing changes, but the worker waits for an answer
    decided,   ///< to be recorded and applied
  };

  Kind kind = Kind::ignored;
  Decision decision{};
  std::optional<Answer> answer{};
};

/// Judges an event on a state that it does not change. `run_time` is that of the event. The
/// metrics of a `Reported` have "training_iteration" already.
class Judge {
public:
  Judge(const LoopParts& parts, Duration run_time) : parts_(parts), run_time_(run_time) {}

  [[nodiscard]] Judgement operator()(const RecordedBody& body) const;

  /// When a run is deterministic: must the event wait until it is the turn of its trial? Nothing:
  /// it is taken at once.
  [[nodiscard]] std::optional<TrialId> waits_for_turn(const RecordedBody& body) const;

  Judgement judge(const RunBegan& event) const;
  Judgement judge(const WorkerStarted& event) const;
  Judgement judge(const TrialStarted& event) const;
  Judgement judge(const ResetRefused& event) const;
  Judgement judge(const Reported& event) const;
  Judgement judge(const CheckpointSaved& event) const;
  Judgement judge(const TrialEnded& event) const;
  Judgement judge(const TrialFailed& event) const;
  Judgement judge(const WorkerExited& event) const;
  Judgement judge(const Tick& event) const;
  Judgement judge(const StopRequested& event) const;
  Judgement judge(const ErroredTaken& event) const;
  Judgement judge(const Suggested& event) const;
  Judgement judge(const RowsRestored& event) const;

private:
  /// The trial that the worker has, when the message is about this attempt of it.
  [[nodiscard]] const Trial* find(WorkerId worker, const TrialKey& key) const;
  [[nodiscard]] const Trial* trial_of(WorkerId worker) const;
  [[nodiscard]] Judgement accept(const Trial& trial, const Reported& event) const;
  [[nodiscard]] Judgement repeat(const Trial& trial, const Reported& event) const;
  static void refuse(const Reported& event, const Error& why, Decision& decision);
  void judge_result(const Trial& trial, const Reported& event, Decision& decision) const;
  [[nodiscard]] Status check_metrics(const Metrics& metrics) const;
  void ask_scheduler(const Trial& trial, const Reported& event, Decision& decision) const;
  void plan_save(const Trial& trial, const Reported& event, Decision& decision) const;
  void take_checkpoint(const Trial& trial, const CheckpointRef& ref, std::optional<double> score,
                       Decision& decision) const;
  [[nodiscard]] std::optional<double> checkpoint_score(const Metrics& metrics) const;
  /// The attempt is over, as its phase foresaw. False: it was not foreseen.
  bool foreseen_end(const Trial& trial, Decision& decision) const;
  /// Is it about to pause, and was its checkpoint not saved?
  [[nodiscard]] static bool failed_to_save(const Trial& trial);
  void user_failure(const Trial& trial, const std::string& message, Decision& decision) const;
  void infrastructure_failure(const Trial& trial, const std::string& message,
                              Decision& decision) const;
  void failed_start(const std::string& message, Decision& decision) const;

  const LoopParts& parts_;
  const Duration run_time_;
};

}  // namespace troupe::tune::detail
