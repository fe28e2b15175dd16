#include <troupe/base/metrics_registry.hpp>
#include <troupe/runtime/store/store_writer.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace troupe {
namespace {

std::size_t bytes_of(const std::vector<WriteSet>& writes) {
  std::size_t bytes = 0;
  for (const WriteSet& set : writes) {
    bytes += set.event.size();
    for (const RowWrite& row : set.rows)
      bytes += row.key.size() + (row.value ? row.value->size() : 0);
  }
  return bytes;
}

std::chrono::steady_clock::time_point to_steady(TimePoint moment) {
  return std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(Duration(moment.ns)));
}

/// What store writers add to the numbers of the process.
struct Meters {
  Counter& records = MetricsRegistry::global().counter("troupe_journal_records_total", {},
                                                       "Records accepted by journals");
  Histogram& append_seconds = MetricsRegistry::global().histogram(
      "troupe_journal_append_seconds", {}, "Appending a batch of records");
  Histogram& sync_seconds = MetricsRegistry::global().histogram(
      "troupe_journal_sync_seconds", {}, "Making a group of records durable");
};

const Meters& meters() {
  static const Meters all;
  return all;
}

}  // namespace

StoreWriter::StoreWriter(Journal& journal, StoreWriterOptions options,
                         StoreWriterCallbacks callbacks)
    : journal_(journal),
      options_(options),
      callbacks_(std::move(callbacks)),
      group_(options.group),
      submitted_(journal.watermarks().accepted),
      appended_(submitted_),
      accepted_(submitted_),
      durable_(journal.watermarks().durable),
      flushed_(durable_) {
  group_.accepted(accepted_.value - durable_.value, real_clock().now());
  append_thread_ = std::thread([this] { append_loop(); });
  sync_thread_ = std::thread([this] { sync_loop(); });
}

StoreWriter::~StoreWriter() {
  // Whoever wants to know calls stop(); an error of the journal was given to on_error.
  (void)stop(std::chrono::seconds(10));
}

Result<Sequence> StoreWriter::submit(std::vector<WriteSet> writes) {
  const std::size_t bytes = bytes_of(writes);
  const std::lock_guard lock(mutex_);
  if (failed_ || stopping_)
    return refusal();
  if (queued_records_ >= options_.max_queued_records || queued_bytes_ >= options_.max_queued_bytes)
    return Error(ErrorCode::resource_exhausted, "the store writer's queue is full (" +
                                                    std::to_string(queued_records_) +
                                                    " records): wait until something was accepted");
  if (writes.empty())
    return submitted_;
  submitted_.value += writes.size();
  queued_records_ += writes.size();
  queued_bytes_ += bytes;
  queue_.push_back({std::move(writes), bytes});
  to_append_.notify_one();
  return submitted_;
}

bool StoreWriter::has_room() const {
  const std::lock_guard lock(mutex_);
  return queued_records_ < options_.max_queued_records && queued_bytes_ < options_.max_queued_bytes;
}

std::size_t StoreWriter::queued_records() const {
  const std::lock_guard lock(mutex_);
  return queued_records_;
}

Sequence StoreWriter::accepted() const {
  const std::lock_guard lock(mutex_);
  return accepted_;
}

Sequence StoreWriter::durable() const {
  const std::lock_guard lock(mutex_);
  return durable_;
}

Error StoreWriter::refusal() const {
  if (failed_)
    return *failed_;
  return Error(ErrorCode::failed_precondition, "the store writer was stopped");
}

Result<Sequence> StoreWriter::append(const std::vector<WriteSet>& batch) {
  const HistogramTimer timer(meters().append_seconds);
  return journal_.append(batch);
}

Result<Sequence> StoreWriter::sync() {
  const HistogramTimer timer(meters().sync_seconds);
  return journal_.sync();
}

// -- the append thread --------------------------------------------------------------------------

void StoreWriter::append_loop() {
  while (true) {
    std::vector<WriteSet> batch;
    {
      std::unique_lock lock(mutex_);
      to_append_.wait(lock, [this] { return failed_ || stopping_ || !queue_.empty(); });
      if (failed_ || queue_.empty())
        break;
      batch = take_batch();
      appending_ = true;
    }
    const auto last = append(batch);
    if (!last) {
      fail(last.error());
      break;
    }
    meters().records.add(batch.size());
    if (!announce_appended(*last, batch.size()))
      break;
  }
  const std::lock_guard lock(mutex_);
  appending_ = false;
  to_sync_.notify_one();
}

/// Whole submissions, until the batch is full or nothing is left. Called with the lock held.
std::vector<WriteSet> StoreWriter::take_batch() {
  std::vector<WriteSet> batch = std::move(queue_.front().writes);
  queued_bytes_ -= queue_.front().bytes;
  queue_.pop_front();
  while (!queue_.empty() &&
         batch.size() + queue_.front().writes.size() <= options_.max_batch_records) {
    Submission& next = queue_.front();
    std::move(next.writes.begin(), next.writes.end(), std::back_inserter(batch));
    queued_bytes_ -= next.bytes;
    queue_.pop_front();
  }
  queued_records_ -= batch.size();
  return batch;
}

bool StoreWriter::announce_appended(Sequence last, std::size_t records) {
  const bool at_once = options_.durability == Durability::normal;
  if (at_once) {
    {
      const std::lock_guard lock(mutex_);
      if (failed_)
        return false;
      accepted_ = last;
    }
    // Before the sync thread can see them: accepted comes before durable.
    if (callbacks_.on_accepted)
      callbacks_.on_accepted(last);
  }
  const TimePoint now = real_clock().now();
  const std::lock_guard lock(mutex_);
  const bool first = group_.waiting() == 0;
  const bool hurry = !at_once || appended_ < hurry_until_;
  appending_ = false;
  appended_ = last;
  group_.accepted(records, now);
  if (hurry)
    group_.hurry();
  if (first || group_.due(now))
    to_sync_.notify_one();
  return true;
}

// -- the sync thread ----------------------------------------------------------------------------

void StoreWriter::sync_loop() {
  while (true) {
    Sequence target;
    {
      std::unique_lock lock(mutex_);
      if (!wait_for_group(lock))
        return;
      group_.sync_started();
      target = appended_;
    }
    if (!sync_group(target))
      return;
  }
}

/// False when there will be nothing more to sync.
bool StoreWriter::wait_for_group(std::unique_lock<std::mutex>& lock) {
  while (true) {
    if (failed_)
      return false;
    const bool drained = stopping_ && queue_.empty() && !appending_;
    if (group_.due(real_clock().now()) || (stopping_ && group_.waiting() > 0))
      return true;
    if (drained)
      return false;
    if (const auto deadline = group_.deadline()) {
      to_sync_.wait_until(lock, to_steady(*deadline));
    } else {
      to_sync_.wait(lock);
    }
  }
}

bool StoreWriter::sync_group(Sequence target) {
  if (const auto durable = sync(); !durable) {
    fail(durable.error());
    return false;
  }
  const bool strict = options_.durability == Durability::strict;
  {
    const std::lock_guard lock(mutex_);
    if (failed_)
      return false;
    if (strict)
      accepted_ = target;
  }
  if (strict && callbacks_.on_accepted)
    callbacks_.on_accepted(target);
  {
    const std::lock_guard lock(mutex_);
    durable_ = std::max(durable_, target);
  }
  if (callbacks_.on_durable)
    callbacks_.on_durable(target);
  const std::lock_guard lock(mutex_);
  flushed_ = std::max(flushed_, target);
  progress_.notify_all();
  return true;
}

void StoreWriter::fail(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (failed_)
      return;
    failed_ = error;
    to_append_.notify_one();
    to_sync_.notify_one();
    progress_.notify_all();
  }
  if (callbacks_.on_error)
    callbacks_.on_error(error);
}

// -- waiting and stopping -----------------------------------------------------------------------

Status StoreWriter::flush(Duration timeout) {
  const TimePoint deadline = real_clock().now() + timeout;
  std::unique_lock lock(mutex_);
  const Sequence target = submitted_;
  hurry_until_ = std::max(hurry_until_, target);
  group_.hurry();
  to_sync_.notify_one();
  progress_.wait_until(lock, to_steady(deadline),
                       [&] { return failed_.has_value() || flushed_ >= target; });
  if (flushed_ >= target)
    return ok();
  if (failed_)
    return *failed_;
  return Error(ErrorCode::deadline_exceeded,
               "event " + to_string(target) + " was not durable in time (durable: " +
                   to_string(durable_) + "): the disk is slow or hangs");
}

Status StoreWriter::stop(Duration timeout) {
  const std::lock_guard only_one(stop_mutex_);
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    to_append_.notify_one();
    to_sync_.notify_one();
  }
  Status status = flush(timeout);
  if (!status) {
    // Time is up: what is still queued is given up, so that the threads end.
    const std::lock_guard lock(mutex_);
    if (!failed_)
      failed_ = status.error();
    to_append_.notify_one();
    to_sync_.notify_one();
  }
  if (append_thread_.joinable())
    append_thread_.join();
  if (sync_thread_.joinable())
    sync_thread_.join();
  return status;
}

}  // namespace troupe
