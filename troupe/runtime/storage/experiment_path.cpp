#include <troupe/base/detail/json_text.hpp>
#include <troupe/base/file.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/runtime/storage/experiment_path.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include <errno.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace troupe {

namespace fs = std::filesystem;

namespace {

Result<fs::path> home_directory() {
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path(home);
  std::array<char, 4096> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
      found != nullptr && found->pw_dir != nullptr && *found->pw_dir != '\0') {
    return fs::path(found->pw_dir);
  }
  return Error(ErrorCode::failed_precondition,
               "no place for results: this user has no home directory. Set storage_path or the "
               "environment variable TROUPE_STORAGE_PATH");
}

Status check_storage_path(const fs::path& path) {
  const std::string text = path.string();
  if (text.find('\0') != std::string::npos)
    return Error(ErrorCode::invalid_argument, "the storage path contains a zero byte");
  const size_t scheme = text.find("://");
  if (scheme != std::string::npos && text.find('/') == scheme + 1) {
    return Error(ErrorCode::invalid_argument,
                 "the storage path '" + detail::printable(text) +
                     "' is a URL; it must be a folder on this machine");
  }
  return ok();
}

struct KnownFileSystem {
  uint32_t magic;
  std::string_view name;
  FileSystemInfo::Kind kind;
};

// Magic numbers of statfs(2); not all of them are in linux/magic.h.
constexpr std::array known_file_systems{
    KnownFileSystem{0xEF53, "ext4", FileSystemInfo::Kind::local},
    KnownFileSystem{0x58465342, "xfs", FileSystemInfo::Kind::local},
    KnownFileSystem{0x9123683E, "btrfs", FileSystemInfo::Kind::local},
    KnownFileSystem{0x2FC12FC1, "zfs", FileSystemInfo::Kind::local},
    KnownFileSystem{0xF2F52010, "f2fs", FileSystemInfo::Kind::local},
    KnownFileSystem{0x01021994, "tmpfs", FileSystemInfo::Kind::memory},
    KnownFileSystem{0x858458F6, "ramfs", FileSystemInfo::Kind::memory},
    KnownFileSystem{0x794C7630, "overlayfs", FileSystemInfo::Kind::overlay},
    KnownFileSystem{0x61756673, "aufs", FileSystemInfo::Kind::overlay},
    KnownFileSystem{0x6969, "nfs", FileSystemInfo::Kind::network},
    KnownFileSystem{0xFF534D42, "cifs", FileSystemInfo::Kind::network},
    KnownFileSystem{0xFE534D42, "smb2", FileSystemInfo::Kind::network},
    KnownFileSystem{0x517B, "smb", FileSystemInfo::Kind::network},
    KnownFileSystem{0x65735546, "fuse", FileSystemInfo::Kind::foreign},
    KnownFileSystem{0x00C36400, "ceph", FileSystemInfo::Kind::network},
    KnownFileSystem{0x0BD00BD0, "lustre", FileSystemInfo::Kind::network},
    KnownFileSystem{0x47504653, "gpfs", FileSystemInfo::Kind::network},
    KnownFileSystem{0x19830326, "beegfs", FileSystemInfo::Kind::network},
    KnownFileSystem{0x01021997, "9p", FileSystemInfo::Kind::foreign},
    KnownFileSystem{0x5346414F, "afs", FileSystemInfo::Kind::network},
    KnownFileSystem{0x73757245, "coda", FileSystemInfo::Kind::network},
};

fs::path existing_ancestor(fs::path path) {
  std::error_code error;
  path = fs::absolute(path, error).lexically_normal();
  while (path.has_relative_path() && !fs::exists(path, error))
    path = path.parent_path();
  return path.empty() ? fs::path("/") : path;
}

std::string gib(uint64_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f GiB", static_cast<double>(bytes) / (1 << 30));
  return text.data();
}

}  // namespace

Result<fs::path> default_storage_path() {
  if (const char* path = std::getenv("TROUPE_STORAGE_PATH"); path != nullptr && *path != '\0')
    return fs::path(path);
  TROUPE_TRY(home, home_directory());
  return home / "troupe_results";
}

Status check_folder_name(std::string_view name, std::string_view what) {
  std::string reason;
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (name.empty()) {
    reason = "is empty";
  } else if (name.size() > limits::max_name_bytes) {
    reason = "has " + std::to_string(name.size()) + " bytes, the limit is " +
             std::to_string(limits::max_name_bytes);
  } else if (name.find('/') != std::string_view::npos) {
    reason = "contains a slash; to choose where results go, set storage_path";
  } else if (std::any_of(name.begin(), name.end(), control)) {
    reason = "contains a control character";
  } else if (name.front() == '.' || name.front() == ' ' || name.back() == ' ') {
    reason = "begins with a dot or blank, or ends with a blank";
  } else if (!detail::is_valid_utf8(name)) {
    reason = "is not valid UTF-8";
  } else {
    return ok();
  }
  return Error(ErrorCode::invalid_argument, "the " + std::string(what) + " '" +
                                                detail::printable(name, 80) + "' " + reason +
                                                ". It becomes the name of a folder");
}

Result<fs::path> experiment_directory(const fs::path& storage_path, std::string_view name) {
  TROUPE_RETURN_IF_ERROR(check_folder_name(name, "experiment name"));
  fs::path base = storage_path;
  if (base.empty()) {
    TROUPE_TRY(found, default_storage_path());
    base = std::move(found);
  }
  TROUPE_RETURN_IF_ERROR(check_storage_path(base));
  if (*base.begin() == "~") {
    TROUPE_TRY(home, home_directory());
    base = home / base.lexically_relative("~");
  }
  std::error_code error;
  const fs::path absolute = fs::absolute(base, error);
  if (error)
    return errno_error(error.value(), "cannot find the storage path " + base.string());
  return (absolute / name).lexically_normal();
}

Status create_experiment_directory(const fs::path& experiment_dir) {
  TROUPE_RETURN_IF_ERROR(check_folder_name(experiment_dir.filename().string(), "experiment name"));
  return create_directories(experiment_dir)
      .with_context("cannot make the folder of the experiment");
}

Result<fs::path> create_trial_directory(const fs::path& experiment_dir,
                                        std::string_view trial_dir_name) {
  TROUPE_RETURN_IF_ERROR(check_folder_name(trial_dir_name, "name of a trial's folder"));
  fs::path path = experiment_dir / trial_dir_name;
  TROUPE_RETURN_IF_ERROR(
      create_directories(path).with_context("cannot make the folder of a trial"));
  return path;
}

Status make_trial_folder(const fs::path& trial_dir) {
  if (::mkdir(trial_dir.c_str(), 0755) == 0 || errno == EEXIST)
    return ok();
  return errno_error(errno, "cannot make the trial folder " + trial_dir.string());
}

Result<FileSystemInfo> inspect_file_system(const fs::path& path) {
  const fs::path place = existing_ancestor(path);
  struct statfs raw {};
  int result = 0;
  do {
    result = ::statfs(place.c_str(), &raw);
  } while (result != 0 && errno == EINTR);
  if (result != 0)
    return errno_error(errno, "cannot look at the file system of " + place.string());
  FileSystemInfo info;
  const auto block = static_cast<uint64_t>(raw.f_bsize);
  info.free_bytes = static_cast<uint64_t>(raw.f_bavail) * block;
  info.total_bytes = static_cast<uint64_t>(raw.f_blocks) * block;
  const auto magic = static_cast<uint32_t>(raw.f_type);
  const auto known = std::find_if(known_file_systems.begin(), known_file_systems.end(),
                                  [&](const auto& entry) { return entry.magic == magic; });
  if (known != known_file_systems.end()) {
    info.kind = known->kind;
    info.name = known->name;
  } else {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "0x%x", magic);
    info.name = text.data();
  }
  return info;
}

Result<std::optional<std::string>> check_store_location(const fs::path& path) {
  constexpr uint64_t little_space = uint64_t{256} << 20;
  TROUPE_TRY(info, inspect_file_system(path));
  std::optional<std::string> warning;
  switch (info.kind) {
    case FileSystemInfo::Kind::network:
      return Error(ErrorCode::failed_precondition,
                   path.string() + " lies on a network file system (" + info.name +
                       "), where a journal loses records. Choose a storage_path on a local disk");
    case FileSystemInfo::Kind::memory:
      warning = path.string() + " lies in memory (" + info.name +
                "): results do not survive a restart of this machine";
      break;
    case FileSystemInfo::Kind::foreign:
      warning = path.string() + " lies on a file system that some program serves (" + info.name +
                "): if it is a remote one, the journal may lose records";
      break;
    case FileSystemInfo::Kind::overlay:
      warning = path.string() + " lies in the layer of a container (" + info.name +
                "): results vanish with it. Mount a volume there to keep them";
      break;
    case FileSystemInfo::Kind::local:
      break;
  }
  if (info.free_bytes < little_space) {
    warning = (warning ? *warning + "; " : std::string()) + "only " + gib(info.free_bytes) +
              " are free at " + path.string();
  }
  return warning;
}

}  // namespace troupe
