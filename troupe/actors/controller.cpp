#include <troupe/actors/controller.hpp>
#include <troupe/actors/detail/controller_actor.hpp>
#include <troupe/actors/detail/messages.hpp>
#include <troupe/actors/detail/runtime_impl.hpp>
#include <troupe/base/log.hpp>

#include <caf/send.hpp>

namespace troupe {

namespace {

// What the keepers need beyond the grace time to end their workers.
constexpr Duration give_up_margin = std::chrono::seconds(60);
constexpr Duration removal_deadline = std::chrono::seconds(60);

}  // namespace

class Controller::Impl {
public:
  Impl(Runtime::Impl& runtime, Loop& loop, Journal& journal, ControllerOptions options,
       std::function<void(const Watermarks&)> on_progress)
      : runtime_(runtime), outcome_(std::make_shared<detail::ControllerOutcome>()) {
    actor_ = detail::spawn_controller(runtime.system(),
                                      {loop, journal, std::move(options), std::move(on_progress),
                                       runtime.agent(), runtime.remover(), outcome_});
  }

  ~Impl() {
    if (done_within(Duration::zero()))
      return;
    caf::anon_send(actor_, detail::give_up_atom_v);
    if (done_within(runtime_.options().stop_grace + give_up_margin))
      return;
    // Loop and journal are about to be destroyed while they may be in use.
    log::error("a controller does not end; the process is aborted");
    std::abort();
  }

  Status wait() {
    while (!done_within(std::chrono::hours(1))) {
    }
    if (!runtime_.remover().drain(removal_deadline)) {
      log::warning("checkpoints that are not kept are still being removed");
    }
    const std::lock_guard lock(outcome_->mutex);
    return *outcome_->result;
  }

  bool done_within(Duration timeout) const {
    std::unique_lock lock(outcome_->mutex);
    return outcome_->changed.wait_for(lock, timeout,
                                      [this] { return outcome_->result.has_value(); });
  }

  void request_stop(std::string reason) {
    caf::anon_send(actor_, StopRequested{std::move(reason)});
  }

  ControllerCounters counters() const {
    const std::lock_guard lock(outcome_->mutex);
    return outcome_->counters;
  }

private:
  Runtime::Impl& runtime_;
  std::shared_ptr<detail::ControllerOutcome> outcome_;
  caf::actor actor_;
};

Controller::Controller(Runtime& runtime, Loop& loop, Journal& journal, ControllerOptions options,
                       std::function<void(const Watermarks&)> on_progress)
    : impl_(std::make_unique<Impl>(runtime.impl(), loop, journal, std::move(options),
                                   std::move(on_progress))) {}

Controller::~Controller() = default;

Status Controller::wait() {
  return impl_->wait();
}

bool Controller::wait_for(Duration timeout) {
  return impl_->done_within(timeout);
}

void Controller::request_stop(std::string reason) {
  impl_->request_stop(std::move(reason));
}

ControllerCounters Controller::counters() const {
  return impl_->counters();
}

}  // namespace troupe
