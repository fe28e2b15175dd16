#pragma once

#include <troupe/base/result.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

/// Small file operations that are complete: bounded reads, writes that survive a crash, errors that
/// name the path and the reason. All are safe from any thread and block for as long as the disk.
namespace troupe {

/// Owns a file descriptor and closes it. Move only.
class FileDescriptor {
public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other)
      reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~FileDescriptor() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }
  explicit operator bool() const noexcept { return valid(); }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
  /// Closes what is held and takes `fd`. An error of close is lost; use `close` where it matters.
  void reset(int fd = -1) noexcept;
  /// Closes and reports what the kernel says (late write errors of network file systems).
  Status close(std::string_view what);

private:
  int fd_ = -1;
};

/// open(2) with O_CLOEXEC added and EINTR retried.
Result<FileDescriptor> open_file(const std::filesystem::path& path, int flags, mode_t mode = 0644);

/// The whole file. resource_exhausted when it is longer than `max_bytes`; nothing is read then.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes);

/// Writes all of `bytes`, going on after short writes and EINTR. `what` names it in the error.
Status write_all(int fd, std::string_view bytes, std::string_view what);
/// Reads until `size` bytes or the end of the file; returns what was read.
Result<std::string> read_up_to(int fd, std::size_t size, std::string_view what);

/// Replaces `path` by `bytes` so that a reader, or a restart after a crash or power loss, sees
/// either all of the old or all of the new. A temporary file in the same folder is written, synced
/// and renamed, then the folder is synced. On failure the old file is untouched and the temporary
/// one is removed. Fault points: file.write_atomically.{before_write,before_sync,before_rename,
/// before_directory_sync}.
Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                             mode_t mode = 0644);

/// fsync of a file or folder, so that its entries survive power loss.
Status fsync_file(int fd, std::string_view what);
Status fsync_directory(const std::filesystem::path& path);

/// mkdir -p, with each new folder synced into its parent. Existing folders are fine; a file of that
/// name is an error.
struct CreateDirectories {
  Status operator()(const std::filesystem::path& path) const;
};
/// An object and not a function, so that a call without namespace does not also find the one of
/// std::filesystem.
inline constexpr CreateDirectories create_directories{};

/// Removes one file. Returns false when there was none.
Result<bool> remove_file(const std::filesystem::path& path);

}  // namespace troupe
