#include <troupe/base/detail/json_text.hpp>
#include <troupe/runtime/storage/detail/manifest.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/serialization/value.hpp>

#include <algorithm>
#include <limits>

namespace troupe::detail {

namespace {

constexpr std::string_view format_name = "troupe checkpoint";
constexpr int64_t format_version = 1;
constexpr size_t max_path_bytes = 4096;
constexpr size_t max_path_parts = 64;

Error malformed(const std::string& what) {
  return Error(ErrorCode::corrupt, std::string(manifest_name) + ": " + what);
}

// The entry `key` of `map` if it is a T; reading what others wrote must not throw.
template <class T>
const T* get(const Map& map, std::string_view key) {
  const Value* value = map.find_key(key);
  return value != nullptr ? value->get_if<T>() : nullptr;
}

bool is_hash(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<ManifestFile> parse_file(const Value& entry) {
  const Map* map = entry.get_if<Map>();
  if (map == nullptr)
    return malformed("an entry of 'files' is not an object");
  const auto* name = get<std::string>(*map, "name");
  const auto* size = get<int64_t>(*map, "size");
  const auto* hash = get<std::string>(*map, "sha256");
  if (name == nullptr || size == nullptr || *size < 0 || hash == nullptr || !is_hash(*hash))
    return malformed("an entry of 'files' lacks a name, size or sha256");
  if (!is_safe_name(*name) || *name == manifest_name)
    return malformed("the file name '" + printable(*name) + "' is not allowed");
  return ManifestFile{.name = *name, .size = static_cast<uint64_t>(*size), .sha256 = *hash};
}

}  // namespace

uint64_t Manifest::bytes() const {
  uint64_t sum = 0;
  for (const ManifestFile& file : files)
    sum += file.size;
  return sum;
}

Result<std::string> to_text(const Manifest& manifest) {
  List files;
  for (const ManifestFile& file : manifest.files)
    files.emplace_back(Map{{"name", file.name}, {"size", file.size}, {"sha256", file.sha256}});
  List directories;
  for (const std::string& name : manifest.directories)
    directories.emplace_back(name);
  const Map map{{"format", format_name},
                {"version", format_version},
                {"number", manifest.number},
                {"iteration", manifest.iteration},
                {"time_total_s", manifest.time_total_s},
                {"bytes", manifest.bytes()},
                {"files", std::move(files)},
                {"directories", std::move(directories)}};
  std::string text = to_json(map, JsonStyle::pretty);
  text += '\n';
  if (text.size() > max_manifest_bytes) {
    return Error(ErrorCode::resource_exhausted,
                 "a checkpoint of " + std::to_string(manifest.files.size()) +
                     " files is too large: its manifest would exceed " +
                     std::to_string(max_manifest_bytes / limits::mib) +
                     " MiB. Put the files into an archive");
  }
  return text;
}

Result<Manifest> parse_manifest(std::string_view text) {
  TROUPE_TRY(value, parse_json(text, {.max_bytes = max_manifest_bytes, .max_depth = 4}));
  const Map* map = value.get_if<Map>();
  const auto* format = map != nullptr ? get<std::string>(*map, "format") : nullptr;
  if (format == nullptr || *format != format_name)
    return malformed("not the manifest of a checkpoint");
  const auto* version = get<int64_t>(*map, "version");
  if (version == nullptr || *version < 1)
    return malformed("'version' is missing");
  if (*version > format_version) {
    return Error(ErrorCode::version_mismatch,
                 std::string(manifest_name) + ": written in version " + std::to_string(*version) +
                     " of the format, this program knows up to " + std::to_string(format_version));
  }
  const auto* number = get<int64_t>(*map, "number");
  const auto* iteration = get<int64_t>(*map, "iteration");
  const auto* time = get<double>(*map, "time_total_s");
  const auto* files = get<List>(*map, "files");
  const auto* directories = get<List>(*map, "directories");
  if (number == nullptr || *number < 0 || *number > std::numeric_limits<uint32_t>::max() ||
      iteration == nullptr || *iteration < 0 || time == nullptr || files == nullptr ||
      directories == nullptr) {
    return malformed("a field is missing or has another type");
  }
  Manifest manifest{.number = static_cast<uint32_t>(*number),
                    .iteration = static_cast<uint64_t>(*iteration),
                    .time_total_s = *time,
                    .files = {},
                    .directories = {}};
  manifest.files.reserve(files->size());
  auto room = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  for (const Value& entry : *files) {
    TROUPE_TRY(file, parse_file(entry));
    if (file.size > room)
      return malformed("the sizes of 'files' are together more than any disk holds");
    room -= file.size;
    manifest.files.push_back(std::move(file));
  }
  for (const Value& entry : *directories) {
    const auto* name = entry.get_if<std::string>();
    if (name == nullptr || !is_safe_name(*name))
      return malformed("an entry of 'directories' is not allowed");
    manifest.directories.push_back(*name);
  }
  return manifest;
}

bool is_safe_name(std::string_view name) {
  if (name.empty() || name.size() > max_path_bytes || name.find('\0') != std::string_view::npos ||
      !is_valid_utf8(name)) {
    return false;
  }
  size_t parts = 0;
  while (true) {
    const size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || ++parts > max_path_parts)
      return false;
    if (slash == std::string_view::npos)
      return true;
    name.remove_prefix(slash + 1);
  }
}

}  // namespace troupe::detail
