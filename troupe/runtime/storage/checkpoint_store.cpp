#include <troupe/base/fault_point.hpp>
#include <troupe/base/file.hpp>
#include <troupe/base/log.hpp>
#include <troupe/runtime/storage/checkpoint_store.hpp>
#include <troupe/runtime/storage/detail/manifest.hpp>
#include <troupe/runtime/storage/detail/sha256.hpp>
#include <troupe/runtime/storage/detail/staging.hpp>
#include <troupe/runtime/storage/detail/tree.hpp>
#include <troupe/runtime/storage/space.hpp>

#include <algorithm>
#include <exception>

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace troupe {

namespace fs = std::filesystem;

namespace {

// Removes the unfinished folder however the writing ends.
class Staging {
public:
  explicit Staging(fs::path path) : path_(std::move(path)) {}
  ~Staging() {
    if (const Status removed = detail::remove_tree(path_); !removed)
      log::warning("an unfinished checkpoint stays behind", {{"error", removed.error()}});
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  const fs::path& path() const { return path_; }

private:
  fs::path path_;
};

// A folder copied from a former checkpoint brings that one's manifest along; it is replaced. One
// that is not ours belongs to the user, and we cannot have it.
Status drop_old_manifest(const fs::path& folder, detail::Tree& tree) {
  const auto found = std::find(tree.files.begin(), tree.files.end(), detail::manifest_name);
  if (found == tree.files.end())
    return ok();
  const fs::path path = folder / detail::manifest_name;
  const auto text = read_file(path, detail::max_manifest_bytes);
  if (!text || !detail::parse_manifest(*text)) {
    return Error(ErrorCode::invalid_argument,
                 "a checkpoint cannot hold a file of its own named 'manifest.json': choose "
                 "another name, or put it into a folder");
  }
  tree.files.erase(found);
  return remove_file(path) ? ok() : Status(Error(ErrorCode::io, "cannot remove " + path.string()));
}

// Hashes each file while the kernel already writes it out.
Result<detail::Manifest> hash_all(const fs::path& folder, const detail::Tree& tree) {
  detail::Manifest manifest;
  manifest.directories = tree.directories;
  manifest.files.reserve(tree.files.size());
  for (const std::string& name : tree.files) {
    const fs::path path = folder / name;
    TROUPE_TRY(file, open_file(path, O_RDONLY | O_NOFOLLOW));
    ::sync_file_range(file.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
    TROUPE_TRY(digest, detail::hash_file(file.get(), path.string()));
    manifest.files.push_back(
        {.name = name, .size = digest.size, .sha256 = std::move(digest.sha256)});
  }
  return manifest;
}

Status sync_all(const fs::path& folder, const detail::Tree& tree) {
  for (const std::string& name : tree.files) {
    const fs::path path = folder / name;
    TROUPE_TRY(file, open_file(path, O_RDONLY | O_NOFOLLOW));
    TROUPE_RETURN_IF_ERROR(fsync_file(file.get(), path.string()));
  }
  for (const std::string& name : tree.directories)
    TROUPE_RETURN_IF_ERROR(fsync_directory(folder / name));
  return ok();
}

Status write_manifest(const fs::path& folder, std::string_view text) {
  const fs::path path = folder / detail::manifest_name;
  TROUPE_TRY(file, open_file(path, O_WRONLY | O_CREAT | O_EXCL));
  TROUPE_RETURN_IF_ERROR(write_all(file.get(), text, path.string()));
  TROUPE_RETURN_IF_ERROR(fsync_file(file.get(), path.string()));
  TROUPE_RETURN_IF_ERROR(file.close(path.string()));
  return fsync_directory(folder);
}

// After it `staging` is what stood at `target` before, or nothing.
Status move_into_place(const fs::path& staging, const fs::path& target, const fs::path& aside) {
  if (::rename(staging.c_str(), target.c_str()) == 0)
    return ok();
  if (errno != ENOTEMPTY && errno != EEXIST)
    return errno_error(errno, "cannot put the checkpoint in place at " + target.string());
  if (::renameat2(AT_FDCWD, staging.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0)
    return ok();
  // A file system without exchange: for a moment there is neither. The one there is of no attempt
  // that counts, so nothing is lost.
  if (::rename(target.c_str(), aside.c_str()) != 0 ||
      ::rename(staging.c_str(), target.c_str()) != 0) {
    return errno_error(errno, "cannot replace the checkpoint " + target.string());
  }
  return detail::remove_tree(aside);
}

struct Identity {
  uint32_t number;
  uint64_t iteration;
  double time_total_s;
};

Result<CheckpointRef> commit(const fs::path& trial_dir, const fs::path& staging,
                             const Identity& identity) {
  TROUPE_TRY(tree, detail::list_tree(staging));
  TROUPE_RETURN_IF_ERROR(drop_old_manifest(staging, tree));
  TROUPE_TRY(manifest, hash_all(staging, tree));
  manifest.number = identity.number;
  manifest.iteration = identity.iteration;
  manifest.time_total_s = identity.time_total_s;
  TROUPE_TRY(text, detail::to_text(manifest));
  TROUPE_FAULT_POINT("checkpoint.write.before_sync");
  TROUPE_RETURN_IF_ERROR(sync_all(staging, tree));
  TROUPE_FAULT_POINT("checkpoint.write.before_manifest");
  TROUPE_RETURN_IF_ERROR(write_manifest(staging, text));
  TROUPE_FAULT_POINT("checkpoint.write.before_rename");
  const std::string directory = checkpoint_directory_name(identity.number);
  TROUPE_RETURN_IF_ERROR(move_into_place(staging, trial_dir / directory,
                                         trial_dir / detail::deleted_name(identity.number)));
  TROUPE_FAULT_POINT("checkpoint.write.after_rename");
  TROUPE_RETURN_IF_ERROR(fsync_directory(trial_dir));
  // The trial folder may be as new as its first checkpoint.
  TROUPE_RETURN_IF_ERROR(fsync_directory(trial_dir.parent_path()));
  return CheckpointRef{.number = identity.number,
                       .iteration = identity.iteration,
                       .time_total_s = identity.time_total_s,
                       .bytes = manifest.bytes(),
                       .directory = directory,
                       .digest = detail::sha256_hex(text)};
}

/// Whoever calls acts on resource_exhausted as on a full disk, so it is used for nothing else.
/// Asked while the unfinished files still take their space.
Error told_apart(Error error, const fs::path& folder) {
  if (out_of_space(folder))
    return Error(ErrorCode::resource_exhausted, "no space is left in " +
                                                    folder.parent_path().string() + " (" +
                                                    error.message() + "): free some");
  if (error.code() == ErrorCode::resource_exhausted)
    return Error(ErrorCode::io, error.message());
  return error;
}

bool nothing_is_free(const fs::path& folder) {
  struct statvfs disk {};
  return ::statvfs(folder.c_str(), &disk) == 0 && disk.f_bavail == 0 && out_of_space(folder);
}

Result<CheckpointRef> fill_and_commit(const fs::path& trial_dir, const fs::path& staging,
                                      const Identity& identity,
                                      const std::function<Status(const fs::path&)>& fill) {
  try {
    TROUPE_RETURN_IF_ERROR(fill(staging));
  } catch (const std::exception& e) {
    if (!out_of_space(staging))
      throw;
    return Error(ErrorCode::resource_exhausted, e.what());
  }
  TROUPE_FAULT_POINT("checkpoint.write.after_fill");
  // A stream whose state nobody looks at cuts files short in silence.
  if (nothing_is_free(staging))
    return Error(ErrorCode::resource_exhausted, "its files may be cut short");
  return commit(trial_dir, staging, identity);
}

Result<CheckpointRef> write_with(const fs::path& trial_dir, const Identity& identity,
                                 const std::function<Status(const fs::path&)>& fill) {
  if (std::error_code error; !fs::is_directory(trial_dir, error)) {
    return Error(ErrorCode::not_found,
                 "the trial folder " + trial_dir.string() + " does not exist (was it removed?)");
  }
  TROUPE_RETURN_IF_ERROR(detail::remove_leftovers(trial_dir));
  TROUPE_FAULT_POINT("checkpoint.write.before_fill");
  const Staging staging(trial_dir / detail::staging_name(identity.number));
  if (::mkdir(staging.path().c_str(), 0755) != 0)
    return told_apart(errno_error(errno, "cannot make the folder " + staging.path().string()),
                      trial_dir);
  auto made = fill_and_commit(trial_dir, staging.path(), identity, fill);
  if (!made)
    return told_apart(std::move(made).error(), staging.path());
  return made;
}

std::string context(uint32_t number) {
  return "cannot write " + checkpoint_directory_name(number);
}

}  // namespace

std::string checkpoint_directory_name(uint32_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < 6)
    digits.insert(0, 6 - digits.size(), '0');
  return "checkpoint_" + digits;
}

Result<CheckpointRef> write_checkpoint(const fs::path& trial_dir, uint32_t number,
                                       uint64_t iteration, double time_total_s,
                                       const std::function<void(const fs::path&)>& fill) {
  return write_with(trial_dir, {number, iteration, time_total_s},
                    [&](const fs::path& folder) {
                      fill(folder);
                      return ok();
                    })
      .with_context(context(number));
}

Result<CheckpointRef> copy_checkpoint(const fs::path& trial_dir, uint32_t number,
                                      uint64_t iteration, double time_total_s,
                                      const fs::path& source) {
  std::error_code error;
  const fs::path from = fs::canonical(source, error);
  if (error || !fs::is_directory(from, error)) {
    return Error(ErrorCode::not_found,
                 context(number) + ": its folder " + source.string() + " does not exist");
  }
  const fs::path to = fs::weakly_canonical(trial_dir, error);
  if (std::mismatch(from.begin(), from.end(), to.begin(), to.end()).first == from.end()) {
    return Error(ErrorCode::invalid_argument,
                 context(number) + ": its folder " + source.string() +
                     " contains the trial folder; use one that holds the checkpoint's files only");
  }
  return write_with(trial_dir, {number, iteration, time_total_s},
                    [&](const fs::path& folder) -> Status {
                      TROUPE_TRY(tree, detail::list_tree(from));
                      return detail::copy_tree(tree, from, folder);
                    })
      .with_context(context(number));
}

Status delete_checkpoint(const fs::path& trial_dir, const CheckpointRef& ref) {
  if (ref.directory != checkpoint_directory_name(ref.number)) {
    return Error(ErrorCode::invalid_argument, "cannot delete checkpoint " +
                                                  std::to_string(ref.number) +
                                                  ": its folder cannot be '" + ref.directory + "'");
  }
  const fs::path doomed = trial_dir / detail::deleted_name(ref.number);
  TROUPE_RETURN_IF_ERROR(detail::remove_tree(doomed));
  TROUPE_FAULT_POINT("checkpoint.delete.before_rename");
  if (::rename((trial_dir / ref.directory).c_str(), doomed.c_str()) != 0 && errno != ENOENT)
    return errno_error(errno, "cannot delete " + (trial_dir / ref.directory).string());
  TROUPE_FAULT_POINT("checkpoint.delete.before_remove");
  return detail::remove_tree(doomed);
}

}  // namespace troupe
