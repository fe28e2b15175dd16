#include <troupe/base/file.hpp>
#include <troupe/base/log.hpp>
#include <troupe/runtime/store/detail/copier.hpp>
#include <troupe/runtime/store/detail/recovery.hpp>
#include <troupe/runtime/store/detail/salvage.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view manifest_prefix = "MANIFEST-";
constexpr std::string_view log_suffix = ".log";

struct NumberedFile {
  std::uint64_t number = 0;
  fs::path path;
};

std::optional<std::uint64_t> number_in(std::string_view digits) {
  std::uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end)
    return std::nullopt;
  return number;
}

/// The files whose name is prefix, number, suffix, by their number.
std::vector<NumberedFile> numbered_files(const fs::path& folder, std::string_view prefix,
                                         std::string_view suffix) {
  std::vector<NumberedFile> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string file = entry.path().filename().string();
    std::string_view name = file;
    if (!name.starts_with(prefix) || !name.ends_with(suffix))
      continue;
    name.remove_prefix(prefix.size());
    name.remove_suffix(suffix.size());
    if (const auto number = number_in(name))
      found.push_back({*number, entry.path()});
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  return found;
}

/// The highest number in any name: RocksDB numbers all its files in one sequence.
std::uint64_t last_number(const fs::path& folder) {
  std::uint64_t last = 0;
  for (const std::string_view suffix : {std::string_view(".sst"), log_suffix})
    for (const auto& file : numbered_files(folder, "", suffix))
      last = std::max(last, file.number);
  for (const auto& file : numbered_files(folder, manifest_prefix, ""))
    last = std::max(last, file.number);
  return last;
}

Status discard(const fs::path& file) {
  std::error_code error;
  fs::remove(file, error);
  if (error)
    return errno_error(error.value(), file.string());
  return ok();
}

/// True when the copy opens with one of the manifests that are there.
Result<bool> find_manifest(const fs::path& copy) {
  auto manifests = numbered_files(copy, manifest_prefix, "");
  std::reverse(manifests.begin(), manifests.end());
  for (const auto& manifest : manifests) {
    // A new file: the one that is there may be a link to that of the store.
    TROUPE_RETURN_IF_ERROR(discard(copy / "CURRENT"));
    TROUPE_RETURN_IF_ERROR(
        write_file_atomically(copy / "CURRENT", manifest.path.filename().string() + '\n'));
    if (!check_folder(copy, {}))
      continue;
    if (open_read_only(copy, {}, LogMode::point_in_time))
      return true;
  }
  return false;
}

/// Families that had no table file are unknown to RepairDB.
Status add_missing_families(const fs::path& folder) {
  auto options = database_options({}, LogMode::point_in_time);
  options.create_missing_column_families = true;
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const auto status =
      rocksdb::DB::Open(options, folder.string(), family_descriptors({}), &handles, &db);
  if (!status.ok())
    return rocks_error(status, folder.string());
  const Database opened(std::unique_ptr<rocksdb::DB>(db), std::move(handles));
  return ok();
}

/// What RocksDB finds in the table files of a folder that has neither manifest nor log.
Result<Database> collect_tables(const fs::path& folder) {
  const auto status = rocksdb::RepairDB(
      folder.string(), database_options({}, LogMode::point_in_time), family_descriptors({}));
  if (!status.ok())
    return rocks_error(status, folder.string());
  TROUPE_RETURN_IF_ERROR(add_missing_families(folder));
  return open_read_only(folder, {}, LogMode::point_in_time);
}

Status copy_all(const Database& source, Database& target) {
  Copier copier(target);
  const View view(source);
  for (std::size_t family = 0; family < family_count; ++family) {
    Status copied;
    const auto read = view.pairs(family, "", [&](auto key, auto value) {
      copied = copier.put(family, key, value);
      return copied.has_value();
    });
    TROUPE_RETURN_IF_ERROR(std::move(copied));
    if (!read)
      log::warning("a table of a damaged store could not be read to its end",
                   {{"reason", read.error()}});
  }
  return copier.finish();
}

/// Puts the logs where the fresh database replays them when it is opened. A batch in a log names
/// families by number and takes the number that its writes had, which is at least the count of all
/// writes before it: so it is newer than every row that was copied.
Status give_logs(const std::vector<NumberedFile>& logs, const fs::path& database) {
  std::uint64_t number = last_number(database);
  for (const auto& log : logs) {
    char name[32];
    std::snprintf(name, sizeof name, "%06llu.log", static_cast<unsigned long long>(++number));
    std::error_code error;
    fs::rename(log.path, database / name, error);
    if (error)
      return errno_error(error.value(), log.path.string());
  }
  return ok();
}

Result<fs::path> collect(const fs::path& copy) {
  std::error_code error;
  const fs::path aside = copy / "logs";
  const fs::path fresh = copy / "collected";
  fs::create_directory(aside, error);
  if (error)
    return errno_error(error.value(), aside.string());
  std::vector<NumberedFile> logs = numbered_files(copy, "", log_suffix);
  for (auto& log : logs) {
    const fs::path to = aside / log.path.filename();
    fs::rename(log.path, to, error);
    if (error)
      return errno_error(error.value(), log.path.string());
    log.path = to;
  }
  TROUPE_RETURN_IF_ERROR(discard(copy / "CURRENT"));
  for (const auto& manifest : numbered_files(copy, manifest_prefix, ""))
    TROUPE_RETURN_IF_ERROR(discard(manifest.path));
  {
    TROUPE_TRY(target, make_database(fresh, {}));
    if (!numbered_files(copy, "", ".sst").empty()) {
      TROUPE_TRY(tables, collect_tables(copy));
      TROUPE_RETURN_IF_ERROR(copy_all(tables, target));
    }
  }
  TROUPE_RETURN_IF_ERROR(give_logs(logs, fresh));
  return fresh;
}

Result<Salvaged> salvage_into(const fs::path& copy) {
  TROUPE_TRY(found, find_manifest(copy));
  if (found)
    return Salvaged{copy, copy, true};
  TROUPE_TRY(database, collect(copy));
  return Salvaged{copy, std::move(database), false};
}

}  // namespace

Result<Salvaged> salvage(const fs::path& experiment_dir) {
  TROUPE_TRY(copy, link_aside(store_folder(experiment_dir), "salvage"));
  auto salvaged = salvage_into(copy);
  if (salvaged)
    return salvaged;
  std::error_code ignored;
  fs::remove_all(copy, ignored);
  return std::move(salvaged).error().with_context("too little is left of the database's files");
}

}  // namespace troupe::detail
