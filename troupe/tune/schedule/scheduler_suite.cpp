#include <troupe/base/random.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/schedule/scheduler_suite.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <utility>

namespace troupe::tune {
namespace {

struct BrokenRule {
  std::string what;
};

void require(bool holds, const std::string& rule) {
  if (!holds)
    throw BrokenRule{rule};
}

class Waiting final : public WaitingTrials {
public:
  std::optional<TrialId> first_pending() const override { return first(pending); }
  std::optional<TrialId> first_paused() const override { return first(paused); }
  bool is_pending(TrialId trial) const override { return contains(pending, trial); }
  bool is_paused(TrialId trial) const override { return contains(paused, trial); }

  bool contains(TrialId trial) const { return is_pending(trial) || is_paused(trial); }
  void remove(TrialId trial) {
    std::erase(pending, trial);
    std::erase(paused, trial);
  }

  std::vector<TrialId> pending;
  std::vector<TrialId> paused;

private:
  static std::optional<TrialId> first(const std::vector<TrialId>& queue) {
    return queue.empty() ? std::nullopt : std::optional(queue.front());
  }
  static bool contains(const std::vector<TrialId>& queue, TrialId trial) {
    return std::find(queue.begin(), queue.end(), trial) != queue.end();
  }
};

/// One made-up experiment: the scheduler under test and a twin that never decides.
class Experiment {
public:
  Experiment(const Scheduler& prototype, const ScheduleContext& context,
             const SchedulerSuiteOptions& options)
      : prototype_(prototype),
        context_(context),
        options_(options),
        random_(options.seed, 0, RandomPurpose::test) {}

  void run() {
    scheduler_ = fresh();
    twin_ = fresh();
    empty_ = scheduler_->save();
    require(twin_->save() == empty_, "two schedulers after setup have equal states");
    std::uint64_t steps = 0;
    while (next_.value < options_.trials || !live_.empty()) {
      fill_slots();
      if (running_.empty())
        end_the_paused();
      else
        happen();
      obey_orders();
      compare(steps++);
      require(steps < 1000 * std::uint64_t{options_.trials}, "the experiment ends");
    }
    both([](Scheduler& s) { s.on_complete(TrialId(1'000'000), Ending::failed, nullptr); });
    check_setup_forgets();
    check_damage();
  }

private:
  std::unique_ptr<Scheduler> fresh() const {
    auto scheduler = prototype_.clone();
    require(scheduler != nullptr, "clone returns an object");
    require(scheduler->name() == prototype_.name(), "a clone has the name of the original");
    const Status status = scheduler->setup(context_);
    require(status.has_value(),
            "setup accepts the context: " + (status ? std::string() : status.error().message()));
    return scheduler;
  }

  template <class F>
  void both(F what) {
    what(*scheduler_);
    what(*twin_);
  }

  void fill_slots() {
    while (running_.size() < options_.concurrent) {
      if (waiting_.pending.empty() && next_.value < options_.trials) {
        const Config config{{"x", random_.uniform()}};
        both([&](Scheduler& s) { s.on_trial_add(next_, config); });
        waiting_.pending.push_back(next_);
        live_[next_] = 0;
        next_ = next_.next();
      }
      if (waiting_.pending.empty() && waiting_.paused.empty())
        return;
      const Value before = scheduler_->save();
      auto chosen = scheduler_->choose_trial_to_run(waiting_);
      require(chosen == scheduler_->choose_trial_to_run(waiting_) && scheduler_->save() == before,
              "choose_trial_to_run changes nothing and repeats itself");
      require(!chosen || waiting_.contains(*chosen), "only waiting trials are chosen");
      // What the loop does when nothing runs: no pending trial waits for ever.
      if (!chosen && running_.empty())
        chosen = waiting_.first_pending();
      if (!chosen)
        return;
      waiting_.remove(*chosen);
      running_.push_back(*chosen);
    }
  }

  void end_the_paused() {
    while (!waiting_.paused.empty())
      complete(waiting_.paused.front(), Ending::stopped);
  }

  Metrics metrics(std::uint64_t iteration) {
    static constexpr double awkward[] = {std::numeric_limits<double>::quiet_NaN(),
                                         std::numeric_limits<double>::infinity(),
                                         -std::numeric_limits<double>::infinity()};
    Metrics made{{"training_iteration", iteration},
                 {"time_total_s", static_cast<double>(iteration) / 2}};
    for (const std::string& path : scheduler_->required_metrics())
      if (made.find(path) == nullptr)
        made.set(path, random_.chance(0.1) ? awkward[random_.below(3)] : random_.uniform(-1, 1));
    return made;
  }

  void happen() {
    const TrialId trial = running_[static_cast<std::size_t>(random_.below(running_.size()))];
    if (random_.chance(0.05)) {
      std::erase(running_, trial);
      both([&](Scheduler& s) { s.on_retry(trial); });
      waiting_.pending.push_back(trial);
      return;
    }
    if (random_.chance(0.03))
      return complete(trial, Ending::failed);
    const Metrics made = metrics(++live_[trial]);
    last_[trial] = made;
    if (live_[trial] >= options_.max_results)
      return complete(trial, Ending::finished);
    const Value before = scheduler_->save();
    const auto decision = scheduler_->decide(trial, made);
    require(decision.has_value(),
            "decide succeeds: " + (decision ? std::string() : decision.error().message()));
    const auto again = scheduler_->decide(trial, made);
    require(again && again->action == decision->action && again->reason == decision->reason &&
                again->note == decision->note && scheduler_->save() == before,
            "decide changes nothing and repeats itself");
    both([&](Scheduler& s) { s.record(trial, made, *decision); });
    if (decision->action == ScheduleAction::go_on)
      return;
    if (decision->action == ScheduleAction::pause) {
      std::erase(running_, trial);
      waiting_.paused.push_back(trial);
      return;
    }
    require(!decision->reason.empty(), "who stops has a reason");
    const bool finished = decision->action == ScheduleAction::finish;
    complete(trial, finished ? Ending::finished : Ending::stopped);
  }

  void complete(TrialId trial, Ending ending) {
    const Metrics* last = live_[trial] > 0 ? &last_[trial] : nullptr;
    both([&](Scheduler& s) { s.on_complete(trial, ending, last); });
    std::erase(running_, trial);
    waiting_.remove(trial);
    live_.erase(trial);
    last_.erase(trial);
  }

  void obey_orders() {
    for (std::size_t orders = 0;; ++orders) {
      require(orders <= options_.trials, "orders to stop come to an end");
      const Value before = scheduler_->save();
      const auto order = scheduler_->next_stop();
      require(scheduler_->save() == before, "next_stop changes nothing");
      if (!order)
        return;
      require(live_.contains(order->trial), "only live trials are ordered to stop");
      require(!order->reason.empty(), "who is ordered to stop is told why");
      complete(order->trial, Ending::stopped);
    }
  }

  /// Whoever heard the same is the same, and goes on alike.
  void compare(std::uint64_t step) {
    const Value state = scheduler_->save();
    require(twin_->save() == state, "a scheduler that never decided, but heard the same, is equal");
    if (step % 11 != 0)
      return;
    auto restored = fresh();
    const Status status = restored->restore(state);
    require(status.has_value(),
            "restore takes what save gave: " + (status ? std::string() : status.error().message()));
    require(restored->save() == state, "restore and save give the same state again");
    const auto clone = scheduler_->clone();
    require(clone->save() == state, "a clone equals the original");
    clone->on_trial_add(TrialId(2'000'000), {});
    require(scheduler_->save() == state, "a clone is independent of the original");
    if (random_.chance(0.5))
      scheduler_ = std::move(restored);
  }

  void check_setup_forgets() {
    require(scheduler_->setup(context_).has_value(), "setup can be called again");
    require(scheduler_->save() == empty_, "setup forgets everything");
  }

  void check_damage() {
    const Value wrong[] = {Value(), Value(17), Value("text"), List{1, 2}, Map{{"no", "state"}}};
    for (const Value& value : wrong) {
      auto damaged = fresh();
      require(!damaged->restore(value).has_value(),
              "restore refuses " + to_json(value) + ", which is no state of it");
      require(damaged->save() == empty_, "a refused state leaves it as after setup");
    }
  }

  const Scheduler& prototype_;
  const ScheduleContext& context_;
  const SchedulerSuiteOptions& options_;
  Random random_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<Scheduler> twin_;
  Value empty_;
  Waiting waiting_;
  std::vector<TrialId> running_;
  std::map<TrialId, std::uint64_t> live_;
  std::map<TrialId, Metrics> last_;
  TrialId next_;
};

}  // namespace

std::vector<std::string> check_scheduler(const Scheduler& prototype, const ScheduleContext& context,
                                         const SchedulerSuiteOptions& options) {
  std::vector<std::string> broken;
  try {
    Experiment(prototype, context, options).run();
  } catch (const BrokenRule& rule) {
    broken.push_back(prototype.name() + ": this does not hold: " + rule.what);
  } catch (const std::exception& e) {
    broken.push_back(prototype.name() + ": an exception left it: " + e.what());
  }
  return broken;
}

}  // namespace troupe::tune
