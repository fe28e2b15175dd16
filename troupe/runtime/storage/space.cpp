#include <troupe/base/fault_point.hpp>
#include <troupe/base/file.hpp>
#include <troupe/runtime/storage/space.hpp>

#include <cerrno>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace troupe {

namespace {

// More than the gaps that a file system leaves beside a file that did not fit.
constexpr std::size_t probe_bytes = std::size_t{64} << 10;

bool is_full(int err) {
  return err == ENOSPC || err == EDQUOT;
}

}  // namespace

bool out_of_space(const std::filesystem::path& folder) {
  if (!TROUPE_FAULT_STATUS("storage.space.probe"))
    return true;
  std::string name = (folder / ".space_probe-XXXXXX").string();
  const FileDescriptor probe(::mkostemp(name.data(), O_CLOEXEC));
  if (!probe)
    return is_full(errno);
  ::unlink(name.c_str());
  const std::string bytes(probe_bytes, '\1');
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t n = ::write(probe.get(), bytes.data() + written, bytes.size() - written);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return n < 0 && is_full(errno);
    written += static_cast<std::size_t>(n);
  }
  // File systems that find room only when they write back.
  return ::fsync(probe.get()) != 0 && is_full(errno);
}

}  // namespace troupe
