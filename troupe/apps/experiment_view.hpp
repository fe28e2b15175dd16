#pragma once

#include <troupe/runtime/store/secondary_reader.hpp>
#include <troupe/serialization/value.hpp>
#include <troupe/tune/progress_feed.hpp>
#include <troupe/tune/records.hpp>
#include <troupe/tune/report/progress_board.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace troupe::apps {

/// An experiment as `troupe show` presents it, read beside its writer.
///
/// Thread rules: one thread.
class ExperimentView {
public:
  static Result<ExperimentView> open(const std::filesystem::path& experiment_dir);

  /// Catches up with the writer, if there still is one.
  Status refresh();
  /// Did a process run the experiment when it was looked at last?
  bool has_driver() const { return driver_.has_value(); }

  const std::filesystem::path& dir() const { return dir_; }

  /// What is wrong with the store, one sentence each; empty: nothing.
  std::vector<std::string> warnings() const { return reader_->notes(); }

  /// The picture of the progress table, and where files lie.
  std::string text(std::size_t width) const;
  /// The same in one line.
  std::string line() const;

  /// By number ("3", "00003") or name ("Quadratic_00003"). not_found with close matches.
  Result<tune::TrialRow> find_trial(const std::string& number_or_name) const;
  /// Everything about a trial: state, configuration, results, checkpoints.
  std::string trial_text(const tune::TrialRow& row) const;
  Value trial_json(const tune::TrialRow& row) const;

  /// One JSON object with all trials, without their histories. Written piece by piece: the trials
  /// are never in memory together.
  void write_json(std::ostream& out) const;

private:
  Result<tune::TrialRow> with_last_result(Result<tune::TrialRow> row) const;
  ExperimentView(std::filesystem::path dir, std::unique_ptr<SecondaryReader> reader)
      : dir_(std::move(dir)), reader_(std::move(reader)) {}

  tune::ProgressSnapshot snapshot() const;
  std::string state_text() const;
  Map trial_map(const tune::TrialRow& row) const;

  std::filesystem::path dir_;
  std::unique_ptr<SecondaryReader> reader_;
  tune::ExperimentSpec spec_;
  tune::ExperimentRow status_;
  std::optional<std::int64_t> driver_;  ///< the process that runs it
  std::unique_ptr<tune::ProgressBoard> board_;
  std::unique_ptr<tune::ProgressFeed> feed_;
  Sequence position_;
};

}  // namespace troupe::apps
