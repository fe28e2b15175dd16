#pragma once

#include <troupe/base/error.hpp>

#include <filesystem>
#include <string>
#include <system_error>

#include <unistd.h>

namespace troupe::testing {

/// An empty folder beside the test's executable, removed at the end. Not in /tmp: that may be in
/// memory, and what a test of durability sees there means nothing.
class ScratchFolder {
public:
  explicit ScratchFolder(const std::string& name) {
    const auto base = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "scratch";
    std::filesystem::create_directories(base);
    std::string pattern = (base / (name + "-XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw Exception(errno_error(errno, pattern));
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

}  // namespace troupe::testing
