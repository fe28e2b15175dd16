#include <troupe/actors/controller_core.hpp>

#include <exception>
#include <string>
#include <type_traits>
#include <variant>

namespace troupe {

ControllerCore::ControllerCore(Loop& loop, Sink& sink, Sequence position)
    : loop_(loop), sink_(sink), submitted_(position), accepted_(position), durable_(position) {}

namespace {

/// Searchers and stoppers of users run inside a loop: what they throw is an error of the loop.
template <class Call>
Result<Step> guarded(Call call) {
  try {
    return call();
  } catch (const Exception& e) {
    return e.error();
  } catch (const std::exception& e) {
    return Error(ErrorCode::user_code,
                 std::string("an exception in the decision loop: ") + e.what());
  } catch (...) {
    return Error(ErrorCode::user_code, "an exception in the decision loop");
  }
}

}  // namespace

void ControllerCore::start(TimePoint now, int64_t wall_ms) {
  if (started_ || error_)
    return;
  started_ = true;
  take(guarded([&] { return loop_.start(now, wall_ms); }));
}

void ControllerCore::handle(Event event) {
  if (!error_ && (!held_.empty() || !sink_.has_room())) {
    held_.push_back(std::move(event));
    return;
  }
  process(event);
}

void ControllerCore::process(const Event& event) {
  if (!from_live_worker(event) || error_ || !started_) {
    if (!std::holds_alternative<Tick>(event.body))
      ++counters_.stale_events;
    return;
  }
  ++counters_.events;
  take(guarded([&] { return loop_.handle(event); }));
}

bool ControllerCore::from_live_worker(const Event& event) {
  return std::visit(
      [this](const auto& body) {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<Body, Tick> || std::is_same_v<Body, StopRequested> ||
                      std::is_same_v<Body, Computed>) {
          return true;
        } else if constexpr (std::is_same_v<Body, WorkerExited>) {
          return workers_.erase(body.worker) > 0;
        } else {
          return workers_.contains(body.worker);
        }
      },
      event.body);
}

void ControllerCore::take(Result<Step> step) {
  if (!step) {
    fail(std::move(step).error());
    return;
  }
  if (!step->writes.empty()) {
    Result<Sequence> last = sink_.submit(std::move(step->writes));
    if (!last) {
      store_failed(std::move(last).error());
      return;
    }
    submitted_ = *last;
  }
  for (Command& command : step->when_accepted) {
    when_accepted_.emplace_back(submitted_, std::move(command));
  }
  for (Command& command : step->when_durable) {
    when_durable_.emplace_back(submitted_, std::move(command));
  }
  release(when_accepted_, accepted_);
  release(when_durable_, durable_);
}

void ControllerCore::on_accepted(Sequence sequence) {
  if (sequence > accepted_)
    accepted_ = sequence;
  release(when_accepted_, accepted_);
  while (!held_.empty() && (error_ || sink_.has_room())) {
    const Event event = std::move(held_.front());
    held_.pop_front();
    process(event);
  }
}

void ControllerCore::on_durable(Sequence sequence) {
  if (sequence > durable_)
    durable_ = sequence;
  release(when_durable_, durable_);
}

void ControllerCore::release(Waiting& waiting, Sequence up_to) {
  while (!waiting.empty() && waiting.front().first <= up_to) {
    Command command = std::move(waiting.front().second);
    waiting.pop_front();
    // After a failure nothing new is begun; a deletion that is durable is merely carried out.
    if (!error_ || std::holds_alternative<DeleteCheckpoint>(command))
      execute(std::move(command));
  }
}

void ControllerCore::execute(Command command) {
  ++counters_.commands;
  if (const auto* start = std::get_if<StartWorker>(&command)) {
    workers_.insert(start->worker);
    ++(start->isolation == Isolation::process ? counters_.process_workers
                                              : counters_.thread_workers);
  }
  sink_.execute(std::move(command));
}

void ControllerCore::fail(Error error, bool at_once) {
  if (error_ && !at_once)
    return;
  for (const WorkerId worker : workers_) {
    ++counters_.commands;
    sink_.execute(StopWorker{worker, at_once});
  }
  if (error_)
    return;
  error_ = std::move(error);
  when_accepted_.clear();
  // Held events: only ends of workers still matter.
  while (!held_.empty()) {
    const Event event = std::move(held_.front());
    held_.pop_front();
    process(event);
  }
}

void ControllerCore::store_failed(Error error) {
  store_failed_ = true;
  fail(std::move(error));
}

bool ControllerCore::finished() const {
  if (error_)
    return workers_.empty() && (store_failed_ || durable_ >= submitted_);
  return started_ && held_.empty() && loop_.finished() && workers_.empty() &&
         when_accepted_.empty() && when_durable_.empty() && durable_ >= submitted_;
}

std::optional<TimePoint> ControllerCore::next_deadline() const {
  if (error_ || !started_)
    return std::nullopt;
  return loop_.next_deadline();
}

}  // namespace troupe
