#pragma once

#include <troupe/actors/controller.hpp>
#include <troupe/runtime/store/memory_journal.hpp>

#include <atomic>
#include <filesystem>
#include <string>

#include <tests/integration/actors/script_loop.hpp>
#include <tests/support/child_program.hpp>
#include <tests/support/scratch_folder.hpp>

namespace troupe::testing {

/// While true, the trainable that misbehaves with "loop" goes on.
extern std::atomic<bool> endless_step;
/// A change of it lets the calls of `Hangs` end that hang on threads.
extern std::atomic<int> hanging_calls;

/// Options with short deadlines, for tests of what happens when they pass.
inline RuntimeOptions hasty() {
  RuntimeOptions options;
  options.unresponsive_after = std::chrono::seconds(2);
  options.stop_grace = std::chrono::milliseconds(500);
  return options;
}

/// Runs a script to its end.
struct Stage {
  explicit Stage(RuntimeOptions runtime_options = {}) : runtime(runtime_options) {}

  ScriptLoop::TrialScript& add(std::string trainable, Config config = {}) {
    const auto folder = scratch.path() / std::to_string(loop.trials.size());
    std::filesystem::create_directories(folder);
    ScriptLoop::TrialScript script;
    script.trainable = std::move(trainable);
    script.config = std::move(config);
    script.trial_dir = folder.string();
    loop.trials.push_back(std::move(script));
    return loop.trials.back();
  }

  Status play() {
    Controller controller(runtime, loop, journal, options);
    if (!controller.wait_for(long_enough)) {
      return Error(ErrorCode::deadline_exceeded, "the script did not end");
    }
    Status result = controller.wait();
    counters = controller.counters();
    return result;
  }

  ScratchFolder scratch{"actors"};
  Runtime runtime;
  MemoryJournal journal;
  ScriptLoop loop;
  ControllerOptions options;
  ControllerCounters counters;
};

}  // namespace troupe::testing
