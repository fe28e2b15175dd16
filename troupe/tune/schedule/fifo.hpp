#pragma once

#include <troupe/tune/schedule/scheduler.hpp>

#include <memory>
#include <string>

namespace troupe::tune {

/// Every trial runs to its end; the one that waits longest comes first. The default.
class Fifo final : public Scheduler {
public:
  [[nodiscard]] std::string name() const override { return "fifo"; }
  [[nodiscard]] std::unique_ptr<Scheduler> clone() const override;
  [[nodiscard]] Status setup(const ScheduleContext& context) override;
  [[nodiscard]] Result<ScheduleDecision> decide(TrialId trial,
                                                const Metrics& metrics) const override;
  void record(TrialId trial, const Metrics& metrics, const ScheduleDecision& decision) override;
  [[nodiscard]] Value save() const override;
  [[nodiscard]] Status restore(const Value& state) override;
};

/// For `TuneConfig::scheduler`.
std::shared_ptr<Scheduler> fifo();

}  // namespace troupe::tune
