#include <troupe/tune/detail/status_count.hpp>

#include <variant>

namespace troupe::tune::detail {
namespace {

void count_action(const Action& action, ExperimentRow& status) {
  if (std::holds_alternative<CreateTrial>(action))
    ++status.created;
  else if (std::holds_alternative<EndTrial>(action))
    ++status.terminated;
  else if (const auto* start = std::get_if<StartTrial>(&action))
    ++(start->fresh ? status.actor_starts : status.actor_reuses);
}

}  // namespace

void count_event(const EventRecord& event, ExperimentRow& status) {
  const Decision& decision = event.decision;
  status.run_time = event.run_time;
  status.updated_ms = event.wall_ms;
  if (const auto* taken = std::get_if<ErroredTaken>(&event.body);
      taken != nullptr && taken->how == Resume::resume)
    status.errored -= taken->rows.size();
  if (std::holds_alternative<ResetRefused>(event.body))
    ++status.resets_refused;
  if (decision.accepted)
    ++status.results;
  if (decision.outcome == Outcome::terminated)
    ++status.terminated;
  if (decision.outcome == Outcome::error)
    ++status.errored;
  for (const Action& action : decision.actions)
    count_action(action, status);
}

}  // namespace troupe::tune::detail
