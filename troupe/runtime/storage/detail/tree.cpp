#include <troupe/base/detail/json_text.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/runtime/storage/detail/manifest.hpp>
#include <troupe/runtime/storage/detail/tree.hpp>

#include <algorithm>

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe::detail {

namespace fs = std::filesystem;

namespace {

std::string_view kind_name(fs::file_type type) {
  switch (type) {
    case fs::file_type::symlink:
      return "a symbolic link";
    case fs::file_type::socket:
      return "a socket";
    case fs::file_type::fifo:
      return "a named pipe";
    case fs::file_type::block:
    case fs::file_type::character:
      return "a device";
    default:
      return "not a regular file";
  }
}

Error system_error(const std::error_code& error, const std::string& what) {
  return errno_error(error.value(), what);
}

Status list_into(const fs::path& root, const std::string& prefix, Tree& tree) {
  std::error_code error;
  const fs::path folder = prefix.empty() ? root : root / prefix;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = prefix.empty() ? it->path().filename().string()
                                            : prefix + '/' + it->path().filename().string();
    const fs::file_type type = it->symlink_status(error).type();
    if (error)
      break;
    const bool folder_entry = type == fs::file_type::directory;
    if (!folder_entry && type != fs::file_type::regular) {
      return Error(ErrorCode::invalid_argument, "a checkpoint holds files and folders only, but '" +
                                                    printable(name) + "' is " +
                                                    std::string(kind_name(type)));
    }
    if (!is_safe_name(name)) {
      return Error(ErrorCode::invalid_argument,
                   "a checkpoint cannot hold a file named '" + printable(name) +
                       "': names are UTF-8, at most 4096 bytes and 64 folders deep");
    }
    (folder_entry ? tree.directories : tree.files).push_back(name);
    if (folder_entry)
      TROUPE_RETURN_IF_ERROR(list_into(root, name, tree));
  }
  if (error)
    return system_error(error, "cannot list " + folder.string());
  return ok();
}

Status copy_by_hand(int from, int to, const std::string& what) {
  for (;;) {
    TROUPE_TRY(bytes, read_up_to(from, limits::mib, what));
    if (bytes.empty())
      return ok();
    TROUPE_RETURN_IF_ERROR(write_all(to, bytes, what));
  }
}

Status copy_contents(int from, int to, const std::string& what) {
  if (::ioctl(to, FICLONE, from) == 0)
    return ok();
  for (;;) {
    const ssize_t copied = ::copy_file_range(from, nullptr, to, nullptr, size_t{1} << 30, 0);
    if (copied == 0)
      break;
    if (copied < 0 && errno != EINTR) {
      if (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)
        break;
      return errno_error(errno, "cannot copy " + what);
    }
  }
  // From where the kernel stopped: the end, unless it could not; some file systems say 0 for that.
  return copy_by_hand(from, to, what);
}

}  // namespace

Result<Tree> list_tree(const fs::path& root) {
  Tree tree;
  TROUPE_RETURN_IF_ERROR(list_into(root, "", tree));
  std::sort(tree.files.begin(), tree.files.end());
  std::sort(tree.directories.begin(), tree.directories.end());
  return tree;
}

Status copy_tree(const Tree& tree, const fs::path& source, const fs::path& target) {
  for (const std::string& name : tree.directories) {
    if (::mkdir((target / name).c_str(), 0755) != 0)
      return errno_error(errno, "cannot make the folder " + (target / name).string());
  }
  for (const std::string& name : tree.files) {
    // O_NONBLOCK: should it have become a pipe meanwhile.
    TROUPE_TRY(from, open_file(source / name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    struct stat info {};
    if (::fstat(from.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
      return Error(ErrorCode::invalid_argument,
                   (source / name).string() + " changed while it was copied");
    }
    TROUPE_TRY(to, open_file(target / name, O_WRONLY | O_CREAT | O_EXCL,
                             (info.st_mode & 0777) | S_IRUSR | S_IWUSR));
    TROUPE_RETURN_IF_ERROR(copy_contents(from.get(), to.get(), (source / name).string()));
    TROUPE_RETURN_IF_ERROR(to.close((target / name).string()));
  }
  return ok();
}

FileDescriptor open_below(int directory, std::string_view name, int flags, int& error) {
  FileDescriptor parent;
  while (true) {
    const size_t slash = name.find('/');
    const bool last = slash == std::string_view::npos;
    const std::string part(name.substr(0, slash));
    const int at = parent ? parent.get() : directory;
    const int part_flags = last ? flags : O_RDONLY | O_DIRECTORY;
    FileDescriptor opened(::openat(at, part.c_str(), part_flags | O_NOFOLLOW | O_CLOEXEC));
    error = opened ? 0 : errno;
    if (last || !opened)
      return opened;
    parent = std::move(opened);
    name.remove_prefix(slash + 1);
  }
}

Status remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error)
    return system_error(error, "cannot remove " + path.string());
  return ok();
}

}  // namespace troupe::detail
