#pragma once

#include <troupe/base/clock.hpp>
#include <troupe/base/ids.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// What an agent and a worker tell each other besides the protocol of trials.
namespace troupe::detail {

/// What a worker needs to know once.
struct WorkerSetup {
  WorkerId worker;
  std::string experiment_name;
  double cpus = 1.0;
  uint64_t memory_bytes = 0;
};

/// What a user thread is doing.
enum class UserActivity : uint8_t {
  idle,     ///< has no trial, or begins one
  waiting,  ///< reported, waits for the answer
  prepare,  ///< making the object, in `setup`
  reset,    ///< in `reset_config`
  restore,  ///< verifying or loading a checkpoint
  step,     ///< in `step`, or in a function between two reports
  save,     ///< saving a checkpoint
  unwind,   ///< a function whose trial is over, on its way out
  cleanup,  ///< letting the object go
  ended,    ///< the thread is over
};

/// True when user code runs.
constexpr bool in_user_code(UserActivity activity) {
  return activity >= UserActivity::prepare && activity <= UserActivity::cleanup;
}

/// A snapshot for whoever watches over deadlines.
struct UserProgress {
  UserActivity activity = UserActivity::idle;
  uint64_t calls = 0;             ///< changes of activity: the same number, the same call
  uint64_t step = 0;              ///< training iteration that runs, or that was last reported
  Duration running{0};            ///< how long the activity lasts already
  std::optional<TrialKey> trial;  ///< that the thread has
  std::string failure{};          ///< why it fails already, while its object is let go
};

/// The running call took too long: it is asked to return early, and its trial fails for `reason`.
/// Without effect when that call is over.
struct CancelCall {
  uint64_t call = 0;  ///< `UserProgress::calls`
  std::string reason;
};

}  // namespace troupe::detail
