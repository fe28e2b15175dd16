#pragma once

#include <troupe/tune/detail/trial.hpp>

#include <cstdint>
#include <map>
#include <optional>

namespace troupe::tune::detail {

/// The trials that are not over, and the queues they wait in. Everything is logarithmic in their
/// number; finished trials are not here.
class TrialTable {
public:
  using Map = std::map<TrialId, Trial>;
  using Queue = std::map<std::uint64_t, TrialId>;

  [[nodiscard]] const Trial* find(TrialId id) const;
  [[nodiscard]] Trial* find(TrialId id);
  [[nodiscard]] const Map& all() const { return trials_; }
  [[nodiscard]] Map& all() { return trials_; }
  [[nodiscard]] bool empty() const { return trials_.empty(); }
  [[nodiscard]] std::size_t running() const { return running_; }
  [[nodiscard]] const Queue& pending() const { return pending_; }
  [[nodiscard]] const Queue& paused() const { return paused_; }
  /// RUNNING trials that need a worker.
  [[nodiscard]] const Queue& orphans() const { return orphans_; }

  /// Adds a trial; its state is PENDING and it goes to the end of that queue.
  Trial& add(TrialRow row);
  /// Takes a trial out of everything and forgets it.
  void remove(TrialId id);

  /// Changes the state and moves the trial to the end of the queue that goes with it.
  void set_state(Trial& trial, TrialState state);
  /// As `set_state` with PENDING, to the front of the queue.
  void put_first(Trial& trial);
  void give_worker(Trial& trial, WorkerId worker);
  /// The trial keeps its state: RUNNING without a worker is an orphan.
  void take_worker(Trial& trial);

  /// What a scheduler may see of the queues: not the trials that still rest after a failure.
  class View final : public WaitingTrials {
  public:
    View(const TrialTable& table, Duration run_time) : table_(table), run_time_(run_time) {}
    [[nodiscard]] std::optional<TrialId> first_pending() const override;
    [[nodiscard]] std::optional<TrialId> first_paused() const override;
    [[nodiscard]] bool is_pending(TrialId trial) const override;
    [[nodiscard]] bool is_paused(TrialId trial) const override;

  private:
    const TrialTable& table_;
    const Duration run_time_;
  };

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& trials_& next_order_;
    if constexpr (Archive::is_loading::value)
      rebuild();
  }

private:
  Queue* queue_of(const Trial& trial);
  void leave_queue(const Trial& trial);
  void join_queue(Trial& trial);
  void rebuild();

  Map trials_;
  Queue pending_;
  Queue paused_;
  Queue orphans_;
  std::size_t running_ = 0;
  std::uint64_t next_order_ = middle;

  // Orders count up from the middle for the end of a queue and down from it for the front.
  static constexpr std::uint64_t middle = std::uint64_t{1} << 62;
};

}  // namespace troupe::tune::detail
