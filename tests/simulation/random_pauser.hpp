#pragma once

#include <troupe/tune/schedule/scheduler.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace troupe::simulation {

/// A scheduler that pauses, stops and orders about at random, but deterministically: what a user
/// could write at worst. Prefers paused trials, declines to start anything now and then.
class RandomPauser final : public tune::Scheduler {
public:
  std::string name() const override { return "random_pauser"; }
  std::unique_ptr<tune::Scheduler> clone() const override;
  Status setup(const tune::ScheduleContext& context) override;
  void on_trial_add(TrialId trial, const Config& config) override;
  Result<tune::ScheduleDecision> decide(TrialId trial, const Metrics& metrics) const override;
  void record(TrialId trial, const Metrics& metrics,
              const tune::ScheduleDecision& decision) override;
  std::optional<tune::StopOrder> next_stop() const override;
  std::optional<TrialId> choose_trial_to_run(const tune::WaitingTrials& waiting) const override;
  void on_retry(TrialId trial) override;
  void on_complete(TrialId trial, Ending ending, const Metrics* last) override;
  Value save() const override;
  Status restore(const Value& state) override;

private:
  std::uint64_t seed_ = 0;
  std::uint64_t results_ = 0;
  std::map<TrialId, std::uint64_t> live_;  ///< results so far
  std::int64_t victim_ = -1;
};

}  // namespace troupe::simulation
