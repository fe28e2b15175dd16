#pragma once

#include <troupe/actors/controller_core.hpp>
#include <troupe/actors/runtime.hpp>
#include <troupe/runtime/store/durability.hpp>
#include <troupe/runtime/store/journal.hpp>

#include <functional>
#include <memory>
#include <string>

namespace troupe {

/// How the workers of one experiment are looked after.
struct ControllerOptions {
  std::string experiment_name;  ///< what `get_context` tells user code
  Durability durability = Durability::normal;

  /// The longest that one call of `step`, `save_checkpoint` or `cleanup` may take (function API:
  /// from one report to the next); 0: no limit. A call beyond it is asked to return, and after
  /// `RuntimeOptions::stop_grace` its worker is killed.
  Duration step_timeout{0};
  /// The same for `setup`, `reset_config` and `load_checkpoint`.
  Duration setup_timeout{0};

  /// What a worker process prints goes to `<trial_dir>/output.log` too. The last lines are kept
  /// for error messages either way.
  bool log_to_file = false;
};

/// Runs a decision machine on the actor runtime: gives it what the workers say, writes what it
/// decides to the journal, and carries out its commands once they are safe there.
///
/// It starts with construction and ends by itself when the loop is finished, or with the first
/// error of loop or store; then its workers are stopped and `wait` returns the error. Destroying it
/// before that ends the workers at once, as a crash would: nothing accepted is lost.
///
/// Thread rules: `wait`, `wait_for`, `request_stop` and `counters` from any thread. The loop is
/// called from one thread at a time and must not be touched before `wait` returned. Runtime, loop
/// and journal outlive the controller; nobody else writes the journal meanwhile.
class Controller {
public:
  /// `on_progress` is called when a watermark moved, on threads of the runtime: it must be quick
  /// and must not wait for the controller.
  Controller(Runtime& runtime, Loop& loop, Journal& journal, ControllerOptions options,
             std::function<void(const Watermarks&)> on_progress = nullptr);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// Waits for the end, however long the experiment takes; everything is durable then. The error,
  /// when there is one, names what failed: journal, searcher, a broken invariant.
  Status wait();

  /// The same with a deadline: true when the end is reached.
  bool wait_for(Duration timeout);

  /// Asks the loop for a clean end (`StopRequested`). Not async-signal-safe.
  void request_stop(std::string reason);

  ControllerCounters counters() const;

private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe
