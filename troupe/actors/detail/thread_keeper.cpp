#include <troupe/actors/detail/event_sender.hpp>
#include <troupe/actors/detail/keeper.hpp>
#include <troupe/actors/detail/user_thread.hpp>
#include <troupe/actors/detail/watch.hpp>
#include <troupe/base/log.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <unistd.h>

namespace troupe::detail {

namespace {

// A thread cannot be killed; this is for one that is about to end.
constexpr Duration at_once_delay = std::chrono::milliseconds(100);

class ThreadKeeper : public caf::event_based_actor {
public:
  ThreadKeeper(caf::actor_config& config, const KeeperOptions& options, StartOrder order,
               caf::actor controller, std::shared_ptr<UserThread> thread)
      : caf::event_based_actor(config),
        options_(options),
        order_(std::move(order)),
        controller_(std::move(controller)),
        thread_(std::move(thread)),
        period_(look_after_period(options, order_)),
        watch_({order_.step_timeout, order_.setup_timeout, options.stop_grace}) {}

  caf::behavior make_behavior() override {
    set_default_handler(caf::drop);
    set_down_handler([this](caf::down_msg&) { stop({{}, true}); });
    monitor(controller_);
    thread_->start({
        event_sender(controller_),
        [self = caf::actor_cast<caf::actor>(ctrl())](bool orderly) {
          caf::anon_send(self, thread_ended_atom_v, orderly);
        },
    });
    send(controller_, WorkerStarted{worker(), ::getpid(), options_.host});
    tick_later();
    return {
        [this](StopTrial& stop) {
          watch_.trial_stopped(stop.key);
          thread_->mailbox().post(std::move(stop));
        },
        [this](StopWorker& order) { stop(order); },
        [this](thread_ended_atom, bool orderly) { ended(orderly); },
        [this](look_after_atom, uint64_t number) { look_after(number); },
    };
  }

private:
  WorkerId worker() const { return order_.start.worker; }

  void tick_later() {
    if (std::exchange(ticking_, true))
      return;
    delayed_send(this, period_, look_after_atom_v, ticks_);
  }

  void look_after(uint64_t number) {
    if (number != ticks_)
      return;
    ticking_ = false;
    watch_.tick(period_);
    tick_later();
    const UserProgress progress = thread_->mailbox().progress();
    if (progress.activity == UserActivity::ended)
      return;  // its last word is on the way
    if (abandon_at_) {
      if (watch_.now() >= *abandon_at_)
        abandon("the worker did not end when it was told to");
      return;
    }
    Watch::Verdict verdict = watch_.look(progress);
    if (verdict.warning)
      warn_of_long_call(worker(), progress, *verdict.warning);
    if (verdict.cancel)
      thread_->mailbox().cancel(std::move(*verdict.cancel));
    if (verdict.expired)
      abandon(std::move(*verdict.expired), verdict.kind);
  }

  void stop(const StopWorker& order) {
    thread_->mailbox().quit();
    abandon_at_ = watch_.now() + (order.at_once ? Duration::zero() : options_.stop_grace);
    if (order.at_once) {  // a thread that can end does so meanwhile
      period_ = std::min<Duration>(period_, at_once_delay);
      ++ticks_;
      ticking_ = false;
    }
    tick_later();
  }

  void abandon(std::string why, FailureKind kind = FailureKind::user) {
    thread_->abandon();
    log::error(
        "a call of user code does not end; its thread is left behind and goes on using CPU "
        "and memory",
        {{"worker", worker()}, {"why", why}});
    send(controller_, thread_abandoned_atom_v);
    gone(kind, why + "; its thread is left behind");
  }

  void ended(bool orderly) {
    thread_->join_for(Duration::zero());
    gone(FailureKind::user,
         orderly ? "ended as told" : "user code ended the thread it was called on");
  }

  void gone(FailureKind kind, std::string message) {
    send(controller_, WorkerExited{worker(), kind, std::move(message)});
    quit();
  }

  const KeeperOptions options_;
  const StartOrder order_;
  const caf::actor controller_;
  const std::shared_ptr<UserThread> thread_;
  Duration period_;
  Watch watch_;
  std::optional<Duration> abandon_at_;
  bool ticking_ = false;
  uint64_t ticks_ = 0;  ///< older ones do not count
};

}  // namespace

caf::actor spawn_thread_keeper(caf::actor_system& system, const KeeperOptions& options,
                               StartOrder order, caf::actor controller,
                               std::shared_ptr<UserThread> thread) {
  return system.spawn<ThreadKeeper>(options, std::move(order), std::move(controller),
                                    std::move(thread));
}

}  // namespace troupe::detail
