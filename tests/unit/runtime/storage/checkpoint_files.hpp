#pragma once

#include <troupe/base/file.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/runtime/storage/checkpoint_store.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>

namespace troupe::testing {

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  const FileDescriptor file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC).value_or_throw();
  write_all(file.get(), text, path.string()).value_or_throw();
}

inline std::string read_text(const std::filesystem::path& path) {
  return read_file(path, limits::max_message_bytes).value_or_throw();
}

/// Files, a nested folder, an empty file and an empty folder.
inline void fill_sample(const std::filesystem::path& folder, const std::string& content) {
  write_text(folder / "model.bin", content);
  write_text(folder / "empty", "");
  std::filesystem::create_directories(folder / "optimizer" / "moments");
  write_text(folder / "optimizer" / "moments" / "m1", content + content);
  std::filesystem::create_directory(folder / "nothing inside");
}

inline CheckpointRef write_sample(const std::filesystem::path& trial_dir, uint32_t number,
                                  const std::string& content) {
  return write_checkpoint(
             trial_dir, number, 10 * number, 1.5 * number,
             [&](const std::filesystem::path& folder) { fill_sample(folder, content); })
      .value_or_throw();
}

/// Everything below `root`, hidden things too, relative, sorted.
inline std::vector<std::string> names_below(const std::filesystem::path& root) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    names.push_back(entry.path().lexically_relative(root).string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace troupe::testing
