#include <troupe/base/file.hpp>
#include <troupe/runtime/store/detail/copier.hpp>
#include <troupe/runtime/store/detail/repair.hpp>
#include <troupe/runtime/store/detail/witness.hpp>
#include <troupe/runtime/store/keys.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <stdio.h>

namespace troupe::detail {
namespace {

namespace fs = std::filesystem;

Status copy_events(const View& source, HighWater end, Copier& copier) {
  Status copied;
  const auto read = source.pairs(index_of(Family::events), "", [&](auto key, auto value) {
    const auto sequence = parse_event_key(key);
    if (!sequence || *sequence > end.sequence)
      return false;
    copied = copier.put(index_of(Family::events), key, value);
    return copied.has_value() && *sequence != end.sequence;
  });
  if (!read)
    return read;
  TROUPE_RETURN_IF_ERROR(std::move(copied));
  return copier.put(index_of(Family::meta), high_water_key, encode(end));
}

/// Copies the sound rows of one table after another; what is dropped is noted.
class RowCopier {
public:
  RowCopier(const View& source, const Examination& found, Copier& copier, Repair& repair)
      : source_(source), found_(found), copier_(copier), repair_(repair) {}

  Status copy(Table table) {
    if (table == Table::experiment)
      return copy_experiment();
    if (!found_.rows_current || (table == Table::state && !all_sound(table)))
      return drop(table);
    Status copied;
    const auto read = source_.pairs(index_of(table), "", [&](auto key, auto value) {
      if (wrong_with_row(table, key, value, found_.good.sequence).empty()) {
        copied = copier_.put(index_of(table), key, value);
      } else {
        note_dropped(table, key);
      }
      return copied.has_value();
    });
    if (!read)
      note("table " + std::string(to_string(table)) + ": what comes after the damage");
    return copied;
  }

private:
  /// Without its own rows an experiment can not go on: all of them, or no repair. They may be newer
  /// than the events; their number is set back.
  Status copy_experiment() {
    Status copied;
    const std::size_t family = index_of(Table::experiment);
    const auto read = source_.pairs(family, "", [&](auto key, auto value) {
      auto row = parse_row(value);
      if (!row) {
        copied = std::move(row).error();
      } else {
        const Sequence with = std::min(row->written_with, found_.good.sequence);
        copied = copier_.put(family, key, row_prefix(with) + std::string(row->record));
      }
      return copied.has_value();
    });
    if (!read)
      return read;
    return copied;
  }

  bool all_sound(Table table) const {
    bool sound = true;
    const auto read = source_.pairs(index_of(table), "", [&](auto key, auto value) {
      sound = wrong_with_row(table, key, value, found_.good.sequence).empty();
      return sound;
    });
    return sound && read.has_value();
  }

  /// Snapshots belong together, and rows that may be older than they look can not be told apart.
  Status drop(Table table) {
    const auto read = source_.pairs(index_of(table), "", [&](auto key, auto) {
      note_dropped(table, key);
      return true;
    });
    if (!read)
      note("table " + std::string(to_string(table)) + ": rows that can not be read");
    if (table == Table::state)
      repair_.replayed_from_start = true;
    return ok();
  }

  void note_dropped(Table table, std::string_view key) {
    ++repair_.dropped_rows;
    note("table " + std::string(to_string(table)) + ", key " + show_key(key));
  }

  void note(std::string what) {
    if (repair_.dropped.size() < max_dropped_named)
      repair_.dropped.push_back(std::move(what));
  }

  static constexpr std::size_t max_dropped_named = 100;

  const View& source_;
  const Examination& found_;
  Copier& copier_;
  Repair& repair_;
};

Status fill(Database& target, const View& source, const Examination& found, Repair& repair) {
  TROUPE_RETURN_IF_ERROR(write_identity(target, found.store_id));
  Copier copier(target);
  TROUPE_RETURN_IF_ERROR(copy_events(source, found.good, copier));
  RowCopier rows(source, found, copier, repair);
  for (std::size_t i = 1; i <= table_count; ++i)
    TROUPE_RETURN_IF_ERROR(rows.copy(static_cast<Table>(i)));
  if (!repair.dropped.empty()) {
    const std::string mark =
        row_prefix(found.good.sequence) + encode(RowsDropped{found.good.sequence});
    TROUPE_RETURN_IF_ERROR(copier.put(index_of(Table::state), keys::state_dropped, mark));
  }
  return copier.finish();
}

Result<fs::path> free_name(const fs::path& wanted) {
  std::error_code ignored;
  for (int number = 1; number < 10'000; ++number) {
    fs::path candidate = wanted.string() + "-" + std::to_string(number);
    if (!fs::exists(candidate, ignored))
      return candidate;
  }
  return Error(ErrorCode::resource_exhausted,
               wanted.string() + ": too many copies of earlier repairs; remove some");
}

}  // namespace

Result<Repair> cut_log(const fs::path& experiment_dir, FolderLock& lock) {
  const fs::path folder = store_folder(experiment_dir);
  TROUPE_TRY(aside, link_aside(folder, "before-repair"));
  lock.release();  // opening for writing takes it
  TROUPE_TRY(database, open_database(folder, {}, LogMode::point_in_time));
  TROUPE_TRY(facts, verify_events(View(database), true));
  Repair repair;
  repair.kept = facts.end.sequence;
  repair.kept_aside = aside;
  return repair;
}

Result<Repair> rebuild(const fs::path& experiment_dir, const View& source,
                       const Examination& found) {
  const fs::path folder = store_folder(experiment_dir);
  const fs::path fresh = folder.string() + ".repaired";
  std::error_code error;
  fs::remove_all(fresh, error);
  if (error)
    return errno_error(error.value(), fresh.string());
  Repair repair;
  {
    TROUPE_TRY(target, make_database(fresh, {}));
    TROUPE_RETURN_IF_ERROR(fill(target, source, found, repair));
    TROUPE_TRY(facts, verify_events(View(target), true));
    repair.kept = facts.end.sequence;
  }
  TROUPE_RETURN_IF_ERROR(fsync_directory(fresh));
  // One step: at every moment there is a whole store under the name, the old or the new one.
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) != 0)
    return errno_error(errno, "exchanging " + folder.string() + " and " + fresh.string());
  TROUPE_TRY(aside, free_name(folder.string() + ".before-repair"));
  if (::rename(fresh.c_str(), aside.c_str()) != 0)
    return errno_error(errno, aside.string());
  TROUPE_RETURN_IF_ERROR(fsync_directory(experiment_dir));
  repair.kept_aside = aside;
  return repair;
}

Status renew_witness(const fs::path& experiment_dir, const std::string& store_id, HighWater mark) {
  const fs::path file = witness_file(experiment_dir);
  std::error_code error;
  if (fs::exists(file, error)) {
    TROUPE_TRY(aside, free_name(file.string() + ".before-repair"));
    fs::copy_file(file, aside, error);
    if (error)
      return errno_error(error.value(), aside.string());
  }
  return write_witness(file, {store_id, mark});
}

}  // namespace troupe::detail
