#pragma once

#include <troupe/base/result.hpp>
#include <troupe/tune/report/result_lines.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace troupe::tune {

/// Where everything in the files can be read again: the journal.
class TrialSource {
public:
  virtual ~TrialSource() = default;
  virtual Result<TrialFileInfo> trial(TrialId id) = 0;
  /// Every result of the trial up to `last`, in order.
  virtual Status results(TrialId id, uint64_t last,
                         const std::function<Status(const ResultLine&)>& visit) = 0;
};

/// Writes the result files of all trials of an experiment (result_lines.hpp says what is in them).
///
/// The files are a copy of the journal for other programs; the journal stays the truth. They may be
/// given the same result or failure again after a restart: what a file has already is left alone,
/// what it lacks is taken from the journal, and a last line that a crash cut off is written anew.
///
/// Texts gather in memory (at most about `max_pending_bytes`) until `flush`. No file stays open
/// between flushes, so that the number of running trials does not count. Where a trial's folder can
/// not be written, its text is dropped and `retry` makes the files again from the journal; the
/// other trials are not affected. Errors of the methods are errors of the journal.
/// Thread rules: one thread.
class ResultFiles {
public:
  explicit ResultFiles(TrialSource& source, std::size_t max_pending_bytes = std::size_t{4} << 20);

  /// Makes the folder and params.json.
  Status trial_created(const TrialFileInfo& trial);

  Status result(TrialId id, const ResultLine& line);

  /// The trial failed; `event` is the sequence of the event that says so.
  Status failure(TrialId id, uint64_t event, int64_t wall_ms, std::string_view message);

  /// The trial is over: its files are complete with the next flush and its memory is freed.
  void trial_ended(TrialId id);

  /// Forgets what the files hold and writes them anew from here on, for a machine that lost power
  /// or a folder that came from elsewhere. Call it before anything else of the trial.
  Status start_over(TrialId id);

  /// Writes what is pending.
  void flush();

  /// Tries the trials again whose files could not be written.
  void retry();

  /// How many trials have incomplete files, and the first reason.
  [[nodiscard]] std::size_t incomplete() const { return broken_.size() + given_up_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }

private:
  struct Files {
    TrialFileInfo info;
    std::string config_json;
    uint64_t last_iteration = 0;
    ErrorMark last_failure;
    CsvColumns columns;
    std::size_t columns_in_file = 0;
    std::string json;
    std::vector<std::vector<std::string>> rows;  ///< of progress.csv
    std::size_t row_bytes = 0;
    std::string errors;
    bool ended = false;
    bool broken = false;  ///< lacks what was dropped: to be made again
  };

  Result<Files*> open(TrialId id);
  Status load(Files& files);
  Status rebuild(Files& files, uint64_t last);
  void add(Files& files, const ResultLine& line);
  Status write(Files& files);
  Status write_csv(Files& files);
  void drop_pending(Files& files);
  void set_broken(Files& files, const Error& error);
  void changed(TrialId id);

  TrialSource& source_;
  const std::size_t max_pending_bytes_;
  std::size_t pending_bytes_ = 0;
  std::unordered_map<TrialId, Files> open_;
  std::vector<TrialId> dirty_;
  std::unordered_set<TrialId> broken_;
  std::size_t given_up_ = 0;
  std::string reason_;
};

}  // namespace troupe::tune
