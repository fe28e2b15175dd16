#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "tests/support/scratch_folder.hpp"

namespace troupe::testing {

/// Makes mounting possible for this process and what it starts, in a namespace of their own: no
/// mount outlives them. Call it before there are threads. Returns why it is not possible, or "".
std::string allow_mounts();

/// A disk of 40 MB in memory that can be filled up.
class SmallDisk {
public:
  SmallDisk();
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return scratch_.path(); }
  /// Takes all space but so many bytes, about.
  void fill(std::size_t leave_bytes) const;
  /// Gives it back.
  void free() const;

private:
  [[nodiscard]] std::filesystem::path ballast() const { return path() / "ballast"; }

  ScratchFolder scratch_{"small_disk"};
};

}  // namespace troupe::testing
