#include <troupe/base/fault_point.hpp>
#include <troupe/base/file.hpp>
#include <troupe/base/version.hpp>
#include <troupe/runtime/store/detail/recovery.hpp>
#include <troupe/runtime/store/detail/witness.hpp>

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace troupe::detail {
namespace {

namespace fs = std::filesystem;

Result<Look> look_in(const fs::path& folder, const Platform& platform, LogMode mode,
                     bool thorough) {
  TROUPE_TRY(database, open_read_only(folder, platform, mode));
  TROUPE_TRY(facts, verify_events(View(database), thorough).with_context(folder.string()));
  return Look{std::move(database), std::move(facts), mode, {}};
}

/// How to open for writing, found out without changing anything.
struct Plan {
  LogMode mode = LogMode::tolerate_tail;
  StoreFacts facts;
  std::string refused;
};

Result<Plan> make_plan(const fs::path& folder, const Platform& platform,
                       const std::optional<Witness>& witness) {
  TROUPE_TRY(found, look_at_store(folder, platform, !witness.has_value()));
  if (!witness)
    return Plan{found.mode, std::move(found.facts), std::move(found.refused)};
  auto fits = compare_with_witness(View(found.database), found.facts, *witness, folder.string());
  if (fits)
    return Plan{found.mode, std::move(found.facts), std::move(found.refused)};
  if (found.refused.empty())
    return std::move(fits).error();
  return Error(fits.error().code(), fits.error().message() + ". Found first: " + found.refused);
}

Result<FileDescriptor> lock_folder(const fs::path& folder) {
  TROUPE_TRY(file, open_file(folder, O_RDONLY | O_DIRECTORY));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0)
    return file;
  if (errno != EWOULDBLOCK)
    return errno_error(errno, folder.string());
  return Error(ErrorCode::unavailable,
               folder.string() + ": another process is creating this experiment right now");
}

/// A store in which nothing was ever accepted is what a creator that died at once leaves behind.
Result<bool> holds_nothing(const fs::path& experiment_dir, const Platform& platform) {
  const fs::path folder = store_folder(experiment_dir);
  TROUPE_TRY(witness, read_witness(witness_file(experiment_dir)));
  if (witness && witness->mark.sequence.value > 0)
    return false;
  TROUPE_RETURN_IF_ERROR(check_folder(folder, platform));
  TROUPE_TRY(lock, FolderLock::acquire(folder, platform));
  TROUPE_TRY(database, open_read_only(folder, platform, LogMode::tolerate_tail));
  TROUPE_TRY(end, View(database).high_water());
  return end.sequence.value == 0;
}

/// True when an empty store is there, which will do; an error when there is anything else.
Result<bool> refuse_traces(const fs::path& experiment_dir, const Platform& platform) {
  const fs::path folder = store_folder(experiment_dir);
  std::error_code ignored;
  if (fs::exists(folder / "CURRENT", ignored)) {
    TROUPE_TRY(empty, holds_nothing(experiment_dir, platform));
    if (empty)
      return true;
    return Error(
        ErrorCode::already_exists,
        folder.string() + ": the experiment exists already. Restore it, or choose another name");
  }
  if (fs::exists(folder, ignored) && !fs::is_empty(folder, ignored))
    TROUPE_RETURN_IF_ERROR(check_folder(folder, platform));
  if (fs::exists(witness_file(experiment_dir), ignored))
    return Error(ErrorCode::data_loss,
                 witness_file(experiment_dir).string() +
                     ": the witness says that there was a store, but " + folder.string() +
                     " is gone. Nothing was changed. Put the folder back, or choose another name");
  return false;
}

}  // namespace

Result<Look> look_at_store(const fs::path& folder, const Platform& platform, bool thorough) {
  auto first = look_in(folder, platform, LogMode::tolerate_tail, thorough);
  // Only damage may look different in the other mode.
  if (first || first.error().code() != ErrorCode::corrupt)
    return first;
  auto second = look_in(folder, platform, LogMode::point_in_time, thorough);
  if (second) {
    second->refused = first.error().message();
    return second;
  }
  return Error(first.error().code(),
               first.error().message() +
                   ". Nothing was changed. Restore the folder from a backup, or "
                   "see `troupe doctor`");
}

Error store_is_gone(const fs::path& folder, const Witness& witness) {
  return Error(ErrorCode::data_loss,
               folder.string() + ": the store is gone; its witness says that it had " +
                   to_string(witness.mark.sequence) +
                   " events. Nothing was changed. Put the folder back from a backup");
}

Status write_identity(Database& database, const std::string& store_id) {
  StoreSchema schema;
  schema.written_by = version_string;
  rocksdb::WriteBatch batch;
  auto* meta = database.handle(Family::meta);
  const auto put = [&](std::string_view key, const std::string& value) {
    return batch.Put(meta, rocksdb::Slice(key.data(), key.size()), value).ok();
  };
  if (!put(schema_key, encode(schema)) || !put(store_id_key, encode(StoreIdentity{store_id})) ||
      !put(high_water_key, encode(HighWater{})))
    return Error(ErrorCode::internal, "a batch was refused");
  rocksdb::WriteOptions options;
  options.sync = true;
  const auto status = database.db().Write(options, &batch);
  if (!status.ok())
    return rocks_error(status, "the identity of a new store");
  return ok();
}

Status create_store(const fs::path& experiment_dir, const Platform& platform) {
  TROUPE_RETURN_IF_ERROR(create_directories(experiment_dir));
  TROUPE_TRY(lock, lock_folder(experiment_dir));
  TROUPE_TRY(there_already, refuse_traces(experiment_dir, platform));
  if (there_already)
    return ok();
  const fs::path folder = store_folder(experiment_dir);
  const fs::path fresh = folder.string() + ".new";
  std::error_code error;
  fs::remove_all(fresh, error);
  if (error)
    return errno_error(error.value(), fresh.string());
  {
    TROUPE_TRY(database, make_database(fresh, platform));
    TROUPE_TRY(store_id, make_store_id());
    TROUPE_FAULT_POINT("store.create.before_identity");
    TROUPE_RETURN_IF_ERROR(write_identity(database, store_id).with_context(fresh.string()));
  }
  TROUPE_RETURN_IF_ERROR(fsync_directory(fresh));
  TROUPE_FAULT_POINT("store.create.before_rename");
  if (::rename(fresh.c_str(), folder.c_str()) != 0)
    return errno_error(errno, folder.string());
  return fsync_directory(experiment_dir);
}

Result<fs::path> link_aside(const fs::path& folder, const std::string& label) {
  fs::path aside;
  std::error_code error;
  for (int number = 1; number < 10'000; ++number) {
    aside = folder.string() + "." + label + "-" + std::to_string(number);
    if (fs::create_directory(aside, error))
      break;
    if (error)
      return errno_error(error.value(), aside.string());
  }
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const fs::path name = entry.path().filename();
    if (name == "LOCK" || !entry.is_regular_file(error))
      continue;
    fs::create_hard_link(entry.path(), aside / name, error);
    if (error)
      fs::copy_file(entry.path(), aside / name, error);
    if (error)
      return errno_error(error.value(), (aside / name).string());
  }
  if (error)
    return errno_error(error.value(), folder.string());
  TROUPE_RETURN_IF_ERROR(fsync_directory(aside));
  TROUPE_RETURN_IF_ERROR(fsync_directory(aside.parent_path()));
  return aside;
}

Result<Recovered> recover_store(const fs::path& experiment_dir, const Platform& platform) {
  const fs::path folder = store_folder(experiment_dir);
  TROUPE_TRY(witness, read_witness(witness_file(experiment_dir)));
  if (auto status = check_folder(folder, platform); !status) {
    if (status.error().code() == ErrorCode::not_found && witness)
      return store_is_gone(folder, *witness);
    return std::move(status).error();
  }
  Plan plan;
  std::vector<std::string> notes;
  {
    TROUPE_TRY(lock, FolderLock::acquire(folder, platform));
    TROUPE_TRY(made, make_plan(folder, platform, witness));
    plan = std::move(made);
    if (plan.mode == LogMode::point_in_time) {
      TROUPE_TRY(aside, link_aside(folder, "before-recovery"));
      notes.push_back(
          "the end of the log was damaged (" + plan.refused +
          "): " + to_string(plan.facts.end.sequence) +
          " events are kept, all that were known to be durable among them; what came after "
          "is dropped. The folder as it was is kept in " +
          aside.string());
    }
  }
  if (!witness && plan.facts.end.sequence.value > 0)
    notes.push_back(
        witness_file(experiment_dir).string() + " is missing: all " +
        to_string(plan.facts.end.sequence) +
        " events were verified and fit together, but nobody can say whether some at the end "
        "are gone. It is made anew");
  TROUPE_TRY(database, open_database(folder, platform, plan.mode));
  TROUPE_TRY(end, View(database).high_water());
  if (!(end == plan.facts.end))
    return Error(ErrorCode::unavailable,
                 folder.string() + ": the store changed while it was opened: try again");
  return Recovered{std::move(database), std::move(plan.facts), std::move(notes)};
}

}  // namespace troupe::detail
