#pragma once

#include <troupe/runtime/store/detail/recovery.hpp>
#include <troupe/runtime/store/detail/view.hpp>

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>

namespace troupe::detail {

/// The journal in RocksDB.
///
/// `append` is one write without sync: the kernel has it, so that only a loss of power can take it.
/// `sync` is `SyncWAL`, which does not hold up appends (docs/adr says how it was chosen). The
/// witness follows on a thread of its own, or in `sync` where the interval is zero.
class RocksJournal final : public Journal {
public:
  RocksJournal(std::filesystem::path experiment_dir, Recovered recovered,
               Duration witness_interval);
  ~RocksJournal() override;

  /// Writes the witness of what was recovered and starts its thread if it has one; before anything
  /// else.
  Status start();

  Result<Sequence> append(std::span<const WriteSet> batch) override;
  Result<Sequence> sync() override;
  Status close() override;

  Result<std::optional<std::string>> get(Table table, std::string_view key) const override;
  Status scan(Table table, std::string_view prefix, const RowVisitor& visit) const override;
  Status events(Sequence after, const EventVisitor& visit) const override;
  Result<std::string> event(Sequence sequence) const override;
  Watermarks watermarks() const override;
  std::string store_id() const override { return store_id_; }

private:
  Status check_usable() const;
  Error fail(Error error);
  Status fill(rocksdb::WriteBatch& out, std::span<const WriteSet> batch, HighWater& end) const;
  Status sync_locked();
  Status write_witness_now();
  bool follow_with_witness();
  void witness_loop();
  void end_witness_thread();

  const std::filesystem::path experiment_dir_;
  const std::string store_id_;
  const Duration witness_interval_;

  mutable std::shared_mutex open_mutex_;  ///< held shared while the database is used
  Database database_;

  std::mutex sync_mutex_;  ///< one sync at a time
  rocksdb::WriteBatch batch_;

  mutable std::mutex mutex_;
  HighWater accepted_;
  HighWater durable_;
  HighWater witnessed_;
  std::optional<Error> failed_;
  bool ending_ = false;
  std::condition_variable to_witness_;
  std::thread witness_thread_;
};

/// `open_store` on another platform, for tests.
Result<OpenedStore> open_store(const StoreOptions& options, const Platform& platform);

}  // namespace troupe::detail
