#pragma once

#include <troupe/runtime/store/journal.hpp>
#include <troupe/tune/records.hpp>
#include <troupe/tune/report/progress_board.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace troupe::tune {

/// What a board is told about an experiment. `cpus`: that trials may use together.
BoardOptions board_options(const ExperimentSpec& spec, const std::filesystem::path& experiment_dir,
                           std::optional<std::uint64_t> planned, double cpus);

/// Keeps a progress board up to date with the events of a journal, and says in one line what
/// happens to trials. Holds the trials that are alive.
///
/// Thread rules: one thread. Events come in order, each once.
class ProgressFeed {
public:
  /// `say` gets a line for each failure and, with `verbose`, for everything that happens to a
  /// trial; null: nobody listens.
  ProgressFeed(ProgressBoard& board, std::filesystem::path experiment_dir, bool verbose,
               std::function<void(std::string)> say);

  /// Takes over the trials as the rows describe them, and what was counted so far. Events from the
  /// reader's accepted watermark on follow.
  Status load(const JournalReader& reader);

  void apply(Sequence sequence, const EventRecord& event);

private:
  void taken(const ErroredTaken& event);
  void began();
  void show(TrialView& trial, TrialState state);
  void outcome(TrialView& trial, const EventRecord& event);
  void started(const TrialView& trial, const TrialStarted& event);
  void watch_saves(const TrialView& trial, const EventRecord& event);
  void reset_refused(const TrialView& trial);
  void act(const Action& action);
  void end(TrialView& trial, const std::string& reason);
  void fail(TrialView& trial, const std::string& reason, const char* consequence);
  void say(const std::string& text, bool always) const;
  TrialView view_of(const TrialRow& row) const;

  ProgressBoard& board_;
  const std::filesystem::path experiment_dir_;
  const bool verbose_;
  const std::function<void(std::string)> say_;
  std::unordered_map<TrialId, TrialView> live_;
  std::unordered_set<TrialId> saving_;  ///< were told to save a checkpoint
  bool told_reset_ = false;
  bool told_missing_ = false;
};

}  // namespace troupe::tune
