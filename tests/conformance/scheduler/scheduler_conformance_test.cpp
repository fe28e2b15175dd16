#include <troupe/serialization/objective.hpp>
#include <troupe/tune/schedule/asha.hpp>
#include <troupe/tune/schedule/fifo.hpp>
#include <troupe/tune/schedule/scheduler_suite.hpp>

#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "tests/simulation/random_pauser.hpp"

// Each of Troupe's schedulers; and schedulers that break a rule each, so that the suite is known to
// notice.

namespace troupe::tune {
namespace {

std::string all_broken(const Scheduler& scheduler) {
  std::string broken;
  for (const Mode mode : {Mode::min, Mode::max})
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
      for (const std::string& rule : check_scheduler(
               scheduler, {.metric = "loss", .mode = mode, .seed = seed}, {.seed = seed}))
        broken += rule + '\n';
  return broken;
}

/// Stops every third result; breaks the rule that it is told to.
class Careless final : public Scheduler {
public:
  enum class Rule { decide_changes, forgets_on_restore, no_reason, orders_the_dead, chooses_any };
  explicit Careless(Rule rule) : rule_(rule) {}

  std::string name() const override { return "careless"; }
  std::unique_ptr<Scheduler> clone() const override { return std::make_unique<Careless>(*this); }
  Status setup(const ScheduleContext&) override {
    count_ = 0;
    return ok();
  }
  Result<ScheduleDecision> decide(TrialId, const Metrics&) const override {
    if (rule_ == Rule::decide_changes)
      ++count_;
    if (count_ % 3 != 2)
      return ScheduleDecision{};
    return ScheduleDecision{ScheduleAction::stop, rule_ == Rule::no_reason ? "" : "third", {}};
  }
  void record(TrialId, const Metrics&, const ScheduleDecision&) override { ++count_; }
  std::optional<StopOrder> next_stop() const override {
    if (rule_ == Rule::orders_the_dead && count_ == 20)
      return StopOrder{TrialId(900'000), "why not"};
    return std::nullopt;
  }
  std::optional<TrialId> choose_trial_to_run(const WaitingTrials& waiting) const override {
    if (rule_ == Rule::chooses_any)
      return TrialId(0);
    return Scheduler::choose_trial_to_run(waiting);
  }
  Value save() const override { return Map{{"count", count_}}; }
  Status restore(const Value& state) override {
    const Map* map = state.get_if<Map>();
    if (map == nullptr || !map->contains("count"))
      return Error(ErrorCode::corrupt, "not a state");
    if (rule_ != Rule::forgets_on_restore)
      count_ = map->at("count").as_int();
    return ok();
  }

private:
  Rule rule_;
  mutable std::int64_t count_ = 0;
};

TEST_CASE("fifo keeps the contract") {
  CHECK(all_broken(Fifo()) == "");
}

TEST_CASE("asha keeps the contract, by either rule and with brackets") {
  CHECK(all_broken(Asha()) == "");
  CHECK(all_broken(Asha({.max_t = 20, .reduction_factor = 3, .strict = true})) == "");
  CHECK(all_broken(Asha({.max_t = 16, .grace_period = 2, .reduction_factor = 2, .brackets = 3})) ==
        "");
}

TEST_CASE("the scheduler of the simulation keeps the contract") {
  CHECK(all_broken(simulation::RandomPauser()) == "");
}

TEST_CASE("the suite notices each broken rule") {
  CHECK(all_broken(Careless(Careless::Rule::decide_changes)) != "");
  CHECK(all_broken(Careless(Careless::Rule::forgets_on_restore)) != "");
  CHECK(all_broken(Careless(Careless::Rule::no_reason)) != "");
  CHECK(all_broken(Careless(Careless::Rule::orders_the_dead)) != "");
  CHECK(all_broken(Careless(Careless::Rule::chooses_any)) != "");
}

}  // namespace
}  // namespace troupe::tune
