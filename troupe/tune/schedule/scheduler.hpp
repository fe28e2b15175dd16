#pragma once

#include <troupe/base/ids.hpp>
#include <troupe/base/result.hpp>
#include <troupe/serialization/objective.hpp>
#include <troupe/serialization/value.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The contract of trial schedulers: which trials go on, which pause, which stop.
namespace troupe::tune {

/// What a scheduler is told about the experiment.
struct ScheduleContext {
  std::string metric{};  ///< empty: the user named none
  Mode mode = Mode::max;
  std::uint64_t seed = 0;
};

/// What becomes of a trial after a result.
enum class ScheduleAction : std::uint8_t {
  go_on,
  pause,   ///< save a checkpoint, let the worker go; `choose_trial_to_run` decides when it goes on
  stop,    ///< before its end: it counts as far as it came
  finish,  ///< it has had all that there was to be had: it counts in full
};

constexpr ScheduleAction enum_last(ScheduleAction) noexcept {
  return ScheduleAction::finish;
}

struct ScheduleDecision {
  ScheduleAction action = ScheduleAction::go_on;
  std::string reason{};  ///< why it ends, for people: "asha: rung 4". Empty for go_on.
  Value note{};          ///< whatever the scheduler wants back in `record`

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& action& reason& note;
  }
};

/// Another trial than the reporting one that must end now.
struct StopOrder {
  TrialId trial{};
  std::string reason{};
};

/// The trials that could be started: a view, valid during the call.
class WaitingTrials {
public:
  /// The one that waits longest, new or to be tried again.
  [[nodiscard]] virtual std::optional<TrialId> first_pending() const = 0;
  /// The paused one that waits longest.
  [[nodiscard]] virtual std::optional<TrialId> first_paused() const = 0;
  [[nodiscard]] virtual bool is_pending(TrialId trial) const = 0;
  [[nodiscard]] virtual bool is_paused(TrialId trial) const = 0;

protected:
  ~WaitingTrials() = default;
};

/// A scheduler as a deterministic state machine that the trial loop drives.
///
/// As with searchers, a choice and its consequences are two calls: `decide`, `next_stop` and
/// `choose_trial_to_run` are const and choose; the loop writes the choice into the journal; then
/// `record` and the `on_*` hooks take it into the state. After a restart only the second half
/// happens again, from the journal.
///
/// Rules: equal calls in equal order give equal state; no clock, thread or random device
/// (`Random(context.seed, trial, RandomPurpose::scheduler, counter)`). Callbacks never re-enter.
/// Memory: what is kept for a trial that is over must be bounded by what the algorithm compares
/// later trials with.
/// Order of calls: `setup` first; for each trial `on_trial_add`, then `decide` + `record` per
/// result, `on_retry` per failed attempt that is tried again, `on_complete` once. A result that
/// ends the trial anyway (done, a stop criterion) is not shown to `decide`; it comes as the last
/// result of `on_complete`. NaN is worse than every number. Missing and non-numeric metrics never
/// reach a scheduler: see `required_metrics`. Threads: called from one thread at a time. Errors: an
/// error from `decide` or an exception from any method ends the experiment and leaves the journal
/// whole.
class Scheduler {
public:
  virtual ~Scheduler() = default;

  /// Stored with the experiment and checked when it is restored: "asha".
  [[nodiscard]] virtual std::string name() const = 0;

  /// The constructor's arguments as data, stored for `make_scheduler` and for people.
  [[nodiscard]] virtual Value options() const { return {}; }

  /// An independent copy of the present state. `return std::make_unique<Mine>(*this);`
  [[nodiscard]] virtual std::unique_ptr<Scheduler> clone() const = 0;

  /// Begins an experiment: forgets everything. invalid_argument for settings that cannot work.
  [[nodiscard]] virtual Status setup(const ScheduleContext& context) = 0;

  /// Paths that every result must have, as numbers. A result without fails its trial, with a
  /// message that names close matches; the scheduler is not asked about it.
  [[nodiscard]] virtual std::vector<std::string> required_metrics() const { return {}; }

  /// A trial was created.
  virtual void on_trial_add(TrialId trial, const Config& config) {
    (void)trial;
    (void)config;
  }

  /// The trial reported a result and could go on. The metrics contain "training_iteration".
  [[nodiscard]] virtual Result<ScheduleDecision> decide(TrialId trial,
                                                        const Metrics& metrics) const = 0;
  /// What `decide` said about this result came to pass.
  virtual void record(TrialId trial, const Metrics& metrics, const ScheduleDecision& decision) = 0;

  /// A waiting or running trial to end now. Asked after every event until there is none; the
  /// order is done when `on_complete` names the trial.
  [[nodiscard]] virtual std::optional<StopOrder> next_stop() const { return std::nullopt; }

  /// Which trial gets the free slot; nothing: none may start now. When nothing runs and nothing
  /// can be created any more, the loop ends the trials that are still paused: no pause is for ever.
  [[nodiscard]] virtual std::optional<TrialId> choose_trial_to_run(
      const WaitingTrials& waiting) const {
    const auto pending = waiting.first_pending();
    return pending ? pending : waiting.first_paused();
  }

  /// An attempt failed; the trial will be tried again from its newest checkpoint. Results that it
  /// repeats on the way are not shown again.
  virtual void on_retry(TrialId trial) { (void)trial; }

  /// The trial is over. `last` is its last result, or null when it never reported.
  virtual void on_complete(TrialId trial, Ending ending, const Metrics* last) {
    (void)trial;
    (void)ending;
    (void)last;
  }

  /// Everything needed to go on. `restore(save())` on a fresh object after the same `setup` gives
  /// an equal scheduler, and `save` of that equal data.
  [[nodiscard]] virtual Value save() const = 0;
  /// corrupt when the data is not a state of this scheduler; the object is then as after `setup`.
  [[nodiscard]] virtual Status restore(const Value& state) = 0;
};

/// Makes one of Troupe's own schedulers from what `name` and `options` gave. not_found with the
/// known names for any other: the experiment was made with a scheduler of the user, who must pass
/// it again.
Result<std::unique_ptr<Scheduler>> make_scheduler(const std::string& name, const Value& options);

}  // namespace troupe::tune
