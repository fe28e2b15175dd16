#pragma once

#include <troupe/actors/detail/user_mailbox.hpp>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace troupe::detail {

/// The thread that user code runs on: one for a worker's life, so that what user code keeps in
/// thread-local variables survives from trial to trial.
///
/// Thread rules: all methods from any thread, but `join_for` and `abandon` from one at a time.
class UserThread {
public:
  struct Callbacks {
    UserMailbox::Send send;
    /// The thread is over, on that thread and as its last word. `orderly`: it was told to end.
    std::function<void(bool orderly)> on_end;
  };

  explicit UserThread(WorkerSetup setup, const Clock& clock = real_clock());
  /// The thread is over, or is abandoned.
  ~UserThread();
  UserThread(const UserThread&) = delete;
  UserThread& operator=(const UserThread&) = delete;

  /// Begins to run what is in the mailbox. Once.
  void start(Callbacks callbacks);

  /// May be filled before the start.
  UserMailbox& mailbox() { return state_->mailbox; }

  /// Tells the thread to end and waits for it. False: it runs on.
  bool join_for(Duration timeout);

  /// Leaves a thread that does not end to itself: it is never heard of again, and ends when its
  /// call returns.
  void abandon();

private:
  struct State {
    explicit State(const Clock& clock) : mailbox(clock) {}
    void end(bool orderly);

    UserMailbox mailbox;
    std::mutex mutex;
    std::function<void(bool)> on_end;  ///< empty: abandoned
    std::condition_variable ended_changed;
    bool ended = false;
  };

  static void run(const std::shared_ptr<State>& state, const WorkerSetup& setup);

  const WorkerSetup setup_;
  const std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace troupe::detail
