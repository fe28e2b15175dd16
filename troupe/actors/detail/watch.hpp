#pragma once

#include <troupe/actors/detail/worker_control.hpp>

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
    Duration step{0};   ///< of one step; 0: none
    Duration grace{0};  ///< from asking a call to end to killing its worker
  };

  explicit Watch(Limits limits) : limits_(limits) {}

  /// Own time goes on.
  void tick(Duration period) { now_ += period; }
  Duration now() const { return now_; }

  /// A trial begins; what was asked of the one before is forgotten.
  void trial_started();
  /// The trial was told to end.
  void trial_stopped() { stopping_ = true; }

  struct Verdict {
    std::optional<CancelStep> cancel;    ///< ask the running call to return
    std::optional<std::string> expired;  ///< it did not: kill the worker, for this reason
  };
  Verdict look(const UserProgress& progress);

private:
  Limits limits_;
  Duration now_{0};
  bool stopping_ = false;
  std::optional<uint64_t> asked_;  ///< the call that was asked to return
  Duration asked_at_{0};
  std::string reason_;
};

/// "10 s", "250 ms".
std::string to_text(Duration duration);

}  // namespace troupe::detail
