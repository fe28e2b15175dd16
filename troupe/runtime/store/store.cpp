#include <troupe/runtime/store/detail/rocks_journal.hpp>
#include <troupe/runtime/store/store.hpp>

namespace troupe {

namespace fs = std::filesystem;

Result<OpenedStore> open_store(const StoreOptions& options) {
  return detail::open_store(options, {});
}

bool store_exists(const fs::path& experiment_dir) {
  std::error_code ignored;
  const fs::path folder = store_folder(experiment_dir);
  if (fs::exists(folder, ignored) && !fs::is_empty(folder, ignored))
    return true;
  return fs::exists(witness_file(experiment_dir), ignored);
}

fs::path store_folder(const fs::path& experiment_dir) {
  return experiment_dir / "store";
}

fs::path witness_file(const fs::path& experiment_dir) {
  return experiment_dir / "high_water";
}

}  // namespace troupe
