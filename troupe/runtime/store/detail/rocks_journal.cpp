#include <troupe/base/fault_point.hpp>
#include <troupe/base/log.hpp>
#include <troupe/runtime/store/detail/rocks_journal.hpp>
#include <troupe/runtime/store/detail/witness.hpp>
#include <troupe/runtime/store/detail/write_rules.hpp>

#include <utility>

#include <rocksdb/write_batch.h>

namespace troupe::detail {
namespace {

rocksdb::Status put(rocksdb::WriteBatch& batch, rocksdb::ColumnFamilyHandle* family,
                    const std::string& key, const std::string& prefix, const std::string& record) {
  const rocksdb::Slice key_part(key);
  const rocksdb::Slice value_parts[] = {prefix, record};
  return batch.Put(family, rocksdb::SliceParts(&key_part, 1), rocksdb::SliceParts(value_parts, 2));
}

}  // namespace

RocksJournal::RocksJournal(std::filesystem::path experiment_dir, Recovered recovered,
                           Duration witness_interval)
    : experiment_dir_(std::move(experiment_dir)),
      store_id_(std::move(recovered.facts.store_id)),
      witness_interval_(witness_interval),
      database_(std::move(recovered.database)),
      accepted_(recovered.facts.end),
      durable_(recovered.facts.end) {}  // opening wrote what was in the log into synced files

RocksJournal::~RocksJournal() {
  end_witness_thread();
}

Status RocksJournal::start() {
  TROUPE_RETURN_IF_ERROR(write_witness_now());
  if (witness_interval_ > Duration::zero())
    witness_thread_ = std::thread([this] { witness_loop(); });
  return ok();
}

Status RocksJournal::check_usable() const {
  if (!database_)
    return refuse_closed();
  const std::lock_guard lock(mutex_);
  if (failed_)
    return refuse_after(*failed_);
  return ok();
}

Error RocksJournal::fail(Error error) {
  const std::lock_guard lock(mutex_);
  if (!failed_)
    failed_ = error;
  return error;
}

// -- writing ------------------------------------------------------------------------------------

Status RocksJournal::fill(rocksdb::WriteBatch& out, std::span<const WriteSet> batch,
                          HighWater& end) const {
  auto* events = database_.handle(Family::events);
  for (const WriteSet& writes : batch) {
    end.sequence = end.sequence.next();
    end.chain = chain_next(end.chain, end.sequence, writes.event);
    auto status = put(out, events, event_key(end.sequence), event_prefix(end.chain), writes.event);
    const std::string prefix = row_prefix(end.sequence);
    for (const RowWrite& row : writes.rows) {
      if (!status.ok())
        break;
      auto* table = database_.handle(row.table);
      status =
          row.value ? put(out, table, row.key, prefix, *row.value) : out.Delete(table, row.key);
    }
    if (!status.ok())
      return rocks_error(status, "event " + to_string(end.sequence));
  }
  const auto status =
      out.Put(database_.handle(Family::meta), std::string(high_water_key), encode(end));
  if (!status.ok())
    return rocks_error(status, "high-water mark");
  return ok();
}

Result<Sequence> RocksJournal::append(std::span<const WriteSet> batch) {
  const std::shared_lock open(open_mutex_);
  TROUPE_RETURN_IF_ERROR(check_usable());
  TROUPE_RETURN_IF_ERROR(check_batch(batch));
  HighWater end = accepted_;  // only this thread changes it
  if (batch.empty())
    return end.sequence;
  batch_.Clear();
  if (auto status = fill(batch_, batch, end); !status)
    return fail(std::move(status).error());
  if (auto fault = TROUPE_FAULT_STATUS("store.append.before_write"); !fault)
    return fail(std::move(fault).error());
  const auto status = database_.db().Write(rocksdb::WriteOptions(), &batch_);
  if (!status.ok())
    return fail(rocks_error(status, store_folder(experiment_dir_).string() + ": writing event " +
                                        to_string(end.sequence)));
  {
    const std::lock_guard lock(mutex_);
    accepted_ = end;
  }
  if (auto fault = TROUPE_FAULT_STATUS("store.append.after_write"); !fault)
    return fail(std::move(fault).error());
  return end.sequence;
}

Result<Sequence> RocksJournal::sync() {
  const std::shared_lock open(open_mutex_);
  TROUPE_RETURN_IF_ERROR(check_usable());
  TROUPE_RETURN_IF_ERROR(sync_locked());
  const std::lock_guard lock(mutex_);
  return durable_.sequence;
}

Status RocksJournal::sync_locked() {
  const std::lock_guard one_at_a_time(sync_mutex_);
  HighWater target;
  {
    const std::lock_guard lock(mutex_);
    target = accepted_;
    if (target == durable_)
      return ok();
  }
  if (auto fault = TROUPE_FAULT_STATUS("store.sync.before"); !fault)
    return fail(std::move(fault).error());
  const auto status = database_.db().SyncWAL();
  if (!status.ok())
    return fail(rocks_error(status, store_folder(experiment_dir_).string() +
                                        ": syncing up to event " + to_string(target.sequence)));
  {
    const std::lock_guard lock(mutex_);
    durable_ = target;
    to_witness_.notify_one();
  }
  if (auto fault = TROUPE_FAULT_STATUS("store.sync.after"); !fault)
    return fail(std::move(fault).error());
  if (witness_interval_ <= Duration::zero())
    follow_with_witness();  // what was synced is durable without it
  return ok();
}

Status RocksJournal::close() {
  Status status;
  {
    const std::shared_lock open(open_mutex_);
    if (!database_)
      return refuse_closed();
    status = check_usable();
    if (status)
      status = sync_locked();
  }
  end_witness_thread();
  if (status)
    status = write_witness_now();
  const std::unique_lock alone(open_mutex_);
  database_ = Database();
  return status;
}

// -- the witness --------------------------------------------------------------------------------

Status RocksJournal::write_witness_now() {
  HighWater mark;
  {
    const std::lock_guard lock(mutex_);
    mark = durable_;
  }
  if (auto written = write_witness(witness_file(experiment_dir_), {store_id_, mark}); !written) {
    std::string text =
        experiment_dir_.string() + ": the witness of the store: " + written.error().message();
    if (written.error().code() == ErrorCode::resource_exhausted)
      text += remedy_no_space;
    return Error(written.error().code(), std::move(text));
  }
  const std::lock_guard lock(mutex_);
  witnessed_ = mark;
  return ok();
}

/// False when it failed: whoever writes next gets it as an error; until then there is nothing to
/// lose.
bool RocksJournal::follow_with_witness() {
  const Status written = write_witness_now();
  if (!written)
    log::warning("a store takes no more writes", {{"reason", fail(written.error())}});
  return written.is_ok();
}

void RocksJournal::witness_loop() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      to_witness_.wait(lock, [this] { return ending_ || !(durable_ == witnessed_); });
      if (ending_)
        return;
    }
    if (!follow_with_witness())
      return;
    std::unique_lock lock(mutex_);
    to_witness_.wait_for(lock, witness_interval_, [this] { return ending_; });
  }
}

void RocksJournal::end_witness_thread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    to_witness_.notify_one();
  }
  if (witness_thread_.joinable())
    witness_thread_.join();
}

// -- reading ------------------------------------------------------------------------------------

Result<std::optional<std::string>> RocksJournal::get(Table table, std::string_view key) const {
  const std::shared_lock open(open_mutex_);
  if (!database_)
    return refuse_closed();
  return View(database_).get(table, key);
}

Status RocksJournal::scan(Table table, std::string_view prefix, const RowVisitor& visit) const {
  const std::shared_lock open(open_mutex_);
  if (!database_)
    return refuse_closed();
  return View(database_).scan(table, prefix, prefix, visit);
}

Status RocksJournal::events(Sequence after, const EventVisitor& visit) const {
  const std::shared_lock open(open_mutex_);
  if (!database_)
    return refuse_closed();
  return View(database_).events(after, visit);
}

Result<std::string> RocksJournal::event(Sequence sequence) const {
  const std::shared_lock open(open_mutex_);
  if (!database_)
    return refuse_closed();
  return View(database_).event(sequence);
}

Watermarks RocksJournal::watermarks() const {
  const std::lock_guard lock(mutex_);
  return {accepted_.sequence, durable_.sequence, accepted_.chain};
}

// -- opening ------------------------------------------------------------------------------------

Result<OpenedStore> open_store(const StoreOptions& options, const Platform& platform) {
  if (options.experiment_dir.empty())
    return Error(ErrorCode::invalid_argument, "no experiment folder was given");
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(options.experiment_dir, error);
  if (error)
    return errno_error(error.value(), options.experiment_dir.string());
  if (options.mode == OpenMode::create)
    TROUPE_RETURN_IF_ERROR(create_store(folder, platform));
  TROUPE_TRY(recovered, recover_store(folder, platform));
  std::vector<std::string> notes = std::move(recovered.notes);
  auto journal =
      std::make_unique<RocksJournal>(folder, std::move(recovered), options.witness_interval);
  TROUPE_RETURN_IF_ERROR(journal->start());
  return OpenedStore{std::move(journal), std::move(notes)};
}

}  // namespace troupe::detail
