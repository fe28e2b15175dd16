#include <troupe/actors/detail/user_mailbox.hpp>

#include <algorithm>
#include <utility>

namespace troupe::detail {

UserMailbox::UserMailbox(const Clock& clock) : clock_(clock), since_(clock.now()) {}

void UserMailbox::start(Send send) {
  const std::lock_guard lock(send_mutex_);
  send_ = std::move(send);
}

void UserMailbox::post(RunTrial order) {
  {
    const std::lock_guard lock(mutex_);
    trials_.push_back(std::move(order));
  }
  news_.notify_one();
}

void UserMailbox::post(Answer answer) {
  {
    const std::lock_guard lock(mutex_);
    if (current_ != answer.key)
      return;  // of a former attempt
    answers_.push_back(std::move(answer));
  }
  news_.notify_one();
}

void UserMailbox::post(StopTrial stop) {
  {
    const std::lock_guard lock(mutex_);
    const bool waits_here = std::any_of(trials_.begin(), trials_.end(), [&stop](const auto& trial) {
      return trial.key == stop.key;
    });
    if (current_ != stop.key && !waits_here)
      return;
    if (current_ == stop.key)
      stop_asked_.store(true, std::memory_order_relaxed);
    stops_.push_back(std::move(stop));
  }
  news_.notify_one();
}

void UserMailbox::cancel(CancelCall cancel) {
  const std::lock_guard lock(mutex_);
  if (cancel.call != calls_ || !current_)
    return;
  cancelled_ = std::move(cancel.reason);
  stop_asked_.store(true, std::memory_order_relaxed);
}

void UserMailbox::quit() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
    stop_asked_.store(true, std::memory_order_relaxed);
  }
  news_.notify_one();
}

void UserMailbox::mute() {
  const std::lock_guard lock(send_mutex_);
  send_ = nullptr;
}

UserProgress UserMailbox::progress() const {
  const TimePoint now = clock_.now();
  const std::lock_guard lock(mutex_);
  return {activity_, calls_, step_, now - since_, current_, failure_};
}

std::optional<RunTrial> UserMailbox::next_trial() {
  std::unique_lock lock(mutex_);
  current_.reset();
  cancelled_.reset();
  answers_.clear();
  news_.wait(lock, [this] { return quit_ || !trials_.empty(); });
  if (quit_)
    return std::nullopt;
  RunTrial order = std::move(trials_.front());
  trials_.pop_front();
  current_ = order.key;
  std::erase_if(stops_, [&order](const StopTrial& stop) { return stop.key != order.key; });
  stop_asked_.store(!stops_.empty(), std::memory_order_relaxed);
  return order;
}

std::optional<StopTrial> UserMailbox::find_stop(const TrialKey& key) {
  const auto found = std::find_if(stops_.begin(), stops_.end(),
                                  [&key](const StopTrial& stop) { return stop.key == key; });
  if (found == stops_.end()) {
    if (quit_)
      return StopTrial{{}, key, std::nullopt};
    return std::nullopt;
  }
  StopTrial stop = std::move(*found);
  stops_.erase(found);
  return stop;
}

std::optional<Answer> UserMailbox::wait_answer(const TrialKey& key, uint64_t message) {
  std::unique_lock lock(mutex_);
  for (;;) {
    while (!answers_.empty()) {
      Answer answer = std::move(answers_.front());
      answers_.pop_front();
      if (answer.key == key && answer.message == message)
        return answer;
    }
    const bool stopped = std::any_of(stops_.begin(), stops_.end(),
                                     [&key](const StopTrial& stop) { return stop.key == key; });
    if (stopped || quit_)
      return std::nullopt;
    news_.wait(lock);
  }
}

std::optional<StopTrial> UserMailbox::take_stop(const TrialKey& key) {
  if (!stop_asked())
    return std::nullopt;
  const std::lock_guard lock(mutex_);
  return find_stop(key);
}

std::optional<std::string> UserMailbox::take_cancelled() {
  if (!stop_asked())
    return std::nullopt;
  const std::lock_guard lock(mutex_);
  return std::exchange(cancelled_, std::nullopt);
}

std::optional<std::string> UserMailbox::forgive_cancelled() {
  const std::lock_guard lock(mutex_);
  if (cancelled_)
    stop_asked_.store(
        quit_ || std::any_of(stops_.begin(), stops_.end(),
                             [this](const StopTrial& stop) { return stop.key == current_; }),
        std::memory_order_relaxed);
  return std::exchange(cancelled_, std::nullopt);
}

void UserMailbox::enter(UserActivity activity, uint64_t step, std::string failure) {
  const TimePoint now = clock_.now();
  const std::lock_guard lock(mutex_);
  activity_ = activity;
  step_ = step;
  failure_ = std::move(failure);
  since_ = now;
  ++calls_;
}

void UserMailbox::send(EventBody event) {
  const std::lock_guard lock(send_mutex_);
  if (send_)
    send_(std::move(event));
}

}  // namespace troupe::detail
