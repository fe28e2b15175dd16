#pragma once

#include <troupe/runtime/store/journal.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>

/// How the store uses RocksDB: column families, options, ways to open, errors.
namespace troupe::detail {

/// The column families, in the order of the handles. The tables follow in the order of `Table`.
enum class Family : std::size_t { meta = 0, events = 1, first_table = 2 };
inline constexpr std::size_t family_count = 2 + table_count;

[[nodiscard]] std::size_t index_of(Family family);
[[nodiscard]] std::size_t index_of(Table table);
[[nodiscard]] const std::vector<std::string>& family_names();

/// What the database stands on. Tests put a file system that fails under it, and make it flush
/// often.
struct Platform {
  rocksdb::Env* env = nullptr;  ///< null: the system's. Outlives every database opened on it.
  /// Small buffers make a short log, and the length of the log is the time a restart takes.
  std::size_t write_buffer_bytes = std::size_t{16} << 20;
};

/// How the log is read at opening. See recovery.hpp.
enum class LogMode : std::uint8_t { tolerate_tail, point_in_time };

/// An open database with its handles; closes both in the right order. Move only.
class Database {
public:
  Database() = default;
  Database(std::unique_ptr<rocksdb::DB> db, std::vector<rocksdb::ColumnFamilyHandle*> handles);
  Database(Database&& other) noexcept = default;
  Database& operator=(Database&& other) noexcept;
  ~Database();

  [[nodiscard]] explicit operator bool() const { return db_ != nullptr; }
  [[nodiscard]] rocksdb::DB& db() const { return *db_; }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* handle(std::size_t index) const;
  [[nodiscard]] rocksdb::ColumnFamilyHandle* handle(Family family) const;
  [[nodiscard]] rocksdb::ColumnFamilyHandle* handle(Table table) const;

private:
  void close();

  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

[[nodiscard]] rocksdb::DBOptions database_options(const Platform& platform, LogMode mode);
[[nodiscard]] std::vector<rocksdb::ColumnFamilyDescriptor> family_descriptors(
    const Platform& platform);

/// The four ways to open. None makes a database where there is none, except `make_database`.
Result<Database> make_database(const std::filesystem::path& folder, const Platform& platform);
Result<Database> open_database(const std::filesystem::path& folder, const Platform& platform,
                               LogMode mode);
/// Reads the log into memory and writes nothing. While a writer runs, what is seen may not fit
/// together: see verify.hpp.
Result<Database> open_read_only(const std::filesystem::path& folder, const Platform& platform,
                                LogMode mode);
/// Follows the writer of the folder, and writes nothing anywhere.
Result<Database> open_as_secondary(const std::filesystem::path& folder);

/// Refuses a folder that is not a store, or one with column families of a newer Troupe. Reads only.
Status check_folder(const std::filesystem::path& folder, const Platform& platform);

/// The lock of a database folder, held until destroyed. Errors: unavailable when somebody has it,
/// naming the owner; what the operating system says when it can not be asked for.
class FolderLock {
public:
  static Result<FolderLock> acquire(const std::filesystem::path& folder, const Platform& platform);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock() { release(); }
  void release();

private:
  FolderLock(rocksdb::Env* env, rocksdb::FileLock* lock) : env_(env), lock_(lock) {}
  rocksdb::Env* env_;
  rocksdb::FileLock* lock_;
};

/// What a message about a full disk ends with.
inline constexpr std::string_view remedy_no_space =
    ". Free some space and open the experiment again";

/// "<where>: <what RocksDB says>" under the code that fits.
[[nodiscard]] Error rocks_error(const rocksdb::Status& status, const std::string& where);

}  // namespace troupe::detail
