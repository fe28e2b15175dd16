#pragma once

#include <troupe/actors/detail/worker_control.hpp>
#include <troupe/actors/protocol.hpp>

#include <optional>
#include <string>

namespace troupe::detail {

/// The deadlines of one worker as a plain value: told what the worker does, it says what to do
/// about it.
///
/// It counts time by its own ticks: time in which the watcher itself was suspended does not count
/// against the worker.
class Watch {
public:
  struct Limits {
    Duration step{0};   ///< of `step`, `save_checkpoint`, `cleanup` and destructor; 0: none
    Duration setup{0};  ///< of `setup`, `reset_config`, `load_checkpoint`; 0: none
    Duration grace{0};  ///< from asking a call to end to killing its worker
  };

  explicit Watch(Limits limits) : limits_(limits) {}

  /// Own time goes on.
  void tick(Duration period) { now_ += period; }
  Duration now() const { return now_; }

  /// The trial was told to end.
  void trial_stopped(const TrialKey& trial) { stopped_ = trial; }

  struct Verdict {
    std::optional<CancelCall> cancel;      ///< ask the running call to return
    std::optional<std::string> expired;    ///< it did not: kill the worker, for this reason
    FailureKind kind = FailureKind::user;  ///< of what expired, to the trial
    std::optional<std::string> warning;    ///< nothing would end it: the setting that does
  };
  Verdict look(const UserProgress& progress);

private:
  Limits limits_;
  Duration now_{0};
  std::optional<TrialKey> stopped_;
  Duration warn_after_ = std::chrono::minutes(10);  ///< in a call that nothing limits
  std::optional<uint64_t> asked_;                   ///< the call that was asked to return
  Duration asked_at_{0};
  std::string reason_;
};

/// Tells people about a call that runs for long with no deadline, and which `setting` is one.
void warn_of_long_call(WorkerId worker, const UserProgress& progress, const std::string& setting);

/// "10 s", "250 ms".
std::string to_text(Duration duration);

}  // namespace troupe::detail
