#include <troupe/base/file.hpp>
#include <troupe/runtime/store/detail/format.hpp>
#include <troupe/runtime/store/detail/rocks.hpp>
#include <troupe/runtime/store/keys.hpp>
#include <troupe/runtime/store/store.hpp>
#include <troupe/runtime/store/store_writer.hpp>
#include <troupe/serialization/envelope.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <rocksdb/write_batch.h>
#include <unistd.h>

#include "benchmarks/benchmark.hpp"

/// What a decision costs until it is accepted and until it is durable, against the least that
/// RocksDB and the disk need for the same bytes.
namespace troupe::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t event_bytes = 300;
constexpr std::size_t row_bytes = 150;
constexpr std::size_t batch_records = 64;
constexpr int rounds = 5;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string digits(std::uint64_t number, std::size_t bytes) {
  std::string text;
  std::uint64_t state = number + 1;
  while (text.size() < bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    text.push_back(static_cast<char>('0' + (state >> 33) % 10));
  }
  return text;
}

/// What one report of a trial writes: the event, the trial's row, an entry of the index.
WriteSet report(std::uint64_t number) {
  const TrialId trial(static_cast<std::uint32_t>(number % 1000));
  WriteSet writes;
  writes.event = seal(499, 1, digits(number, event_bytes));
  writes.rows.push_back(
      {Table::trials, keys::trial_key(trial), seal(499, 1, digits(number, row_bytes))});
  writes.rows.push_back(
      {Table::results, keys::result_key(trial, number), encode(EventPointer{Sequence(number)})});
  return writes;
}

/// Seconds until all records were accepted, and until all were durable.
struct Times {
  double accepted = 0;
  double durable = 0;
};

/// Waits for a number that another thread raises.
class Mark {
public:
  void set(std::uint64_t value) {
    const std::lock_guard lock(mutex_);
    value_ = value;
    changed_.notify_all();
  }
  void wait_for(std::uint64_t value) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::minutes(5), [&] { return value_ >= value; }))
      throw Exception(ErrorCode::deadline_exceeded, "the store writer does not get on");
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t value_ = 0;
};

std::unique_ptr<Journal> fresh_store(const std::string& folder) {
  return std::move(
      open_store({.experiment_dir = folder, .mode = OpenMode::create}).value_or_throw().journal);
}

Times troupe_writes(const std::string& folder, std::uint64_t records) {
  std::vector<std::vector<WriteSet>> submissions;
  for (std::uint64_t number = 1; number <= records; ++number) {
    submissions.emplace_back();
    submissions.back().push_back(report(number));
  }
  const auto journal = fresh_store(folder);
  Mark accepted;
  StoreWriter writer(*journal, {}, {.on_accepted = [&](Sequence s) { accepted.set(s.value); }});
  Times times;
  const auto start = Clock::now();
  for (auto& submission : submissions) {
    while (!writer.has_room())
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    writer.submit(std::move(submission)).value_or_throw();
  }
  accepted.wait_for(records);
  times.accepted = seconds_since(start);
  writer.flush(std::chrono::minutes(5)).value_or_throw();
  times.durable = seconds_since(start);
  writer.stop(std::chrono::minutes(1)).value_or_throw();
  journal->close().value_or_throw();
  return times;
}

/// A key and a value in a column family.
struct Pair {
  std::size_t family;
  std::string key;
  std::string value;
};

/// The same keys and values, made beforehand, as our store lays them out: nothing but RocksDB is
/// measured.
std::vector<std::vector<Pair>> raw_batches(std::uint64_t records) {
  std::vector<std::vector<Pair>> batches;
  for (std::uint64_t first = 1; first <= records; first += batch_records) {
    const std::uint64_t last = std::min(records, first + batch_records - 1);
    auto& batch = batches.emplace_back();
    for (std::uint64_t number = first; number <= last; ++number) {
      const WriteSet writes = report(number);
      batch.push_back(
          {1, detail::event_key(Sequence(number)), detail::event_prefix(0) + writes.event});
      for (const RowWrite& row : writes.rows)
        batch.push_back({detail::index_of(row.table), row.key,
                         detail::row_prefix(Sequence(number)) + *row.value});
    }
    batch.push_back(
        {0, std::string(detail::high_water_key), encode(detail::HighWater{Sequence(last), 0})});
  }
  return batches;
}

void check(const rocksdb::Status& status) {
  if (!status.ok())
    throw Exception(detail::rocks_error(status, "raw RocksDB"));
}

/// One thread writes batches of 64 without sync, another syncs the log by the same rule as ours.
Times rocksdb_writes(const std::string& folder, std::uint64_t records) {
  const auto batches = raw_batches(records);
  const auto database = detail::make_database(folder, {}).value_or_throw();
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<bool> done{false};
  std::thread syncer([&] {
    std::uint64_t durable = 0;
    while (durable < batches.size() && !done) {
      const std::uint64_t target = accepted.load();
      if (target == durable) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        continue;
      }
      if (!database.db().SyncWAL().ok())
        done = true;
      durable = target;
    }
  });
  Times times;
  const auto start = Clock::now();
  rocksdb::Status status;
  for (const auto& batch : batches) {
    rocksdb::WriteBatch writes;
    for (const Pair& pair : batch)
      if (status.ok())
        status = writes.Put(database.handle(pair.family), pair.key, pair.value);
    if (status.ok())
      status = database.db().Write(rocksdb::WriteOptions(), &writes);
    if (!status.ok())
      break;
    accepted.fetch_add(1);
  }
  times.accepted = seconds_since(start);
  if (!status.ok())
    done = true;
  syncer.join();
  times.durable = seconds_since(start);
  check(status);
  return times;
}

/// Writes of a batch's bytes with fdatasync behind each: what the disk gives, with nothing above
/// it.
double fdatasyncs_per_s(const std::string& file, double seconds) {
  const auto out = open_file(file, O_WRONLY | O_CREAT | O_TRUNC).value_or_throw();
  const std::string bytes(batch_records * (event_bytes + row_bytes + 100), 'x');
  const auto start = Clock::now();
  int count = 0;
  while (seconds_since(start) < seconds) {
    write_all(out.get(), bytes, file).value_or_throw();
    if (::fdatasync(out.get()) != 0)
      throw Exception(errno_error(errno, file));
    ++count;
  }
  return count / seconds_since(start);
}

/// Microseconds from a submission until it is accepted, one at a time.
std::vector<double> latencies_us(const std::string& folder, std::uint64_t records) {
  const auto journal = fresh_store(folder);
  Mark accepted;
  StoreWriter writer(*journal, {}, {.on_accepted = [&](Sequence s) { accepted.set(s.value); }});
  std::vector<double> all;
  for (std::uint64_t number = 1; number <= records; ++number) {
    std::vector<WriteSet> writes;
    writes.push_back(report(number));
    const auto start = Clock::now();
    writer.submit(std::move(writes)).value_or_throw();
    accepted.wait_for(number);
    all.push_back(seconds_since(start) * 1e6);
  }
  writer.stop(std::chrono::minutes(1)).value_or_throw();
  return all;
}

BenchmarkResult run(const BenchmarkArguments& arguments) {
  const std::uint64_t records = arguments.quick ? 10'000 : 100'000;
  std::printf(
      "%lu reports of %zu + %zu bytes; our store writer against RocksDB alone with the same keys, "
      "values, batches of %zu and syncs, %d rounds in turn\n",
      static_cast<unsigned long>(records), event_bytes, row_bytes, batch_records, rounds);
  std::vector<double> accepted, durable, accepted_ratio, ratio, raw_durable, raw_accepted;
  const double n = static_cast<double>(records);
  for (int round = 1; round <= rounds; ++round) {
    const std::string folder = arguments.folder + "/" + std::to_string(round);
    // In turn also within a round: the disk remembers what it was asked to do a moment ago.
    Times raw, ours;
    if (round % 2 == 1)
      raw = rocksdb_writes(folder + "-raw", records);
    ours = troupe_writes(folder, records);
    if (round % 2 == 0)
      raw = rocksdb_writes(folder + "-raw", records);
    std::printf("  round %d: ours accepted %.0f/s durable %.0f/s, RocksDB %.0f/s and %.0f/s\n",
                round, n / ours.accepted, n / ours.durable, n / raw.accepted, n / raw.durable);
    accepted.push_back(n / ours.accepted);
    durable.push_back(n / ours.durable);
    raw_accepted.push_back(n / raw.accepted);
    raw_durable.push_back(n / raw.durable);
    accepted_ratio.push_back(raw.accepted / ours.accepted);
    ratio.push_back(raw.durable / ours.durable);
    fs::remove_all(folder);
    fs::remove_all(folder + "-raw");
  }
  const double syncs = fdatasyncs_per_s(arguments.folder + "/raw", arguments.quick ? 0.2 : 2);
  const auto latency = latencies_us(arguments.folder + "/latency", records / 20);
  return {{"accepted_per_s", median(accepted)},
          {"durable_per_s", median(durable)},
          {"ratio_to_rocksdb", median(ratio)},
          {"accepted_ratio_to_rocksdb", median(accepted_ratio)},
          {"rocksdb_accepted_per_s", median(raw_accepted)},
          {"rocksdb_durable_per_s", median(raw_durable)},
          {"fdatasync_per_s", syncs},
          {"accepted_p50_us", quantile(latency, 0.5)},
          {"accepted_p99_us", quantile(latency, 0.99)}};
}

const BenchmarkRegistration registration{
    "commit", "store writer against raw RocksDB and raw fdatasync in the same run", run};

}  // namespace
}  // namespace troupe::bench
