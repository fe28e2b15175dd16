#pragma once

#include <troupe/base/random.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

/// A file system under RocksDB that remembers what was synced, forgets the rest when the power
/// goes, and fails on request. Nothing reaches the disk's own cache: a sync is only noted.
namespace troupe::testing {

class FaultyFileSystem;

/// What the file system remembers and what it shall do. Safe from any thread.
class DiskState {
public:
  /// From now on every write, sync and creation fails.
  void cut_power();
  /// The n-th sync of a log from now fails with EIO, once; 0: none.
  void fail_log_sync(std::uint64_t n);
  /// The n-th write from now and all later ones find the disk full; 0: none.
  void fill_disk(std::uint64_t n);
  [[nodiscard]] std::uint64_t log_syncs();

  /// After the power was cut and everything is closed: makes the files what the disk has. A file
  /// keeps its synced part and a random piece of the rest, in which one page may not have been
  /// written (`torn_pages`); a file whose folder was not synced since it was made may be gone.
  void forget_unsynced(Random& random, bool torn_pages);

private:
  friend class FaultyFile;
  friend class FaultyDirectory;
  friend class FaultyFileSystem;
  struct File {
    std::uint64_t size = 0;
    std::uint64_t synced = 0;
    bool linked = false;  ///< its folder was synced since
  };

  rocksdb::IOStatus before_write();
  rocksdb::IOStatus before_sync(const std::string& name);
  rocksdb::IOStatus check_power();

  std::mutex mutex_;
  std::map<std::string, File> files_;
  bool power_ = true;
  std::uint64_t log_syncs_ = 0;
  std::uint64_t failing_log_sync_ = 0;
  std::uint64_t writes_until_full_ = 0;
};

/// An Env on such a file system. Outlives the databases on it.
class FaultyEnv {
public:
  FaultyEnv();
  [[nodiscard]] DiskState& disk() { return disk_; }
  [[nodiscard]] rocksdb::Env* env() { return env_.get(); }
  /// One without faults, for opening what was damaged: its syncs cost nothing.
  [[nodiscard]] static FaultyEnv& sane();

private:
  DiskState disk_;
  std::shared_ptr<rocksdb::FileSystem> file_system_;
  std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace troupe::testing
