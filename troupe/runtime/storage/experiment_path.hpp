#pragma once

#include <troupe/base/result.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Where experiments lie: `<storage_path>/<experiment>/{store/,high_water,<trial>/...}`.
namespace troupe {

/// $TROUPE_STORAGE_PATH, or troupe_results in the home directory. Errors: failed_precondition when
/// neither is known.
Result<std::filesystem::path> default_storage_path();

/// A name of an experiment or trial is one folder name: 1 to `limits::max_name_bytes` bytes of
/// valid UTF-8, no slash, no control character, not beginning with a dot or a blank, not ending
/// with a blank. `what` names it in the error ("experiment name"). Errors: invalid_argument.
Status check_folder_name(std::string_view name, std::string_view what);

/// The absolute folder of an experiment; it need not exist. `storage_path` empty: the default. A
/// leading "~/" is the home directory. Errors: invalid_argument (name, or a URL as storage path).
Result<std::filesystem::path> experiment_directory(const std::filesystem::path& storage_path,
                                                   std::string_view name);

/// Makes the folder of an experiment, or of a trial in it, durably; fine when it is there. Errors:
/// invalid_argument (name), io, already_exists when a file is in the way.
Status create_experiment_directory(const std::filesystem::path& experiment_dir);
Result<std::filesystem::path> create_trial_directory(const std::filesystem::path& experiment_dir,
                                                     std::string_view trial_dir_name);

/// The folder of a trial, for whoever needs it first and however often: one call, not synced. An
/// empty folder that a loss of power takes away is made again by the next attempt. Errors: io,
/// not_found when the experiment's folder is gone.
Status make_trial_folder(const std::filesystem::path& trial_dir);

/// What a folder lies on, as far as it matters for keeping things.
struct FileSystemInfo {
  enum class Kind : uint8_t {
    local,
    memory,
    network,
    foreign,  ///< served by some program (FUSE, 9p): may be anything
    overlay,  ///< the layer of a container
  };
  Kind kind = Kind::local;
  std::string name;  ///< "ext4", "nfs", "tmpfs", "0x1234abcd" when unknown
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
};

/// Looks at `path` or its nearest existing ancestor.
Result<FileSystemInfo> inspect_file_system(const std::filesystem::path& path);

/// Whether a journal may live at `path`. A network file system is refused (failed_precondition:
/// a lost lock or a reordered write there loses records). A warning for people when it works but
/// may not keep: memory, the layer of a container, FUSE, a nearly full disk; nothing when all is
/// well.
Result<std::optional<std::string>> check_store_location(const std::filesystem::path& path);

}  // namespace troupe
