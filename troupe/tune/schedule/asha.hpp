#pragma once

#include <troupe/tune/schedule/rung.hpp>
#include <troupe/tune/schedule/scheduler.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::tune {

struct AshaOptions {
  /// What counts as time: a metric that grows, with every result.
  std::string time_attr = "training_iteration";
  /// A trial that comes so far is finished.
  double max_t = 100;
  /// No trial stops before.
  double grace_period = 1;
  /// At each rung one of so many goes on; rungs are at grace_period times its powers. > 1.
  double reduction_factor = 4;
  /// Brackets with a later and later first rung. Each trial is put into one at random.
  std::uint32_t brackets = 1;
  /// Ray's rule instead of ours: stop below the percentile of the values that others recorded
  /// before, judge skipped rungs later. NaN never survives a comparison in either.
  bool strict = false;
  /// Empty: metric and mode of the search, `TuneConfig::metric`.
  std::string metric{};
  std::optional<Mode> mode{};
};

/// Asynchronous successive halving, stopping variant (Li et al., 2020).
///
/// A trial that reaches a rung (the highest it has reached and not been judged at) is compared with
/// all that came to it before, itself included: it goes on when it is among the best
/// 1/reduction_factor of them, ties in its favour, or while fewer than reduction_factor have come.
/// So the first trials go on however bad they are, the very first ones up to max_t: the price of
/// waiting for nobody. Nothing is promoted later. Costs O(log n) per judgement; keeps one number
/// per trial and rung.
class Asha final : public Scheduler {
public:
  explicit Asha(AshaOptions options = {});

  [[nodiscard]] std::string name() const override { return "asha"; }
  [[nodiscard]] Value options() const override;
  [[nodiscard]] std::unique_ptr<Scheduler> clone() const override;
  [[nodiscard]] Status setup(const ScheduleContext& context) override;
  [[nodiscard]] std::vector<std::string> required_metrics() const override;
  void on_trial_add(TrialId trial, const Config& config) override;
  [[nodiscard]] Result<ScheduleDecision> decide(TrialId trial,
                                                const Metrics& metrics) const override;
  void record(TrialId trial, const Metrics& metrics, const ScheduleDecision& decision) override;
  void on_complete(TrialId trial, Ending ending, const Metrics* last) override;
  [[nodiscard]] Value save() const override;
  [[nodiscard]] Status restore(const Value& state) override;

  /// The times of the rungs of a bracket. After `setup`.
  [[nodiscard]] std::vector<double> rungs(std::uint32_t bracket) const;
  /// The bracket of a live trial; 0 when it is not known.
  [[nodiscard]] std::uint32_t bracket_of(TrialId trial) const;

private:
  struct Live {
    std::uint32_t bracket = 0;
    std::uint64_t judged = 0;  ///< one bit per rung
  };

  [[nodiscard]] std::uint32_t draw_bracket(TrialId trial) const;
  /// The rung at which a result of `trial` at `time` is judged; -1: none.
  [[nodiscard]] int rung_for(const Live& live, double time) const;
  [[nodiscard]] bool survives(const Rung& rung, double score) const;
  void enter(Live& live, const Metrics& metrics);

  AshaOptions options_;
  ScheduleContext context_;
  std::string metric_;
  Mode mode_ = Mode::max;
  std::vector<std::vector<Rung>> brackets_;
  std::map<TrialId, Live> live_;
};

/// For `TuneConfig::scheduler`: `tune::asha({.max_t = 50, .grace_period = 2})`.
std::shared_ptr<Scheduler> asha(AshaOptions options = {});

}  // namespace troupe::tune
