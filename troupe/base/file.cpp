#include <troupe/base/fault_point.hpp>
#include <troupe/base/file.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe {
namespace {

std::filesystem::path folder_of(const std::filesystem::path& path) {
  const auto parent = path.parent_path();
  return parent.empty() ? std::filesystem::path(".") : parent;
}

// Unique among threads (number), processes (pid) and, with O_EXCL, pid namespaces that share a
// disk.
std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  static std::atomic<std::uint64_t> number{0};
  std::string name = "." + path.filename().string().substr(0, 200) + "." +
                     std::to_string(::getpid()) + "." + std::to_string(number.fetch_add(1)) +
                     ".tmp";
  return folder_of(path) / name;
}

Result<std::pair<FileDescriptor, std::filesystem::path>> create_temporary(
    const std::filesystem::path& path, mode_t mode) {
  for (int tries = 0; tries < 100; ++tries) {
    auto temporary = temporary_beside(path);
    auto fd = open_file(temporary, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (fd)
      return std::pair(fd.take(), std::move(temporary));
    if (fd.error().code() != ErrorCode::already_exists)
      return std::move(fd).error();
  }
  return Error(ErrorCode::already_exists, "no free name for a temporary file beside " +
                                              path.string() +
                                              "; remove the files ending in .tmp there");
}

Status fill_and_rename(FileDescriptor file, const std::filesystem::path& temporary,
                       const std::filesystem::path& path, std::string_view bytes) {
  TROUPE_FAULT_POINT("file.write_atomically.before_write");
  TROUPE_RETURN_IF_ERROR(write_all(file.get(), bytes, temporary.string()));
  TROUPE_FAULT_POINT("file.write_atomically.before_sync");
  TROUPE_RETURN_IF_ERROR(fsync_file(file.get(), temporary.string()));
  TROUPE_RETURN_IF_ERROR(file.close(temporary.string()));
  TROUPE_FAULT_POINT("file.write_atomically.before_rename");
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return errno_error(errno, "rename " + temporary.string() + " to " + path.string());
  return ok();
}

}  // namespace

void FileDescriptor::reset(int fd) noexcept {
  // After EINTR Linux has closed the descriptor: a second close could hit somebody else's.
  if (fd_ >= 0)
    ::close(fd_);
  fd_ = fd;
}

Status FileDescriptor::close(std::string_view what) {
  const int fd = release();
  if (fd >= 0 && ::close(fd) != 0 && errno != EINTR)
    return errno_error(errno, "close " + std::string(what));
  return ok();
}

Result<FileDescriptor> open_file(const std::filesystem::path& path, int flags, mode_t mode) {
  for (;;) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    if (fd >= 0)
      return FileDescriptor(fd);
    if (errno != EINTR)
      return errno_error(errno, "open " + path.string());
  }
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  TROUPE_TRY(file, open_file(path, O_RDONLY));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0)
    return errno_error(errno, "stat " + path.string());
  if (S_ISDIR(info.st_mode))
    return Error(ErrorCode::invalid_argument, path.string() + " is a folder, not a file");
  const auto too_long = [&](std::string size) {
    return Error(ErrorCode::resource_exhausted, path.string() + " has " + size +
                                                    " bytes; at most " + std::to_string(max_bytes) +
                                                    " are read here");
  };
  const auto size = static_cast<std::uint64_t>(std::max<off_t>(info.st_size, 0));
  if (size > max_bytes)
    return too_long(std::to_string(size));
  // The size is a hint: files of /proc say 0, and a file may grow while it is read.
  std::string bytes;
  for (;;) {
    const std::size_t want = std::min<std::size_t>(
        std::max<std::size_t>(size + 1 - std::min<std::size_t>(bytes.size(), size), 4096),
        max_bytes + 1 - bytes.size());
    TROUPE_TRY(part, read_up_to(file.get(), want, path.string()));
    bytes += part;
    if (bytes.size() > max_bytes)
      return too_long("more than " + std::to_string(max_bytes));
    if (part.size() < want)
      return bytes;
  }
}

Status write_all(int fd, std::string_view bytes, std::string_view what) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR)
        continue;
      return errno_error(errno, "write " + std::string(what));
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return ok();
}

Result<std::string> read_up_to(int fd, std::size_t size, std::string_view what) {
  std::string bytes(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t n = ::read(fd, bytes.data() + filled, size - filled);
    if (n < 0) {
      if (errno == EINTR)
        continue;
      return errno_error(errno, "read " + std::string(what));
    }
    if (n == 0)
      break;
    filled += static_cast<std::size_t>(n);
  }
  bytes.resize(filled);
  return bytes;
}

Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                             mode_t mode) {
  if (path.filename().empty())
    return Error(ErrorCode::invalid_argument, "'" + path.string() + "' names no file");
  TROUPE_TRY(made, create_temporary(path, mode));
  auto& [file, temporary] = made;
  Status written = fill_and_rename(std::move(file), temporary, path, bytes);
  if (!written) {
    ::unlink(temporary.c_str());
    return std::move(written).with_context("write " + path.string());
  }
  TROUPE_FAULT_POINT("file.write_atomically.before_directory_sync");
  return fsync_directory(folder_of(path));
}

Status fsync_file(int fd, std::string_view what) {
  while (::fsync(fd) != 0)
    if (errno != EINTR)
      return errno_error(errno, "fsync " + std::string(what));
  return ok();
}

Status fsync_directory(const std::filesystem::path& path) {
  TROUPE_TRY(folder, open_file(path, O_RDONLY | O_DIRECTORY));
  return fsync_file(folder.get(), path.string());
}

Status CreateDirectories::operator()(const std::filesystem::path& path) const {
  if (path.empty())
    return ok();
  if (::mkdir(path.c_str(), 0755) == 0)
    return fsync_directory(folder_of(path));
  if (errno == ENOENT && path.has_parent_path() && path.parent_path() != path) {
    TROUPE_RETURN_IF_ERROR(create_directories(path.parent_path()));
    if (path.filename().empty())
      return ok();  // "a/b/": the parent was the folder
    if (::mkdir(path.c_str(), 0755) == 0)
      return fsync_directory(folder_of(path));
  }
  const int err = errno;
  struct stat info {};
  if (err == EEXIST && ::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return ok();
    return Error(ErrorCode::already_exists,
                 path.string() + " is a file; a folder of that name is needed");
  }
  return errno_error(err, "create folder " + path.string());
}

Result<bool> remove_file(const std::filesystem::path& path) {
  if (::unlink(path.c_str()) == 0)
    return true;
  if (errno == ENOENT)
    return false;
  return errno_error(errno, "remove " + path.string());
}

}  // namespace troupe
