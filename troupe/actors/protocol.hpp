#pragma once

#include <troupe/base/clock.hpp>
#include <troupe/base/ids.hpp>
#include <troupe/runtime/resources/resources.hpp>
#include <troupe/runtime/storage/checkpoint.hpp>
#include <troupe/serialization/value.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What a decision machine hears and what it says: plain data, no actor in sight.
///
/// Everything that comes from a worker carries (trial, attempt) and a message number, so that
/// whatever a former attempt still sends can be told apart and dropped.
namespace troupe {

/// Where a trainable runs.
enum class Isolation : uint8_t {
  process,  ///< a process of its own: nothing it does can harm the others (the default)
  thread,   ///< a thread of this process: lowest overhead, no protection from crashes
};

/// Why a trial did not go on.
enum class FailureKind : uint8_t {
  user,            ///< counts against `max_failures`
  infrastructure,  ///< counts against `max_infrastructure_failures`
  start,           ///< the worker did not come up: nothing that the trial could have done
};

/// What a worker does after a report.
enum class Verdict : uint8_t {
  go_on,  ///< next step
  stop,   ///< the trial is over
  pause,  ///< the trial goes on later from its checkpoint, perhaps elsewhere
};

// -- from workers and node agents ---------------------------------------------------------------

/// A worker is up and said hello.
struct WorkerStarted {
  WorkerId worker;
  int64_t pid = 0;
  std::string host;
};

/// The trainable is set up (or reset) and, where asked, restored.
struct TrialStarted {
  WorkerId worker;
  TrialKey key;
  uint64_t iteration = 0;              ///< of the checkpoint it goes on from; 0: from the start
  std::optional<uint32_t> checkpoint;  ///< number of the checkpoint it goes on from
  std::vector<uint32_t> damaged;       ///< checkpoints that failed verification or loading
  std::string note;                    ///< what was wrong with them, for the log
};

/// `reset_config` returned false: the trial needs a fresh worker. Not a failure.
struct ResetRefused {
  WorkerId worker;
  TrialKey key;
};

/// One result. The worker waits for an `Answer` with the same message number.
struct Reported {
  WorkerId worker;
  TrialKey key;
  uint64_t message = 0;           ///< 1, 2, ... within the attempt
  uint64_t iteration = 0;         ///< training_iteration: 1, 2, ... within the trial
  Metrics metrics;                ///< the user's, training_iteration, time_*, timestamp (Unix, s)
  bool done = false;              ///< the trainable says that it is finished
  bool wants_checkpoint = false;  ///< the trainable asks for a checkpoint now
  std::optional<CheckpointRef> checkpoint;  ///< function API: committed before the report was sent
};

/// A checkpoint that an `Answer` or a `StopTrial` asked for is committed in storage.
struct CheckpointSaved {
  WorkerId worker;
  TrialKey key;
  CheckpointRef checkpoint;
};

/// The trainable let go of the trial. `worker` may take another one when `reusable`.
struct TrialEnded {
  WorkerId worker;
  TrialKey key;
  bool returned = false;  ///< function API: the function came back by itself
  bool reusable = true;
};

/// User code threw, could not be set up, could not save or load. The worker is alive, but nobody
/// knows what the failure left behind in it: it takes no other trial.
struct TrialFailed {
  WorkerId worker;
  TrialKey key;
  std::string message;
  /// No space is left where the trial writes: none of its doing, and the next trial would fare no
  /// better. The experiment stops.
  bool storage_full = false;
  /// Tried again it would be the same: a result that cannot be sent, a name that nobody registered.
  bool permanent = false;
};

/// A worker is gone, expected or not. `message` says how: signal, status, last output.
struct WorkerExited {
  WorkerId worker;
  FailureKind kind = FailureKind::user;
  std::string message;
};

// -- from the shell -----------------------------------------------------------------------------

/// Time passed: deadlines and budgets are looked at.
struct Tick {};

/// Somebody asks for a clean end (a signal, `Tuner::stop`). Trials that run are checkpointed
/// where possible and stay unfinished, so that a restore goes on with them.
struct StopRequested {
  std::string reason;
};

/// Something that takes long and that a loop wants computed beside it, so that events need not
/// wait: a suggestion of a search algorithm. It owns or shares all that it works on.
class Computation {
public:
  virtual ~Computation() = default;
  /// Called once, on a thread of the runtime; computations of one loop run one after the other.
  /// Keeps its result, errors included.
  virtual void run() noexcept = 0;
};

/// A computation is finished.
struct Computed {
  std::shared_ptr<Computation> computation;
};

using EventBody =
    std::variant<WorkerStarted, TrialStarted, ResetRefused, Reported, CheckpointSaved, TrialEnded,
                 TrialFailed, WorkerExited, Tick, StopRequested, Computed>;

/// One input of a decision machine. Time comes in here and nowhere else.
struct Event {
  TimePoint now;        ///< monotonic
  int64_t wall_ms = 0;  ///< Unix time in milliseconds: shown to people, never decides
  EventBody body;
};

// -- to workers and node agents -----------------------------------------------------------------

/// Start a worker.
struct StartWorker {
  WorkerId worker;
  Isolation isolation = Isolation::process;
  ResourceRequest resources;
};

/// Give a trial to a worker that has none.
struct RunTrial {
  WorkerId worker;
  TrialKey key;
  std::string trainable;  ///< registered name
  Config config;
  std::string trial_name;
  std::string trial_dir;  ///< absolute; exists
  bool reset = false;  ///< the worker ran another trial before: `reset_config` instead of `setup`
  uint32_t next_checkpoint = 0;            ///< first number the function API may use
  std::vector<CheckpointRef> checkpoints;  ///< newest first; the first that verifies is loaded
};

/// The answer to `Reported`.
struct Answer {
  WorkerId worker;
  TrialKey key;
  uint64_t message = 0;
  Verdict verdict = Verdict::go_on;
  std::optional<uint32_t> save;  ///< save a checkpoint under this number before anything else
};

/// End a trial that is not waiting for an answer: the running step is asked to return early, and
/// what it returns is dropped. A trial that waits for its answer ends at once.
struct StopTrial {
  WorkerId worker;
  TrialKey key;
  /// Save before the end, but only where no step runs: after one whose result is dropped the
  /// object is ahead of the last accepted result, and `TrialEnded` comes without `CheckpointSaved`.
  std::optional<uint32_t> save;
};

/// Let a worker go: asked first, killed with its process group after the grace time.
struct StopWorker {
  WorkerId worker;
  bool at_once = false;
};

/// Remove a checkpoint from storage. Only ever released when the decision is durable.
struct DeleteCheckpoint {
  TrialId trial;
  std::string trial_dir;
  CheckpointRef checkpoint;
};

/// Compute this beside the loop; `Computed` brings it back.
struct Compute {
  std::shared_ptr<Computation> computation;
};

using Command =
    std::variant<StartWorker, RunTrial, Answer, StopTrial, StopWorker, DeleteCheckpoint, Compute>;

}  // namespace troupe
