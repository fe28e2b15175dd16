#include <troupe/base/detail/json_text.hpp>
#include <troupe/base/file.hpp>
#include <troupe/base/log.hpp>
#include <troupe/runtime/storage/checkpoint_store.hpp>
#include <troupe/runtime/storage/detail/manifest.hpp>
#include <troupe/runtime/storage/detail/sha256.hpp>
#include <troupe/runtime/storage/detail/staging.hpp>
#include <troupe/runtime/storage/detail/tree.hpp>

#include <algorithm>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe {

namespace fs = std::filesystem;

namespace {

Error damaged(std::string_view name, const std::string& what) {
  return Error(ErrorCode::corrupt, "file '" + detail::printable(name) + "' " + what);
}

Result<FileDescriptor> open_folder(const fs::path& path) {
  FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder)
    return folder;
  if (errno == ENOENT)
    return Error(ErrorCode::not_found, "its folder is missing");
  // A link, or a file, in place of the folder.
  if (errno == ELOOP || errno == ENOTDIR)
    return Error(ErrorCode::corrupt, "it is not a folder");
  return errno_error(errno, "cannot open its folder");
}

// Opens a regular file; not_found when there is none. O_NONBLOCK: it may be a pipe by now.
Result<FileDescriptor> open_regular(int folder, std::string_view name, uint64_t& size) {
  int error = 0;
  FileDescriptor file = detail::open_below(folder, name, O_RDONLY | O_NONBLOCK, error);
  if (error == ENOENT || error == ENOTDIR)
    return Error(ErrorCode::not_found, "file '" + detail::printable(name) + "' is missing");
  if (error == ELOOP || error == ENXIO)
    return damaged(name, "is not a regular file, or lies behind a link");
  if (error != 0)
    return errno_error(error, "cannot open '" + detail::printable(name) + "'");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return damaged(name, "is not a regular file");
  size = static_cast<uint64_t>(info.st_size);
  return file;
}

Result<std::string> read_manifest(int folder) {
  uint64_t size = 0;
  TROUPE_TRY(file, open_regular(folder, detail::manifest_name, size));
  if (size > detail::max_manifest_bytes)
    return damaged(detail::manifest_name, "is too large");
  return read_up_to(file.get(), detail::max_manifest_bytes + 1, detail::manifest_name);
}

Status verify_file(int folder, const detail::ManifestFile& expected) {
  uint64_t size = 0;
  auto file = open_regular(folder, expected.name, size);
  if (!file && file.error().code() == ErrorCode::not_found)
    return damaged(expected.name, "is missing");
  if (!file)
    return std::move(file).error();
  if (size != expected.size) {
    return damaged(expected.name, "has " + std::to_string(size) + " bytes instead of " +
                                      std::to_string(expected.size));
  }
  TROUPE_TRY(digest, detail::hash_file(file->get(), expected.name));
  if (digest.size != expected.size || digest.sha256 != expected.sha256)
    return damaged(expected.name, "has other contents than were written (SHA-256 differs)");
  return ok();
}

Status verify_contents(int folder, const CheckpointRef& ref) {
  TROUPE_TRY(text, read_manifest(folder));
  if (detail::sha256_hex(text) != ref.digest) {
    return damaged(detail::manifest_name,
                   "is not the one that was recorded for this checkpoint (SHA-256 differs)");
  }
  TROUPE_TRY(manifest, detail::parse_manifest(text));
  if (manifest.number != ref.number || manifest.iteration != ref.iteration)
    return damaged(detail::manifest_name, "belongs to another checkpoint");
  for (const std::string& name : manifest.directories) {
    int error = 0;
    if (!detail::open_below(folder, name, O_RDONLY | O_DIRECTORY, error))
      return Error(ErrorCode::corrupt, "folder '" + detail::printable(name) + "' is missing");
  }
  for (const detail::ManifestFile& file : manifest.files)
    TROUPE_RETURN_IF_ERROR(verify_file(folder, file));
  return ok();
}

}  // namespace

Status verify_checkpoint(const fs::path& trial_dir, const CheckpointRef& ref) {
  const std::string name = checkpoint_directory_name(ref.number);
  if (ref.directory != name) {
    return Error(ErrorCode::corrupt,
                 name + ": its folder cannot be '" + detail::printable(ref.directory) + "'");
  }
  auto folder = open_folder(trial_dir / name);
  if (!folder)
    return std::move(folder).error().with_context(name);
  return verify_contents(folder->get(), ref).with_context(name);
}

Result<size_t> pick_checkpoint(const fs::path& trial_dir, std::span<const CheckpointRef> refs,
                               std::vector<std::string>& damaged_ones) {
  damaged_ones.clear();
  for (size_t i = 0; i < refs.size(); ++i) {
    const Status status = verify_checkpoint(trial_dir, refs[i]);
    if (status)
      return i;
    damaged_ones.push_back(status.error().message());
  }
  std::string message =
      refs.empty() ? "the trial has no checkpoint" : "none of the trial's checkpoints is usable";
  for (const std::string& reason : damaged_ones)
    message += "\n  " + reason;
  return Error(ErrorCode::not_found, message);
}

Result<std::vector<CheckpointRef>> list_checkpoints(const fs::path& trial_dir) {
  std::vector<CheckpointRef> refs;
  std::error_code error;
  for (fs::directory_iterator it(trial_dir, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const auto number = detail::checkpoint_number(name);
    if (!number)
      continue;
    const auto folder = open_folder(it->path());
    const auto text = folder ? read_manifest(folder->get()) : Result<std::string>(folder.error());
    const auto manifest =
        text ? detail::parse_manifest(*text) : Result<detail::Manifest>(text.error());
    if (!manifest || manifest->number != *number) {
      log::debug("not a finished checkpoint", {{"path", it->path().string()}});
      continue;
    }
    refs.push_back({.number = *number,
                    .iteration = manifest->iteration,
                    .time_total_s = manifest->time_total_s,
                    .bytes = manifest->bytes(),
                    .directory = name,
                    .digest = detail::sha256_hex(*text)});
  }
  if (error)
    return errno_error(error.value(), "cannot list " + trial_dir.string());
  std::sort(refs.begin(), refs.end(),
            [](const CheckpointRef& a, const CheckpointRef& b) { return a.number > b.number; });
  return refs;
}

}  // namespace troupe
