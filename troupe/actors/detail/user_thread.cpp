#include <troupe/actors/detail/exception_text.hpp>
#include <troupe/actors/detail/trial_runner.hpp>
#include <troupe/actors/detail/user_thread.hpp>
#include <troupe/base/log.hpp>

#include <utility>

namespace troupe::detail {

UserThread::UserThread(WorkerSetup setup, const Clock& clock)
    : setup_(std::move(setup)), state_(std::make_shared<State>(clock)) {}

void UserThread::start(Callbacks callbacks) {
  state_->mailbox.start(std::move(callbacks.send));
  state_->on_end = std::move(callbacks.on_end);
  thread_ = std::thread([state = state_, setup = setup_] { run(state, setup); });
}

UserThread::~UserThread() {
  if (thread_.joinable())
    abandon();
}

void UserThread::run(const std::shared_ptr<State>& state, const WorkerSetup& setup) {
  // Also when user code ends its thread (pthread_exit), which unwinds without being an exception.
  struct Farewell {
    State& state;
    bool orderly = false;
    ~Farewell() { state.end(orderly); }
  } farewell{*state};
  try {
    TrialRunner runner(state->mailbox, setup);
    while (auto order = state->mailbox.next_trial())
      runner.run(std::move(*order));
    runner.let_go();
    farewell.orderly = true;
  } catch (...) {
    pass_forced_unwind();
    log::error("the thread of a worker failed",
               {{"worker", setup.worker}, {"what", current_exception_text()}});
  }
}

void UserThread::State::end(bool orderly) {
  mailbox.enter(UserActivity::ended, 0);
  mailbox.mute();
  std::function<void(bool)> last_word;
  const std::lock_guard lock(mutex);
  ended = true;
  ended_changed.notify_all();
  // What the callbacks hold may hold this thread: nothing of it is kept.
  last_word = std::exchange(on_end, nullptr);
  if (last_word)
    last_word(orderly);
}

bool UserThread::join_for(Duration timeout) {
  if (!thread_.joinable())
    return true;
  state_->mailbox.quit();
  {
    std::unique_lock lock(state_->mutex);
    if (!state_->ended_changed.wait_for(lock, timeout, [this] { return state_->ended; })) {
      return false;
    }
  }
  thread_.join();
  return true;
}

void UserThread::abandon() {
  state_->mailbox.mute();
  {
    const std::lock_guard lock(state_->mutex);
    state_->on_end = nullptr;
  }
  state_->mailbox.quit();
  if (thread_.joinable())
    thread_.detach();
}

}  // namespace troupe::detail
