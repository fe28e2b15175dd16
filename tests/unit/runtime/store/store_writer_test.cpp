#include <troupe/base/fault_point.hpp>
#include <troupe/runtime/store/memory_journal.hpp>
#include <troupe/runtime/store/store_writer.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/journal_records.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

constexpr auto long_enough = std::chrono::seconds(60);

/// What the writer announced, in order: +n accepted, -n durable, 0 an error.
struct Announced {
  std::mutex mutex;
  std::vector<std::int64_t> all;

  void add(std::int64_t what) {
    const std::lock_guard lock(mutex);
    all.push_back(what);
  }
  std::vector<std::int64_t> take() {
    const std::lock_guard lock(mutex);
    return all;
  }
  StoreWriterCallbacks callbacks() {
    return {.on_accepted = [this](Sequence s) { add(static_cast<std::int64_t>(s.value)); },
            .on_durable = [this](Sequence s) { add(-static_cast<std::int64_t>(s.value)); },
            .on_error = [this](const Error&) { add(0); }};
  }
};

/// A journal whose append or sync can be held.
class HeldJournal final : public Journal {
public:
  Result<Sequence> append(std::span<const WriteSet> batch) override {
    wait(append_held_);
    {
      const std::lock_guard lock(mutex_);
      batches_.push_back(batch.size());
    }
    return inner_.append(batch);
  }
  Result<Sequence> sync() override {
    wait(sync_held_);
    const std::lock_guard lock(mutex_);
    ++syncs_;
    return inner_.sync();
  }
  Status close() override { return inner_.close(); }
  Result<std::optional<std::string>> get(Table t, std::string_view k) const override {
    return inner_.get(t, k);
  }
  Status scan(Table t, std::string_view p, const RowVisitor& v) const override {
    return inner_.scan(t, p, v);
  }
  Status events(Sequence after, const EventVisitor& v) const override {
    return inner_.events(after, v);
  }
  Result<std::string> event(Sequence s) const override { return inner_.event(s); }
  Watermarks watermarks() const override { return inner_.watermarks(); }
  std::string store_id() const override { return inner_.store_id(); }

  void hold_append(bool held) { set(append_held_, held); }
  void hold_sync(bool held) { set(sync_held_, held); }
  /// Waits until somebody is held.
  void wait_for_held() {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, long_enough, [this] { return waiting_ > 0; }));
  }
  std::vector<std::size_t> batches() {
    const std::lock_guard lock(mutex_);
    return batches_;
  }
  int syncs() {
    const std::lock_guard lock(mutex_);
    return syncs_;
  }

private:
  void wait(const bool& held) {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held; });
    --waiting_;
  }
  void set(bool& held, bool value) {
    const std::lock_guard lock(mutex_);
    held = value;
    changed_.notify_all();
  }

  MemoryJournal inner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool append_held_ = false;
  bool sync_held_ = false;
  int waiting_ = 0;
  int syncs_ = 0;
  std::vector<std::size_t> batches_;
};

}  // namespace

TEST_CASE("every submission is accepted and then durable, in order") {
  MemoryJournal journal;
  Announced announced;
  StoreWriter writer(journal, {}, announced.callbacks());
  for (std::uint64_t number = 1; number <= 500; ++number)
    CHECK(writer.submit(write_sets(number, number)).value_or_throw() == Sequence(number));
  REQUIRE(writer.flush(long_enough));
  CHECK(writer.durable() == Sequence(500));
  std::int64_t accepted = 0, durable = 0;
  for (const std::int64_t what : announced.take()) {
    if (what > 0) {
      CHECK(what > accepted);
      accepted = what;
    } else {
      CHECK(-what > durable);
      durable = -what;
      CHECK(durable <= accepted);
    }
  }
  CHECK(accepted == 500);
  CHECK(durable == 500);
  CHECK(journal.event(Sequence(500)).value_or_throw() == sealed(event_payload(500)));
}

TEST_CASE("what gathers during a write goes into one batch, up to the limit") {
  HeldJournal journal;
  journal.hold_append(true);
  StoreWriter writer(journal, {.max_batch_records = 10}, {});
  REQUIRE(writer.submit(write_sets(1, 1)));
  journal.wait_for_held();
  for (std::uint64_t number = 2; number <= 16; ++number)
    REQUIRE(writer.submit(write_sets(number, number)));
  REQUIRE(writer.submit(write_sets(17, 36)));
  journal.hold_append(false);
  REQUIRE(writer.flush(long_enough));
  // A submission is never split, even when it is larger than the limit.
  CHECK(journal.batches() == std::vector<std::size_t>{1, 10, 5, 20});
}

TEST_CASE("appending goes on while a sync is held up by the disk") {
  HeldJournal journal;
  journal.hold_sync(true);
  Announced announced;
  std::mutex mutex;
  std::condition_variable changed;
  Sequence accepted;
  StoreWriter writer(journal, {.group = {.records = 1}}, {.on_accepted = [&](Sequence sequence) {
                       const std::lock_guard lock(mutex);
                       accepted = sequence;
                       changed.notify_all();
                     }});
  REQUIRE(writer.submit(write_sets(1, 1)));
  journal.wait_for_held();
  for (std::uint64_t number = 2; number <= 100; ++number)
    REQUIRE(writer.submit(write_sets(number, number)));
  {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, long_enough, [&] { return accepted == Sequence(100); }));
  }
  CHECK(writer.durable() == Sequence(0));
  journal.hold_sync(false);
  REQUIRE(writer.flush(long_enough));
  CHECK(writer.durable() == Sequence(100));
  CHECK(journal.syncs() < 100);
}

TEST_CASE("strict announces nothing that is not durable") {
  HeldJournal journal;
  journal.hold_sync(true);
  Announced announced;
  StoreWriter writer(journal, {.durability = Durability::strict}, announced.callbacks());
  REQUIRE(writer.submit(write_sets(1, 1)));
  journal.wait_for_held();
  while (journal.watermarks().accepted < Sequence(1))
    std::this_thread::yield();
  CHECK(announced.take().empty());
  CHECK(writer.accepted() == Sequence(0));
  journal.hold_sync(false);
  REQUIRE(writer.flush(long_enough));
  CHECK(announced.take() == std::vector<std::int64_t>{1, -1});
}

TEST_CASE("a full queue is visible and refuses until something was taken") {
  HeldJournal journal;
  journal.hold_append(true);
  StoreWriter writer(journal, {.max_queued_records = 4}, {});
  REQUIRE(writer.submit(write_sets(1, 1)));
  journal.wait_for_held();
  REQUIRE(writer.submit(write_sets(2, 4)));
  CHECK(writer.has_room());
  CHECK(writer.queued_records() == 3);
  REQUIRE(writer.submit(write_sets(5, 9)));
  CHECK_FALSE(writer.has_room());
  CHECK(writer.submit(write_sets(10, 10)).error().code() == ErrorCode::resource_exhausted);
  journal.hold_append(false);
  REQUIRE(writer.flush(long_enough));
  CHECK(writer.has_room());
  CHECK(writer.submit(write_sets(10, 10)).value_or_throw() == Sequence(10));
}

TEST_CASE("a queue is also limited by its bytes") {
  HeldJournal journal;
  journal.hold_append(true);
  StoreWriter writer(journal, {.max_queued_bytes = 1000}, {});
  REQUIRE(writer.submit(write_sets(1, 1)));
  journal.wait_for_held();
  REQUIRE(writer.submit(write_sets(2, 2, 1000)));
  CHECK_FALSE(writer.has_room());
  journal.hold_append(false);
}

TEST_CASE("an error of the journal is announced once and ends everything") {
  for (const char* point : {"store.append.before_write", "store.sync.before"}) {
    CAPTURE(point);
    MemoryJournal journal;
    Announced announced;
    StoreWriter writer(journal, {}, announced.callbacks());
    const ScopedFault fault(point, {.times = 1});
    REQUIRE(writer.submit(write_sets(1, 1)));
    CHECK(writer.flush(long_enough).error().code() == ErrorCode::unavailable);
    CHECK(writer.submit(write_sets(2, 2)).error().code() == ErrorCode::unavailable);
    CHECK_FALSE(writer.stop(long_enough));
    const auto all = announced.take();
    CHECK(std::count(all.begin(), all.end(), 0) == 1);
    CHECK(all.back() == 0);
    CHECK(writer.durable() == Sequence(0));
  }
}

TEST_CASE("flush gives up at its deadline and can be called again") {
  HeldJournal journal;
  journal.hold_sync(true);
  StoreWriter writer(journal, {}, {});
  REQUIRE(writer.submit(write_sets(1, 1)));
  CHECK(writer.flush(Duration::zero()).error().code() == ErrorCode::deadline_exceeded);
  journal.hold_sync(false);
  CHECK(writer.flush(long_enough));
}

TEST_CASE("stop writes what is queued and refuses what comes later") {
  MemoryJournal journal;
  StoreWriter writer(journal, {.group = {.records = 1000, .delay = std::chrono::hours(1)}}, {});
  REQUIRE(writer.submit(write_sets(1, 50)));
  REQUIRE(writer.stop(long_enough));
  CHECK(journal.watermarks().durable == Sequence(50));
  CHECK(writer.submit(write_sets(51, 51)).error().code() == ErrorCode::failed_precondition);
  CHECK(writer.stop(long_enough));
}

TEST_CASE("a writer over a journal with a tail that is not durable makes it durable") {
  MemoryJournal journal;
  REQUIRE(journal.append(write_sets(1, 3)));
  StoreWriter writer(journal, {}, {});
  CHECK(writer.accepted() == Sequence(3));
  CHECK(writer.submit({}).value_or_throw() == Sequence(3));
  REQUIRE(writer.flush(long_enough));
  CHECK(journal.watermarks().durable == Sequence(3));
  CHECK(writer.submit(write_sets(4, 4)).value_or_throw() == Sequence(4));
}
