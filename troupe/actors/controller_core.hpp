#pragma once

#include <troupe/actors/loop.hpp>
#include <troupe/base/error.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace troupe {

/// What a controller did so far.
struct ControllerCounters {
  uint64_t events = 0;             ///< given to the loop
  uint64_t commands = 0;           ///< released
  uint64_t process_workers = 0;    ///< started as processes
  uint64_t thread_workers = 0;     ///< started as threads of this process
  uint64_t stale_events = 0;       ///< from workers that are gone, or after the end: dropped
  uint64_t abandoned_threads = 0;  ///< threads whose step did not end: left behind
};

/// The part of a controller that decides when what happens, without actors, threads or clocks.
///
/// It feeds the loop, gives the writes to the store and keeps the commands back until the store
/// says that what they follow from is safe. The controller actor and the simulation drive it.
///
/// Thread rules: one thread at a time. Nothing here blocks.
class ControllerCore {
public:
  /// Where decisions go. Called from within the core's methods; must not call back into it.
  class Sink {
  public:
    virtual ~Sink() = default;
    /// False: nothing is submitted until `on_accepted` was called.
    virtual bool has_room() const = 0;
    /// As `StoreWriter::submit`.
    virtual Result<Sequence> submit(std::vector<WriteSet> writes) = 0;
    virtual void execute(Command command) = 0;
  };

  /// `position`: the accepted watermark of the journal before the start. Both outlive the core.
  ControllerCore(Loop& loop, Sink& sink, Sequence position);

  void start(TimePoint now, int64_t wall_ms);

  /// Takes one event. When the store has no room it waits here, in order, until there is.
  void handle(Event event);

  /// The store's announcements: ascending, each accepted before it is durable.
  void on_accepted(Sequence sequence);
  void on_durable(Sequence sequence);

  /// The experiment cannot go on: no decision is taken any more, all workers are stopped, `at_once`
  /// or after a grace time. The first error counts.
  void fail(Error error, bool at_once = false);
  /// The same, and nothing that was submitted will be announced any more.
  void store_failed(Error error);

  /// A worker thread was left behind, to be counted.
  void thread_abandoned() { ++counters_.abandoned_threads; }

  /// Why it failed; nothing while all is well. A failed loop lands here too.
  const std::optional<Error>& error() const { return error_; }

  /// Nothing is left to do: the loop is finished, every command released, everything written is
  /// durable, no worker is left. After a failure: no worker is left, and what the store had taken
  /// before is durable unless the store itself failed. Stays true.
  bool finished() const;

  /// When the next `Tick` is due; nothing: not needed.
  std::optional<TimePoint> next_deadline() const;

  const ControllerCounters& counters() const { return counters_; }
  Sequence submitted() const { return submitted_; }
  const std::unordered_set<WorkerId>& live_workers() const { return workers_; }

private:
  using Waiting = std::deque<std::pair<Sequence, Command>>;

  void process(const Event& event);
  void take(Result<Step> step);
  void release(Waiting& waiting, Sequence up_to);
  void execute(Command command);
  bool from_live_worker(const Event& event);

  Loop& loop_;
  Sink& sink_;
  Sequence submitted_;
  Sequence accepted_;
  Sequence durable_;
  Waiting when_accepted_;
  Waiting when_durable_;
  std::deque<Event> held_;  ///< the store had no room
  std::unordered_set<WorkerId> workers_;
  std::optional<Error> error_;
  bool store_failed_ = false;
  bool started_ = false;
  ControllerCounters counters_;
};

}  // namespace troupe
