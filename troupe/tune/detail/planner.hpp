#pragma once

#include <troupe/tune/detail/loop_state.hpp>

#include <optional>
#include <string>

namespace troupe::tune::detail {

/// What to do next beyond the trial that an event was about: start and end trials, start and let go
/// workers. Asked for one action at a time; the next question sees what the last answer changed.
class Planner {
public:
  /// `may_schedule`: new trials may be chosen now. A deterministic run chooses only when a turn was
  /// taken, because the time of other events is chance.
  Planner(const LoopParts& parts, Duration run_time, bool may_schedule)
      : parts_(parts), run_time_(run_time), may_schedule_(may_schedule) {}

  /// Nothing: all is done that can be done now.
  [[nodiscard]] std::optional<Action> next() const;

  /// Is a suggestion missing from a searcher that must be asked beside the loop?
  [[nodiscard]] bool wants_suggestion() const;

  /// When something will be due although nothing happens.
  [[nodiscard]] static std::optional<Duration> deadline(const LoopParts& parts);

private:
  [[nodiscard]] std::optional<Action> stop_everything() const;
  [[nodiscard]] std::optional<Action> obey_budget() const;
  [[nodiscard]] std::optional<Action> obey_scheduler() const;
  [[nodiscard]] std::optional<Action> start_orphan() const;
  [[nodiscard]] std::optional<Action> start_trial() const;
  [[nodiscard]] std::optional<Action> ask_searcher() const;
  [[nodiscard]] std::optional<Action> get_unstuck() const;
  [[nodiscard]] std::optional<Action> release_worker() const;
  [[nodiscard]] std::optional<Action> finish() const;

  [[nodiscard]] bool starting() const;
  [[nodiscard]] bool may_schedule() const;
  [[nodiscard]] bool slot_free() const;
  [[nodiscard]] std::optional<Action> first_running_to_halt(bool final,
                                                            const std::string& reason) const;
  [[nodiscard]] static std::optional<Duration> first_rest_over(const LoopState& state);
  [[nodiscard]] Action give_worker(const Trial& trial) const;

  const LoopParts& parts_;
  const Duration run_time_;
  const bool may_schedule_;
};

}  // namespace troupe::tune::detail
