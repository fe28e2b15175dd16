#pragma once

#include <troupe/runtime/store/durability.hpp>
#include <troupe/runtime/store/group_commit.hpp>
#include <troupe/runtime/store/journal.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace troupe {

struct StoreWriterOptions {
  Durability durability = Durability::normal;
  GroupCommitPolicy group{};
  std::size_t max_batch_records = 64;  ///< write sets of one append, more only for one submission
  std::size_t max_queued_records = 16'384;
  std::size_t max_queued_bytes = std::size_t{64} << 20;
};

/// Called in order of the sequence, on threads of the writer and with no lock held:
/// `on_accepted(n)` always before `on_durable(n)`. They must be quick and may call the writer,
/// except `flush` and `stop`. `on_error` comes at most once; nothing is announced after it.
struct StoreWriterCallbacks {
  std::function<void(Sequence)> on_accepted{};
  std::function<void(Sequence)> on_durable{};
  std::function<void(const Error&)> on_error{};
};

/// Writes a journal without making anybody wait for the disk.
///
/// One thread appends what was submitted, as many records in a batch as have come meanwhile;
/// another makes it durable in groups (`GroupCommitPolicy`) while appending goes on. The journal
/// belongs to the caller, outlives the writer, and nobody else appends to it meanwhile.
///
/// Thread rules: `submit` from one thread; everything else from any thread.
class StoreWriter {
public:
  StoreWriter(Journal& journal, StoreWriterOptions options, StoreWriterCallbacks callbacks);
  /// As `stop` with ten seconds. A write or fsync that is in the kernel is waited for.
  ~StoreWriter();
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;

  /// Queues the write sets, in order, and returns the sequence that the last one will get (that of
  /// the one before when there is none). They are not split over batches: either all of them
  /// survive or none. Never waits. Errors: resource_exhausted while `has_room()` is false (nothing
  /// was queued; come back when something was accepted), failed_precondition after `stop`, after
  /// an error of the journal that error.
  Result<Sequence> submit(std::vector<WriteSet> writes);

  /// False: feed nothing more until something was accepted. While true, a submission of any size
  /// is taken, so that one who asks first never meets a full queue.
  [[nodiscard]] bool has_room() const;
  [[nodiscard]] std::size_t queued_records() const;

  /// Waits until everything submitted before is durable, without waiting for a group to fill.
  /// Errors: deadline_exceeded, or what went wrong with the journal.
  Status flush(Duration timeout);

  /// Takes no more, flushes, ends the threads. Can be called again. Errors: as `flush`.
  Status stop(Duration timeout);

  /// The highest sequences announced.
  [[nodiscard]] Sequence accepted() const;
  [[nodiscard]] Sequence durable() const;

private:
  struct Submission {
    std::vector<WriteSet> writes;
    std::size_t bytes = 0;
  };

  void append_loop();
  void sync_loop();
  std::vector<WriteSet> take_batch();
  Result<Sequence> append(const std::vector<WriteSet>& batch);
  Result<Sequence> sync();
  bool announce_appended(Sequence last, std::size_t records);
  bool sync_group(Sequence target);
  bool wait_for_group(std::unique_lock<std::mutex>& lock);
  void fail(const Error& error);
  Error refusal() const;

  Journal& journal_;
  const StoreWriterOptions options_;
  const StoreWriterCallbacks callbacks_;

  mutable std::mutex mutex_;
  std::condition_variable to_append_;
  std::condition_variable to_sync_;
  std::condition_variable progress_;
  std::deque<Submission> queue_;
  std::size_t queued_records_ = 0;
  std::size_t queued_bytes_ = 0;
  GroupCommit group_;
  Sequence submitted_;
  Sequence appended_;
  Sequence accepted_;
  Sequence durable_;
  Sequence flushed_;      ///< durable, and announced so
  Sequence hurry_until_;  ///< somebody waits in `flush` for everything up to it
  std::optional<Error> failed_;
  bool appending_ = false;  ///< a batch has left the queue and is not in the group yet
  bool stopping_ = false;

  std::mutex stop_mutex_;
  std::thread append_thread_;
  std::thread sync_thread_;
};

}  // namespace troupe
