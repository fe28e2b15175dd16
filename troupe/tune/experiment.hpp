#pragma once

#include <troupe/actors/controller.hpp>
#include <troupe/runtime/store/journal.hpp>
#include <troupe/tune/trial_loop.hpp>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace troupe::tune {

/// What one run of an experiment shows and obeys.
struct ExperimentOptions {
  std::filesystem::path dir{};
  std::optional<uint64_t> planned{};  ///< trials in total
  std::int32_t verbose = 1;
  bool handle_signals = true;
};

/// One run of an experiment in this process: loop, controller, and everybody who follows the
/// journal. `Tuner` is its shell for people.
///
/// Thread rules: `run` once, from one thread; `request_stop` from any.
class Experiment {
public:
  /// Loop and journal belong to it from here on.
  Experiment(Runtime& runtime, std::unique_ptr<TrialLoop> loop, std::unique_ptr<Journal> journal,
             ExperimentOptions options);

  /// Runs to the end and closes the journal. On return everything is durable and the result files
  /// are written; when they could not be, that is logged. Errors: of the journal, or of the loop.
  Status run();

  void request_stop(const std::string& reason);

private:
  Status control();

  Runtime& runtime_;
  std::unique_ptr<TrialLoop> loop_;
  std::unique_ptr<Journal> journal_;
  const ExperimentOptions options_;

  std::mutex mutex_;  ///< of the two below
  Controller* controller_ = nullptr;
  std::string stop_reason_;
};

}  // namespace troupe::tune
