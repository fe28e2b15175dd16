#include <troupe/apps/find_experiment.hpp>
#include <troupe/base/detail/edit_distance.hpp>
#include <troupe/base/file.hpp>
#include <troupe/runtime/storage/experiment_path.hpp>
#include <troupe/runtime/store/store.hpp>

#include <algorithm>

#include <fcntl.h>

namespace troupe::apps {

namespace fs = std::filesystem;

Result<std::vector<std::string>> experiment_names(const fs::path& storage_path) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(storage_path, error);
  if (error == std::errc::no_such_file_or_directory) {
    return Error(ErrorCode::not_found,
                 "there is no folder '" + storage_path.string() +
                     "': name the storage path of your experiments, or set TROUPE_STORAGE_PATH");
  }
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (store_exists(entry->path()))
      names.push_back(entry->path().filename().string());
  }
  if (error)
    return errno_error(error.value(), "cannot read '" + storage_path.string() + "'");
  std::sort(names.begin(), names.end());
  return names;
}

Result<fs::path> storage_path_or_default(const fs::path& given) {
  if (!given.empty())
    return fs::absolute(given).lexically_normal();
  return default_storage_path();
}

Result<fs::path> find_experiment(const std::string& path_or_name, const fs::path& storage_path) {
  std::error_code error;
  const fs::path as_path = fs::absolute(path_or_name, error).lexically_normal();
  if (!error && store_exists(as_path))
    return as_path;
  TROUPE_TRY(storage, storage_path_or_default(storage_path));
  const bool is_name = path_or_name.find('/') == std::string::npos;
  if (is_name && store_exists(storage / path_or_name))
    return storage / path_or_name;

  std::string message = "there is no experiment '" + path_or_name + "'";
  const fs::path around = is_name ? storage : as_path.parent_path();
  message += " in '" + around.string() + "'";
  const auto names = experiment_names(around);
  if (names)
    message += troupe::detail::did_you_mean(as_path.filename().string(), *names);
  return Error(ErrorCode::not_found, message + "; `troupe list` shows what there is");
}

std::optional<int64_t> driver_of(const fs::path& experiment_dir) {
  const auto file = open_file(store_folder(experiment_dir) / "LOCK", O_RDONLY);
  if (!file)
    return std::nullopt;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(file->get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
    return std::nullopt;
  return lock.l_pid;
}

std::string experiment_state(tune::ExperimentState recorded, bool has_driver) {
  if (has_driver)
    return "running";
  if (recorded == tune::ExperimentState::running)
    return "died";
  return std::string(to_string(recorded));
}

tune::TrialState trial_state(tune::TrialState recorded, bool has_driver) {
  using tune::TrialState;
  return recorded == TrialState::running && !has_driver ? TrialState::pending : recorded;
}

}  // namespace troupe::apps
