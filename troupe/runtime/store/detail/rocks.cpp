#include <troupe/base/log.hpp>
#include <troupe/base/version.hpp>
#include <troupe/runtime/store/detail/rocks.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace troupe::detail {
namespace {

namespace fs = std::filesystem;

/// RocksDB writes a LOG file into its folder otherwise, also when it only reads. What it complains
/// about comes back as a status too, so that here it is only for debugging.
class ForwardingLogger final : public rocksdb::Logger {
public:
  ForwardingLogger() : rocksdb::Logger(rocksdb::WARN_LEVEL) {}
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list args) override {
    if (!log::enabled(log::Level::debug))
      return;
    char text[1024];
    if (std::vsnprintf(text, sizeof text, format, args) > 0)
      log::debug("rocksdb", {{"message", std::string_view(text)}});
  }
};

rocksdb::ColumnFamilyOptions family_options(const Platform& platform, bool looked_up_by_key) {
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = platform.write_buffer_bytes;
  options.max_write_buffer_number = 3;
  const auto supported = rocksdb::GetSupportedCompressions();
  const auto use = [&](rocksdb::CompressionType type, rocksdb::CompressionType& option) {
    if (std::find(supported.begin(), supported.end(), type) != supported.end())
      option = type;
  };
  options.compression = rocksdb::kNoCompression;
  use(rocksdb::kLZ4Compression, options.compression);
  use(rocksdb::kZSTD, options.bottommost_compression);
  rocksdb::BlockBasedTableOptions table;
  if (looked_up_by_key) {
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.whole_key_filtering = true;
  }
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

/// The owner of a POSIX lock, as the system tells it. Opening the file to ask would be wrong:
/// closing it again drops every lock that this process has on it.
std::string lock_owner(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0)
    return {};
  char device[64];
  std::snprintf(device, sizeof device, "%02x:%02x:%lu", major(info.st_dev), minor(info.st_dev),
                static_cast<unsigned long>(info.st_ino));
  std::ifstream locks("/proc/locks");
  std::string line;
  while (std::getline(locks, line)) {
    std::istringstream words(line);
    std::string number, kind, advisory, access, pid, where;
    words >> number >> kind >> advisory >> access >> pid >> where;
    if (kind == "POSIX" && where == device)
      return pid;
  }
  return {};
}

bool is_held(const std::string& refusal) {
  if (refusal.find("lock hold by current process") != std::string::npos)
    return true;
  const auto says = [&](int error) {
    return refusal.ends_with(std::generic_category().message(error));
  };
  return refusal.find("While lock file") != std::string::npos && (says(EAGAIN) || says(EACCES));
}

/// What can be done when the lock file can not be opened or locked for a reason of the system.
std::string remedy_of(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files (`ulimit -n`)";
    case ENOSPC:
    case EDQUOT:
      return "free some space";
    case ENOLCK:
      return "this file system gives no locks: put the experiment on a local disk";
    case EROFS:
    case EACCES:
    case EPERM:
      return "whoever goes on with an experiment must be able to write into its folder. To look at "
             "it, use `troupe show`";
    default:
      return "mend the folder, or restore it from a backup";
  }
}

/// RocksDB says only in words why a lock was refused.
Error lock_error(const rocksdb::Status& status, const fs::path& file) {
  const std::string refusal = status.ToString();
  if (is_held(refusal)) {
    const std::string owner = lock_owner(file);
    return Error(ErrorCode::unavailable,
                 file.string() + ": another run has this experiment open" +
                     (owner.empty() ? std::string() : " (process " + owner + ")") +
                     ": wait for it or stop it. To look at it meanwhile, use `troupe show`");
  }
  for (const int error : {EMFILE, ENFILE, ENOSPC, EDQUOT, ENOLCK, EROFS, EACCES, EPERM, EISDIR}) {
    if (!refusal.ends_with(std::generic_category().message(error)))
      continue;
    const Error cause = errno_error(error, "the store cannot be locked, " + file.string());
    return Error(cause.code(), cause.message() + ". Nothing was changed; " + remedy_of(error));
  }
  return rocks_error(status, file.string());
}

rocksdb::Env* env_of(const Platform& platform) {
  return platform.env ? platform.env : rocksdb::Env::Default();
}

bool looks_empty(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_empty(folder, ignored);
}

}  // namespace

std::size_t index_of(Family family) {
  return static_cast<std::size_t>(family);
}

std::size_t index_of(Table table) {
  return index_of(Family::first_table) + static_cast<std::size_t>(table) - 1;
}

const std::vector<std::string>& family_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{rocksdb::kDefaultColumnFamilyName, "events"};
    for (std::size_t i = 1; i <= table_count; ++i)
      all.emplace_back(to_string(static_cast<Table>(i)));
    return all;
  }();
  return names;
}

Database::Database(std::unique_ptr<rocksdb::DB> db,
                   std::vector<rocksdb::ColumnFamilyHandle*> handles)
    : db_(std::move(db)), handles_(std::move(handles)) {}

Database& Database::operator=(Database&& other) noexcept {
  if (this == &other)
    return *this;
  close();
  db_ = std::move(other.db_);
  handles_ = std::exchange(other.handles_, {});
  return *this;
}

Database::~Database() {
  close();
}

void Database::close() {
  if (!db_)
    return;
  for (auto* handle : handles_)
    if (const auto status = db_->DestroyColumnFamilyHandle(handle); !status.ok())
      log::warning("a column family was not released", {{"reason", status.ToString()}});
  handles_.clear();
  if (const auto status = db_->Close(); !status.ok())
    log::warning("the database was not closed cleanly", {{"reason", status.ToString()}});
  db_.reset();
}

rocksdb::ColumnFamilyHandle* Database::handle(std::size_t index) const {
  return handles_[index];
}

rocksdb::ColumnFamilyHandle* Database::handle(Family family) const {
  return handles_[index_of(family)];
}

rocksdb::ColumnFamilyHandle* Database::handle(Table table) const {
  return handles_[index_of(table)];
}

rocksdb::DBOptions database_options(const Platform& platform, LogMode mode) {
  rocksdb::DBOptions options;
  options.env = env_of(platform);
  options.info_log = std::make_shared<ForwardingLogger>();
  options.paranoid_checks = true;
  options.db_host_id = "troupe";  // not the name of the user's machine, in every file
  options.max_open_files = -1;
  options.recycle_log_file_num = 0;
  options.max_total_wal_size = std::uint64_t{64} << 20;
  options.wal_recovery_mode = mode == LogMode::tolerate_tail
                                  ? rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords
                                  : rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  // All families reach their files together. So what is only in the log is the same for all of
  // them, and a missing part of the log shows as a hole in the events (see verify.hpp).
  options.atomic_flush = true;
  // An error ends the writing for good; RocksDB shall not try again behind our back.
  options.max_bgerror_resume_count = 0;
  return options;
}

std::vector<rocksdb::ColumnFamilyDescriptor> family_descriptors(const Platform& platform) {
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : family_names())
    families.emplace_back(name, family_options(platform, name == to_string(Table::results)));
  return families;
}

Result<Database> make_database(const fs::path& folder, const Platform& platform) {
  auto options = database_options(platform, LogMode::tolerate_tail);
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.error_if_exists = true;
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const auto status =
      rocksdb::DB::Open(options, folder.string(), family_descriptors(platform), &handles, &db);
  if (!status.ok())
    return rocks_error(status, folder.string());
  return Database(std::unique_ptr<rocksdb::DB>(db), std::move(handles));
}

Result<Database> open_database(const fs::path& folder, const Platform& platform, LogMode mode) {
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  auto options = database_options(platform, mode);
  // Not where we only read: RocksDB 7.8 asserts that such a database has nothing to clean up later.
  options.avoid_unnecessary_blocking_io = true;
  const auto status =
      rocksdb::DB::Open(options, folder.string(), family_descriptors(platform), &handles, &db);
  if (!status.ok())
    return rocks_error(status, folder.string());
  return Database(std::unique_ptr<rocksdb::DB>(db), std::move(handles));
}

Result<Database> open_read_only(const fs::path& folder, const Platform& platform, LogMode mode) {
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const auto status =
      rocksdb::DB::OpenForReadOnly(database_options(platform, mode), folder.string(),
                                   family_descriptors(platform), &handles, &db);
  if (!status.ok())
    return rocks_error(status, folder.string());
  return Database(std::unique_ptr<rocksdb::DB>(db), std::move(handles));
}

Result<Database> open_as_secondary(const fs::path& folder) {
  const Platform platform;
  // RocksDB wants a folder for its own log. We give it a logger, so that it never comes to be.
  std::error_code error;
  const fs::path unused = fs::temp_directory_path(error) / "troupe-reader";
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const auto status = rocksdb::DB::OpenAsSecondary(
      database_options(platform, LogMode::tolerate_tail), folder.string(), unused.string(),
      family_descriptors(platform), &handles, &db);
  if (!status.ok())
    return rocks_error(status, folder.string());
  return Database(std::unique_ptr<rocksdb::DB>(db), std::move(handles));
}

Status check_folder(const fs::path& folder, const Platform& platform) {
  std::error_code ignored;
  const std::string where = folder.string();
  if (!fs::exists(folder, ignored) || looks_empty(folder))
    return Error(ErrorCode::not_found, where + ": there is no store");
  if (!fs::exists(folder / "CURRENT", ignored)) {
    const bool ours =
        fs::exists(folder / "LOCK", ignored) || fs::exists(folder / "IDENTITY", ignored);
    if (ours)
      return Error(ErrorCode::corrupt, where +
                                           ": the file CURRENT of the database is missing. Nothing "
                                           "was changed. Run `troupe doctor` on the experiment");
    return Error(ErrorCode::failed_precondition,
                 where +
                     ": the folder holds files that are not a store of Troupe. Choose another "
                     "storage path or name, or move them away");
  }
  std::vector<std::string> found;
  rocksdb::DBOptions options = database_options(platform, LogMode::tolerate_tail);
  const auto status = rocksdb::DB::ListColumnFamilies(options, where, &found);
  if (!status.ok())
    return rocks_error(status, where);
  const auto& known = family_names();
  const auto in = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const std::string& name : known)
    if (!in(found, name))
      return Error(ErrorCode::failed_precondition,
                   where + ": a RocksDB database without the column family \"" + name +
                       "\": not a store of Troupe, or only a part of one");
  for (const std::string& name : found)
    if (!in(known, name))
      return Error(ErrorCode::version_mismatch,
                   where + ": the store has a column family \"" + name + "\" that this Troupe (" +
                       std::string(version_string) +
                       ") does not know: use the newer Troupe that wrote it");
  return ok();
}

Result<FolderLock> FolderLock::acquire(const fs::path& folder, const Platform& platform) {
  rocksdb::Env* env = env_of(platform);
  const fs::path file = folder / "LOCK";
  rocksdb::FileLock* lock = nullptr;
  const auto status = env->LockFile(file.string(), &lock);
  if (status.ok())
    return FolderLock(env, lock);
  return lock_error(status, file);
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : env_(other.env_), lock_(std::exchange(other.lock_, nullptr)) {}

void FolderLock::release() {
  if (auto* lock = std::exchange(lock_, nullptr))
    if (const auto status = env_->UnlockFile(lock); !status.ok())
      log::warning("a store was not unlocked", {{"reason", status.ToString()}});
}

Error rocks_error(const rocksdb::Status& status, const std::string& where) {
  ErrorCode code = ErrorCode::io;
  if (status.IsCorruption())
    code = ErrorCode::corrupt;
  if (status.IsNoSpace())
    code = ErrorCode::resource_exhausted;
  if (status.IsInvalidArgument() || status.IsNotSupported())
    code = ErrorCode::failed_precondition;
  if (status.IsAborted() || status.IsTimedOut() || status.IsBusy())
    code = ErrorCode::unavailable;
  std::string text = where + ": " + status.ToString();
  if (status.IsNoSpace())
    text += remedy_no_space;
  return Error(code, std::move(text));
}

}  // namespace troupe::detail
