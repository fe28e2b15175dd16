#include <troupe/tune/schedule/fifo.hpp>

namespace troupe::tune {

std::unique_ptr<Scheduler> Fifo::clone() const {
  return std::make_unique<Fifo>(*this);
}

Status Fifo::setup(const ScheduleContext&) {
  return ok();
}

Result<ScheduleDecision> Fifo::decide(TrialId, const Metrics&) const {
  return ScheduleDecision{};
}

void Fifo::record(TrialId, const Metrics&, const ScheduleDecision&) {}

Value Fifo::save() const {
  return Map{};
}

Status Fifo::restore(const Value& state) {
  const Map* map = state.get_if<Map>();
  if (map == nullptr || !map->empty())
    return Error(ErrorCode::corrupt, "the state of fifo is an empty map");
  return ok();
}

std::shared_ptr<Scheduler> fifo() {
  return std::make_shared<Fifo>();
}

}  // namespace troupe::tune
