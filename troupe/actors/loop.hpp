#pragma once

#include <troupe/actors/protocol.hpp>
#include <troupe/runtime/store/journal.hpp>

#include <optional>
#include <vector>

namespace troupe {

/// What follows from one event. The writes go to the journal in order; commands are released
/// only when the last of them is accepted, the irreversible ones only when it is durable.
struct Step {
  std::vector<WriteSet> writes;  ///< empty: the event changed nothing (stale, a mere tick)
  std::vector<Command> when_accepted;
  std::vector<Command> when_durable;
};

/// A decision machine: `(state, event) -> (state, step)`.
///
/// Deterministic: no clock, thread, disk, actor or random device; equal events in equal order
/// give equal steps. `TrialLoop` of tune and `TrainLoop` of train are the implementations; the
/// controller carries out what they say.
class Loop {
public:
  virtual ~Loop() = default;

  /// What to do before the first event (a new experiment: the first trials; a restored one:
  /// reconcile with what the journal says).
  virtual Result<Step> start(TimePoint now, int64_t wall_ms) = 0;

  /// Takes one event. An error means that the machine cannot go on (a searcher that failed, a
  /// broken invariant); nothing was changed.
  virtual Result<Step> handle(const Event& event) = 0;

  /// True when nothing is left to do and no worker is left. Stays true.
  virtual bool finished() const = 0;

  /// When it wants the next `Tick`; nothing: it waits for workers only.
  virtual std::optional<TimePoint> next_deadline() const = 0;
};

}  // namespace troupe
