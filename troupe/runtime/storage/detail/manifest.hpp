#pragma once

#include <troupe/base/limits.hpp>
#include <troupe/base/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::detail {

inline constexpr std::string_view manifest_name = "manifest.json";
inline constexpr size_t max_manifest_bytes = limits::max_message_bytes;

struct ManifestFile {
  std::string name{};  ///< relative to the checkpoint, parts joined by '/'
  uint64_t size = 0;
  std::string sha256{};
};

/// What manifest.json says.
struct Manifest {
  uint32_t number = 0;
  uint64_t iteration = 0;
  double time_total_s = 0;
  std::vector<ManifestFile> files{};
  std::vector<std::string> directories{};  ///< all, so that empty ones are kept

  uint64_t bytes() const;
};

/// Equal manifests give equal texts. resource_exhausted when it is longer than
/// `max_manifest_bytes`.
Result<std::string> to_text(const Manifest& manifest);

/// corrupt when it is not one of ours, or names a file outside the checkpoint; version_mismatch
/// when a newer version wrote it.
Result<Manifest> parse_manifest(std::string_view text);

/// "a/b": relative, no empty part, no "." or "..", no zero byte, valid UTF-8, bounded.
bool is_safe_name(std::string_view name);

}  // namespace troupe::detail
