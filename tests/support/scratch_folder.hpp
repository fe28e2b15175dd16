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
  explicit ScratchFolder(const std::string& name) : ScratchFolder(beside_executable(), name) {}

  /// In memory where the machine has room there, else as all are: for a test of what processes see
  /// of each other, which syncs thousands of times and loses no power.
  static ScratchFolder quick(const std::string& name) {
    const std::filesystem::path memory = "/dev/shm";
    std::error_code error;
    const auto space = std::filesystem::space(memory, error);
    const bool roomy = !error && space.available > (std::uintmax_t{1} << 29);
    const bool fits = roomy && ::access(memory.c_str(), W_OK) == 0;
    return ScratchFolder(fits ? memory : beside_executable(), "troupe-" + name);
  }

  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
  ScratchFolder(const std::filesystem::path& base, const std::string& name) {
    std::filesystem::create_directories(base);
    std::string pattern = (base / (name + "-XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw Exception(errno_error(errno, pattern));
    path_ = pattern;
  }

  static std::filesystem::path beside_executable() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "scratch";
  }

  std::filesystem::path path_;
};

}  // namespace troupe::testing
