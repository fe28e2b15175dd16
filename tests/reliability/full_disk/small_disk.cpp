#include "tests/reliability/full_disk/small_disk.hpp"

#include <troupe/base/file.hpp>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace troupe::testing {

namespace {

void write_text(const std::string& path, const std::string& text) {
  const auto file = open_file(path, O_WRONLY).value_or_throw();
  write_all(file.get(), text, path).value_or_throw();
}

/// Without root: in a namespace where this user may mount.
bool become_mounter() {
  const std::string uid = std::to_string(::getuid());
  const std::string gid = std::to_string(::getgid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
    return false;
  write_text("/proc/self/setgroups", "deny");
  write_text("/proc/self/uid_map", uid + ' ' + uid + " 1");
  write_text("/proc/self/gid_map", gid + ' ' + gid + " 1");
  return true;
}

}  // namespace

std::string allow_mounts() {
  if (::unshare(CLONE_NEWNS) != 0 && !become_mounter())
    return std::string("mounting needs root or user namespaces: ") + std::strerror(errno);
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return std::string("mounts cannot be kept to this process: ") + std::strerror(errno);
  const ScratchFolder probe("mount");
  if (::mount("troupe_test", probe.path().c_str(), "tmpfs", 0, "size=1m") != 0)
    return std::string("a tmpfs cannot be mounted: ") + std::strerror(errno);
  ::umount2(probe.path().c_str(), MNT_DETACH);
  return "";
}

SmallDisk::SmallDisk() {
  if (::mount("troupe_test", path().c_str(), "tmpfs", 0, "size=40m") != 0)
    throw Exception(errno_error(errno, "mount " + path().string()));
}

SmallDisk::~SmallDisk() {
  ::umount2(path().c_str(), MNT_DETACH);
}

void SmallDisk::fill(std::size_t leave_bytes) const {
  struct statvfs disk {};
  if (::statvfs(path().c_str(), &disk) != 0)
    throw Exception(errno_error(errno, path().string()));
  const std::size_t there = disk.f_bavail * disk.f_frsize;
  if (there <= leave_bytes)
    return;
  const auto file = open_file(ballast(), O_WRONLY | O_CREAT | O_APPEND).value_or_throw();
  const std::string page(4096, '\1');
  for (std::size_t left = (there - leave_bytes) / page.size(); left > 0; --left)
    if (!write_all(file.get(), page, "ballast"))
      return;  // somebody else took the rest
}

void SmallDisk::free() const {
  std::filesystem::remove(ballast());
}

}  // namespace troupe::testing
