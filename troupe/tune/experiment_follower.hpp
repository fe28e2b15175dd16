#pragma once

#include <troupe/base/clock.hpp>
#include <troupe/runtime/store/journal.hpp>
#include <troupe/tune/progress_feed.hpp>
#include <troupe/tune/report/result_files.hpp>

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace troupe::tune {

/// Follows the journal of a running experiment on a thread of its own and keeps result files and
/// progress board up to date. That a trial is finished stands in its files only when that is
/// durable; the board need not wait. However slow the files are, the experiment does not wait for
/// them.
///
/// How far the files go is noted beside them (`result_files.json`), so that a restarted experiment
/// goes on from there. When that note is missing, of another store, or of an earlier boot of the
/// machine (which may have lost what was not on the disk yet), all files are made again from the
/// journal.
///
/// Thread rules: construction, `finish` and destruction from one thread. The reader is used on the
/// follower's thread until then.
class ExperimentFollower {
public:
  /// `feed` may be null: nobody looks. `feed->load` was called already, with the same reader.
  ExperimentFollower(const JournalReader& reader, std::filesystem::path experiment_dir,
                     bool result_files, ProgressFeed* feed);
  /// Ends at once; the files stay where they are.
  ~ExperimentFollower();
  ExperimentFollower(const ExperimentFollower&) = delete;
  ExperimentFollower& operator=(const ExperimentFollower&) = delete;

  /// Waits until everything durable by now is in the files, then ends. `waiting` is called about
  /// every two seconds with the number of events to go. Errors: deadline_exceeded when nothing
  /// moved for `patience`; io when files could not be written, naming the first reason. The
  /// experiment is complete in its journal either way.
  Status finish(const std::function<void(uint64_t events)>& waiting,
                Duration patience = std::chrono::seconds(60));

private:
  struct Event {
    Sequence sequence;
    EventRecord record;
  };

  void run();
  void prepare_files();
  bool step();
  Status read_batch(std::vector<Event>& batch) const;
  Status write_files(const Event& event);
  void note_position(bool now);
  void set_error(const Error& error);
  Status verdict();

  const JournalReader& reader_;
  const std::filesystem::path experiment_dir_;
  const bool result_files_;
  ProgressFeed* const feed_;
  std::unique_ptr<TrialSource> source_;
  std::unique_ptr<ResultFiles> files_;
  Sequence position_;       ///< of the files
  Sequence feed_position_;  ///< of the board
  TimePoint last_note_;
  TimePoint last_retry_;

  std::mutex mutex_;
  std::condition_variable changed_;
  Sequence reached_;
  std::optional<Error> error_;
  bool stopping_ = false;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace troupe::tune
