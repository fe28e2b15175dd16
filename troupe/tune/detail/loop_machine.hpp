#pragma once

#include <troupe/actors/loop.hpp>
#include <troupe/tune/detail/judge.hpp>
#include <troupe/tune/detail/loop_state.hpp>
#include <troupe/tune/trial_loop.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::tune::detail {

class Applier;

/// The trial loop without time and turns: judges, records and reads back one event after the other.
class LoopMachine {
public:
  static Result<std::unique_ptr<LoopMachine>> make(ExperimentSpec spec, const Searcher* searcher,
                                                   const Scheduler* scheduler,
                                                   LoopEnvironment environment);

  [[nodiscard]] const LoopParts& parts() const { return parts_; }
  [[nodiscard]] const LoopState& state() const { return parts_.state; }
  [[nodiscard]] bool deterministic() const { return parts_.setting.spec.deterministic; }

  [[nodiscard]] Judge judge(Duration run_time) const { return Judge(parts_, run_time); }
  /// Would anything be decided although nothing happened?
  [[nodiscard]] bool anything_due(Duration run_time) const;
  /// Could a trial be started if the searcher suggested one? Only for searchers that are asked
  /// beside the loop; as of the last recorded event.
  [[nodiscard]] bool wants_suggestion() const { return wants_suggestion_ && !broken_; }
  /// The job to ask for the next trial. What it returns is the answer as of now.
  [[nodiscard]] std::shared_ptr<SuggestJob> ask() {
    return parts_.search.ask(parts_.state.next_trial);
  }
  [[nodiscard]] Sequence last() const { return last_; }
  /// The trial whose turn it is; only when the run is deterministic.
  [[nodiscard]] std::optional<TrialId> turn() const { return parts_.state.turns.turn(); }

  /// Notes an answer that changes nothing else.
  void answered(const Answer& answer);
  /// A worker that had been let go is gone.
  void worker_left(WorkerId worker) { parts_.state.workers.exited(worker); }

  /// Applies an event with what was judged, decides what follows, and adds it all to `step`. After
  /// an error the machine is broken and refuses everything.
  Status record(RecordedBody body, Decision decision, Duration run_time, std::int64_t wall_ms,
                Step& step);

  /// Applies an event that was read back. `rows` gets those that were written with it, except
  /// snapshots.
  Status replay(Sequence sequence, const EventRecord& event, std::size_t bytes,
                std::vector<RowWrite>* rows = nullptr);
  /// The same, but decides again and compares with what was recorded.
  Status verify(Sequence sequence, const EventRecord& event, std::string_view bytes);

  /// Loads the newest snapshot, when there is one; returns the event it stands after.
  Result<Sequence> load_snapshot(const JournalReader& journal);

  [[nodiscard]] std::string fingerprint() const;

private:
  LoopMachine() = default;

  /// Applies event and decision. With `plan`, what follows is decided and added to the decision.
  Status carry_out(Applier& applier, const RecordedBody& body, Decision& decision, bool plan,
                   Duration run_time);
  void add_snapshot(Sequence sequence, bool wanted, Applier& applier);

  LoopParts parts_;
  Sequence last_;
  bool wants_suggestion_ = false;
  std::size_t bytes_since_snapshot_ = 0;
  std::size_t snapshot_bytes_ = 0;
  std::size_t snapshot_interval_ = 0;
  std::optional<Error> broken_;
};

}  // namespace troupe::tune::detail
