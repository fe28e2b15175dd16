#pragma once

#include <troupe/actors/detail/user_thread.hpp>
#include <troupe/base/error.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <variant>

#include <tests/support/scratch_folder.hpp>

namespace troupe::testing {

/// Stands for everything that a user thread talks to.
class Peer {
public:
  explicit Peer(detail::WorkerSetup setup = {WorkerId(1), "experiment", 2.0, 0})
      : thread_(std::move(setup)) {
    thread_.start({[this](EventBody event) {
                     {
                       const std::lock_guard lock(mutex_);
                       events_.push_back(std::move(event));
                     }
                     changed_.notify_all();
                   },
                   [this](bool orderly) {
                     {
                       const std::lock_guard lock(mutex_);
                       ended_ = orderly ? "orderly" : "not orderly";
                     }
                     changed_.notify_all();
                   }});
  }
  ~Peer() {
    if (!thread_.join_for(std::chrono::seconds(60)))
      thread_.abandon();
  }

  /// The next event, which must be an `Event`.
  template <class Event>
  Event expect() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(60), [this] { return !events_.empty(); })) {
      throw Exception(ErrorCode::deadline_exceeded, "the user thread says nothing");
    }
    EventBody event = std::move(events_.front());
    events_.pop_front();
    if (auto* wanted = std::get_if<Event>(&event))
      return std::move(*wanted);
    std::string text = "unexpected event " + std::to_string(event.index());
    if (const auto* failed = std::get_if<TrialFailed>(&event))
      text += ": " + failed->message;
    throw Exception(ErrorCode::failed_precondition, text);
  }
  std::string wait_end() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60), [this] { return !ended_.empty(); });
    return ended_;
  }
  bool nothing_said() {
    const std::lock_guard lock(mutex_);
    return events_.empty();
  }

  RunTrial order(std::string trainable, Config config = {}, uint32_t trial = 0) {
    RunTrial order;
    order.worker = WorkerId(1);
    order.key = {TrialId(trial), 0};
    order.trainable = std::move(trainable);
    order.config = std::move(config);
    order.trial_name = order.trainable + "_" + std::to_string(trial);
    order.trial_dir = folder_.path().string();
    return order;
  }
  void answer(const Reported& report, Verdict verdict = Verdict::go_on,
              std::optional<uint32_t> save = std::nullopt) {
    mailbox().post(Answer{report.worker, report.key, report.message, verdict, save});
  }
  detail::UserMailbox& mailbox() { return thread_.mailbox(); }
  detail::UserThread& thread() { return thread_; }
  const std::filesystem::path& folder() const { return folder_.path(); }

private:
  ScratchFolder folder_{"user_thread"};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<EventBody> events_;
  std::string ended_;
  detail::UserThread thread_;
};

}  // namespace troupe::testing
