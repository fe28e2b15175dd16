#pragma once

#include <troupe/base/result.hpp>
#include <troupe/runtime/storage/checkpoint.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// Checkpoints on a local disk. A checkpoint is a folder whose `manifest.json` names every file
/// with its size and SHA-256; it exists if and only if the manifest is there and everything
/// verifies.
///
/// Thread rules: functions of different trials are independent; for one trial, one writer at a time
/// (there is one live attempt). Reading and verifying may run beside it.
/// All of it blocks for as long as the disk takes.
namespace troupe {

/// "checkpoint_000003".
std::string checkpoint_directory_name(uint32_t number);

/// Makes a checkpoint: `fill` writes files and folders into the empty folder it is given (a hidden
/// one inside `trial_dir`); then everything is hashed and synced, the manifest is written last, and
/// the folder gets its name. On return the checkpoint survives a loss of power. Until then there is
/// nothing, or what was there before. A folder of that name which an earlier attempt left behind is
/// replaced; unfinished folders of dead writers are removed.
///
/// Errors: invalid_argument when `fill` leaves something else than files and folders (links,
/// sockets, names that are not UTF-8, a manifest.json of its own), io, not_found (no `trial_dir`),
/// resource_exhausted: the disk or a quota is full, and nothing else is meant by that. What `fill`
/// throws passes through, unless the disk is full. Nothing is left behind in either case. Fault
/// points:
/// checkpoint.write.{before_fill,after_fill,before_sync,before_manifest,before_rename,
/// after_rename}.
Result<CheckpointRef> write_checkpoint(
    const std::filesystem::path& trial_dir, uint32_t number, uint64_t iteration,
    double time_total_s, const std::function<void(const std::filesystem::path&)>& fill);

/// Makes a checkpoint of the files in `source`, which stays as it is. Data is shared between the
/// two (reflink) or copied inside the kernel where the file system can.
Result<CheckpointRef> copy_checkpoint(const std::filesystem::path& trial_dir, uint32_t number,
                                      uint64_t iteration, double time_total_s,
                                      const std::filesystem::path& source);

/// Reads every byte and compares. not_found when the folder or its manifest is missing, corrupt
/// (naming the file and what is wrong with it), io. Files that the manifest does not name are
/// ignored. No link is followed below `trial_dir`.
Status verify_checkpoint(const std::filesystem::path& trial_dir, const CheckpointRef& ref);

/// The index of the first of `refs` that verifies. `damaged` receives one line for each one before
/// it. not_found when none does, with all the reasons.
Result<size_t> pick_checkpoint(const std::filesystem::path& trial_dir,
                               std::span<const CheckpointRef> refs,
                               std::vector<std::string>& damaged);

/// Removes a checkpoint; it vanishes at once, its files follow. Fine when there is none.
/// Fault points: checkpoint.delete.{before_rename,before_remove}.
Status delete_checkpoint(const std::filesystem::path& trial_dir, const CheckpointRef& ref);

/// The checkpoints in a trial's folder whose manifest can be read, newest first. Nothing is
/// verified beyond that.
Result<std::vector<CheckpointRef>> list_checkpoints(const std::filesystem::path& trial_dir);

}  // namespace troupe
