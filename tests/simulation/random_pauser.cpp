#include "random_pauser.hpp"

#include <troupe/base/random.hpp>
#include <troupe/serialization/objective.hpp>

#include <iterator>

namespace troupe::simulation {

using tune::ScheduleAction;
using tune::ScheduleDecision;

std::unique_ptr<tune::Scheduler> RandomPauser::clone() const {
  return std::make_unique<RandomPauser>(*this);
}

Status RandomPauser::setup(const tune::ScheduleContext& context) {
  *this = RandomPauser();
  seed_ = context.seed;
  return ok();
}

void RandomPauser::on_trial_add(TrialId trial, const Config&) {
  live_[trial] = 0;
}

Result<ScheduleDecision> RandomPauser::decide(TrialId trial, const Metrics& metrics) const {
  const auto iteration = metric_number(metrics, "training_iteration");
  if (!iteration)
    return iteration.error();
  Random random(seed_, trial.value, RandomPurpose::scheduler,
                static_cast<std::uint32_t>(*iteration));
  const double draw = random.uniform();
  if (draw < 0.05)
    return ScheduleDecision{ScheduleAction::stop, "pauser: stop", random.uniform()};
  if (draw < 0.35)
    return ScheduleDecision{ScheduleAction::pause, "pauser: pause", {}};
  return ScheduleDecision{};
}

void RandomPauser::record(TrialId trial, const Metrics&, const ScheduleDecision&) {
  ++live_[trial];
  ++results_;
  Random random(seed_, results_, RandomPurpose::scheduler, 1u << 31);
  if (victim_ < 0 && random.chance(0.04)) {
    auto chosen = live_.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(random.below(live_.size())));
    victim_ = chosen->first.value;
  }
}

std::optional<tune::StopOrder> RandomPauser::next_stop() const {
  if (victim_ < 0)
    return std::nullopt;
  return tune::StopOrder{TrialId(static_cast<std::uint32_t>(victim_)), "pauser: ordered"};
}

std::optional<TrialId> RandomPauser::choose_trial_to_run(const tune::WaitingTrials& waiting) const {
  Random random(seed_, results_, RandomPurpose::scheduler, (1u << 31) + 1);
  const double draw = random.uniform();
  if (draw < 0.1)
    return std::nullopt;
  const auto pending = waiting.first_pending();
  const auto paused = waiting.first_paused();
  if (draw < 0.6)
    return paused ? paused : pending;
  return pending ? pending : paused;
}

void RandomPauser::on_retry(TrialId) {
  ++results_;
}

void RandomPauser::on_complete(TrialId trial, Ending, const Metrics*) {
  live_.erase(trial);
  if (victim_ == static_cast<std::int64_t>(trial.value))
    victim_ = -1;
}

Value RandomPauser::save() const {
  List live;
  for (const auto& [trial, results] : live_)
    live.push_back(List{trial.value, results});
  return Map{{"live", live}, {"results", results_}, {"victim", victim_}};
}

Status RandomPauser::restore(const Value& state) {
  try {
    const Map& map = state.as_map();
    std::map<TrialId, std::uint64_t> live;
    for (const Value& entry : map.at("live").as_list())
      live[TrialId(static_cast<std::uint32_t>(entry.as_list().at(0).as_int()))] =
          static_cast<std::uint64_t>(entry.as_list().at(1).as_int());
    results_ = static_cast<std::uint64_t>(map.at("results").as_int());
    victim_ = map.at("victim").as_int();
    live_ = std::move(live);
    return ok();
  } catch (const std::exception& e) {
    return Error(ErrorCode::corrupt, e.what());
  }
}

}  // namespace troupe::simulation
