#include "tests/support/faulty_file_system.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

namespace troupe::testing {

namespace fs = std::filesystem;
using namespace rocksdb;

namespace {

constexpr std::uint64_t page = 4096;

bool is_log(const std::string& name) {
  return name.ends_with(".log");
}

void zero_page(const std::string& name, std::uint64_t at) {
  std::fstream file(name, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at));
  const std::string zeros(page, '\0');
  file.write(zeros.data(), static_cast<std::streamsize>(zeros.size()));
}

}  // namespace

class FaultyFile final : public FSWritableFileOwnerWrapper {
public:
  FaultyFile(std::unique_ptr<FSWritableFile>&& file, DiskState& disk, std::string name)
      : FSWritableFileOwnerWrapper(std::move(file)), disk_(disk), name_(std::move(name)) {
    const std::lock_guard lock(disk_.mutex_);
    disk_.files_[name_] = {};
  }
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    if (auto status = disk_.before_write(); !status.ok())
      return status;
    auto status = FSWritableFileOwnerWrapper::Append(data, options, debug);
    const std::lock_guard lock(disk_.mutex_);
    if (status.ok())
      disk_.files_[name_].size += data.size();
    return status;
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return note_sync(); }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return note_sync(); }
  IOStatus RangeSync(std::uint64_t, std::uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }

private:
  IOStatus note_sync() {
    std::uint64_t size = 0;
    {
      const std::lock_guard lock(disk_.mutex_);
      size = disk_.files_[name_].size;
    }
    if (auto status = disk_.before_sync(name_); !status.ok())
      return status;
    const std::lock_guard lock(disk_.mutex_);
    disk_.files_[name_].synced = size;
    return IOStatus::OK();
  }

  DiskState& disk_;
  std::string name_;
};

class FaultyDirectory final : public FSDirectoryWrapper {
public:
  FaultyDirectory(std::unique_ptr<FSDirectory>&& directory, DiskState& disk, std::string name)
      : FSDirectoryWrapper(std::move(directory)), disk_(disk), name_(std::move(name)) {}
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return note_sync(); }
  IOStatus FsyncWithDirOptions(const IOOptions&, IODebugContext*, const DirFsyncOptions&) override {
    return note_sync();
  }

private:
  IOStatus note_sync() {
    if (auto status = disk_.check_power(); !status.ok())
      return status;
    const std::lock_guard lock(disk_.mutex_);
    for (auto& [name, file] : disk_.files_)
      if (fs::path(name).parent_path() == fs::path(name_))
        file.linked = true;
    return IOStatus::OK();
  }

  DiskState& disk_;
  std::string name_;
};

class FaultyFileSystem final : public FileSystemWrapper {
public:
  FaultyFileSystem(const std::shared_ptr<FileSystem>& base, DiskState& disk)
      : FileSystemWrapper(base), disk_(disk) {}
  const char* Name() const override { return "FaultyFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result,
                           IODebugContext* debug) override {
    if (auto status = disk_.check_power(); !status.ok())
      return status;
    std::unique_ptr<FSWritableFile> file;
    auto status = FileSystemWrapper::NewWritableFile(name, options, &file, debug);
    if (status.ok())
      *result = std::make_unique<FaultyFile>(std::move(file), disk_, name);
    return status;
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* result, IODebugContext* debug) override {
    std::unique_ptr<FSDirectory> directory;
    auto status = FileSystemWrapper::NewDirectory(name, options, &directory, debug);
    if (status.ok())
      *result = std::make_unique<FaultyDirectory>(std::move(directory), disk_, name);
    return status;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    if (auto status = disk_.check_power(); !status.ok())
      return status;
    auto status = FileSystemWrapper::RenameFile(from, to, options, debug);
    const std::lock_guard lock(disk_.mutex_);
    if (const auto found = disk_.files_.find(from); status.ok() && found != disk_.files_.end()) {
      disk_.files_[to] = found->second;
      disk_.files_.erase(found);
    }
    return status;
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions& options,
                      IODebugContext* debug) override {
    if (auto status = disk_.check_power(); !status.ok())
      return status;
    auto status = FileSystemWrapper::DeleteFile(name, options, debug);
    const std::lock_guard lock(disk_.mutex_);
    if (status.ok())
      disk_.files_.erase(name);
    return status;
  }

private:
  DiskState& disk_;
};

// -- DiskState ----------------------------------------------------------------------------------

void DiskState::cut_power() {
  const std::lock_guard lock(mutex_);
  power_ = false;
}

void DiskState::fail_log_sync(std::uint64_t n) {
  const std::lock_guard lock(mutex_);
  failing_log_sync_ = n == 0 ? 0 : log_syncs_ + n;
}

void DiskState::fill_disk(std::uint64_t n) {
  const std::lock_guard lock(mutex_);
  writes_until_full_ = n;
}

std::uint64_t DiskState::log_syncs() {
  const std::lock_guard lock(mutex_);
  return log_syncs_;
}

IOStatus DiskState::check_power() {
  const std::lock_guard lock(mutex_);
  return power_ ? IOStatus::OK() : IOStatus::IOError("the power is out");
}

IOStatus DiskState::before_write() {
  const std::lock_guard lock(mutex_);
  if (!power_)
    return IOStatus::IOError("the power is out");
  if (writes_until_full_ == 0)
    return IOStatus::OK();
  if (writes_until_full_ > 1) {
    --writes_until_full_;
    return IOStatus::OK();
  }
  return IOStatus::NoSpace("injected: no space left on device");
}

IOStatus DiskState::before_sync(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (!power_)
    return IOStatus::IOError("the power is out");
  if (is_log(name) && ++log_syncs_ == failing_log_sync_)
    return IOStatus::IOError("injected: fsync failed");
  return IOStatus::OK();
}

void DiskState::forget_unsynced(Random& random, bool torn_pages) {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, file] : files_) {
    if (!fs::exists(name))
      continue;
    if (!file.linked && file.synced == 0 && random.chance(0.5)) {
      fs::remove(name);
      continue;
    }
    const std::uint64_t size = fs::file_size(name);
    if (size <= file.synced)
      continue;
    const std::uint64_t kept = file.synced + random.below(size - file.synced + 1);
    fs::resize_file(name, kept);
    const std::uint64_t first_page = (file.synced + page - 1) / page;
    const std::uint64_t end_page = kept / page;
    if (torn_pages && end_page > first_page)
      zero_page(name, (first_page + random.below(end_page - first_page)) * page);
  }
}

// -- FaultyEnv ----------------------------------------------------------------------------------

FaultyEnv::FaultyEnv()
    : file_system_(std::make_shared<FaultyFileSystem>(FileSystem::Default(), disk_)),
      env_(NewCompositeEnv(file_system_)) {}

FaultyEnv& FaultyEnv::sane() {
  static FaultyEnv env;
  return env;
}

}  // namespace troupe::testing
