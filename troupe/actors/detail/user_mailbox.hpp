#pragma once

#include <troupe/actors/detail/worker_control.hpp>
#include <troupe/actors/protocol.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace troupe::detail {

/// Between a user thread and the world: commands in, events out, and what the thread is doing.
///
/// Thread rules: the first group from any thread, the second from the user thread.
class UserMailbox {
public:
  using Send = std::function<void(EventBody)>;

  explicit UserMailbox(const Clock& clock);

  /// From now on what the user thread says goes to `send`, on that thread; it must not block.
  void start(Send send);

  // -- from outside
  void post(RunTrial order);
  void post(Answer answer);
  void post(StopTrial stop);
  void cancel(CancelCall cancel);
  /// The thread ends: after the running call, or at once when it waits.
  void quit();
  /// What the thread still has to say goes nowhere; on return `send` is destroyed.
  void mute();
  UserProgress progress() const;

  // -- user thread
  /// Waits for a trial; nothing: quit. Ends in time because whoever lets go of a worker says quit.
  std::optional<RunTrial> next_trial();
  /// Waits for the answer to a report. Nothing: the trial is stopped instead, see `take_stop`.
  /// Without a deadline, because the driver owes the answer: it comes when the report is in the
  /// journal (a deterministic run: when it is the trial's turn). With the driver, the controller or
  /// the link to them the worker ends, by `quit` or as a process, and the wait with it.
  std::optional<Answer> wait_answer(const TrialKey& key, uint64_t message);
  /// The order to stop this trial, when there is one; quitting counts as one.
  std::optional<StopTrial> take_stop(const TrialKey& key);
  /// Why the trial fails after all: its call was cancelled.
  std::optional<std::string> take_cancelled();
  /// The same of a call that the trial has no part in: it is not asked to stop any more.
  std::optional<std::string> forgive_cancelled();
  /// Somebody wants the running call to return. Cheap: asked in user code's inner loops.
  bool stop_asked() const { return stop_asked_.load(std::memory_order_relaxed); }

  /// `failure`: why the trial fails already, while its object is let go.
  void enter(UserActivity activity, uint64_t step, std::string failure = {});
  void send(EventBody event);
  const Clock& clock() const { return clock_; }

private:
  /// Removes and returns the stop order for this trial. With the lock held.
  std::optional<StopTrial> find_stop(const TrialKey& key);

  const Clock& clock_;
  std::mutex send_mutex_;
  Send send_;  ///< empty: not started, or muted
  std::atomic<bool> stop_asked_{false};

  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::deque<RunTrial> trials_;
  std::deque<Answer> answers_;
  std::deque<StopTrial> stops_;
  std::optional<TrialKey> current_;
  std::optional<std::string> cancelled_;
  bool quit_ = false;
  UserActivity activity_ = UserActivity::idle;
  uint64_t calls_ = 0;
  uint64_t step_ = 0;
  std::string failure_;
  TimePoint since_;
};

}  // namespace troupe::detail
