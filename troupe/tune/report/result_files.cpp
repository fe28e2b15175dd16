#include <troupe/base/file.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/report/csv.hpp>
#include <troupe/tune/report/result_files.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe::tune {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_broken = 1000;

fs::path json_path(const TrialFileInfo& trial) {
  return trial.dir / "result.json";
}
fs::path csv_path(const TrialFileInfo& trial) {
  return trial.dir / "progress.csv";
}
fs::path error_path(const TrialFileInfo& trial) {
  return trial.dir / "error.txt";
}

/// Appends all of `text` or, where that fails, leaves the file as it was.
Status append_text(const fs::path& path, std::string_view text) {
  TROUPE_TRY(file, open_file(path, O_WRONLY | O_CREAT | O_APPEND));
  struct stat before {};
  if (::fstat(file.get(), &before) != 0)
    return errno_error(errno, "cannot append to '" + path.string() + "'");
  Status written = write_all(file.get(), text, path.string());
  if (written)
    written = file.close(path.string());
  if (!written && file && ::ftruncate(file.get(), before.st_size) != 0)
    return errno_error(errno, "cannot take back a half written line of '" + path.string() + "'");
  return written;
}

/// Replaces a small file in one step. Not synced: it can be made again from the journal.
Status replace_file(const fs::path& path, std::string_view text) {
  const std::string part = path.string() + ".part";
  {
    TROUPE_TRY(file, open_file(part, O_WRONLY | O_CREAT | O_TRUNC));
    TROUPE_RETURN_IF_ERROR(write_all(file.get(), text, part));
  }
  if (std::rename(part.c_str(), path.c_str()) != 0)
    return errno_error(errno, "cannot replace '" + path.string() + "'");
  return ok();
}

/// Makes the trial's folder and params.json where they are missing.
Status ensure_folder(const TrialFileInfo& trial) {
  std::error_code error;
  fs::create_directories(trial.dir, error);
  if (error)
    return errno_error(error.value(), "cannot make '" + trial.dir.string() + "'");
  const std::string text = params_json(trial.config);
  const fs::path path = trial.dir / "params.json";
  const auto there = read_file(path, limits::max_message_bytes);
  if (there && *there == text)
    return ok();
  return replace_file(path, text);
}

/// The last `size` bytes of a file; empty when there is no file.
Result<std::string> read_tail(const fs::path& path, std::size_t size) {
  auto file = open_file(path, O_RDONLY);
  if (!file && file.error().code() == ErrorCode::not_found)
    return std::string();
  if (!file)
    return std::move(file).error();
  const off_t end = ::lseek(file->get(), 0, SEEK_END);
  const off_t start = std::max<off_t>(0, end - static_cast<off_t>(size));
  if (end < 0 || ::lseek(file->get(), start, SEEK_SET) < 0)
    return errno_error(errno, "cannot read '" + path.string() + "'");
  return read_up_to(file->get(), size, path.string());
}

/// The last whole line without its end; what a crash left behind it is cut off. Empty: no line.
Result<std::string> last_line(const fs::path& path) {
  for (std::size_t size = 64 * limits::kib;; size *= 8) {
    TROUPE_TRY(tail, read_tail(path, size));
    const bool whole_file = tail.size() < size;
    const std::size_t end = tail.rfind('\n');
    const std::size_t before =
        end == std::string::npos || end == 0 ? std::string::npos : tail.rfind('\n', end - 1);
    if (before == std::string::npos && !whole_file && size < limits::max_message_bytes)
      continue;
    const std::size_t cut_off = end == std::string::npos ? tail.size() : tail.size() - end - 1;
    if (cut_off > 0) {
      std::error_code error;
      const auto length = fs::file_size(path, error);
      if (!error)
        fs::resize_file(path, length - cut_off, error);
      if (error)
        return errno_error(error.value(), "cannot repair '" + path.string() + "'");
    }
    if (end == std::string::npos)
      return std::string();
    return tail.substr(before == std::string::npos ? 0 : before + 1,
                       end - (before == std::string::npos ? 0 : before + 1));
  }
}

std::optional<uint64_t> to_number(std::string_view text) {
  uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
    return std::nullopt;
  return number;
}

/// How far a file goes: 0 for none, nothing when it cannot be trusted.
using Reach = std::optional<uint64_t>;

Result<Reach> reach_of_json(const fs::path& path) {
  TROUPE_TRY(line, last_line(path));
  if (line.empty())
    return Reach(0);
  const auto parsed = parse_json(line);
  if (!parsed || !parsed->is_map())
    return Reach();
  const Value* iteration = parsed->as_map().find_key("training_iteration");
  if (iteration == nullptr || !iteration->is_int() || iteration->as_int() < 1)
    return Reach();
  return Reach(static_cast<uint64_t>(iteration->as_int()));
}

Result<Reach> reach_of_csv(const fs::path& path, CsvColumns& columns) {
  // A quoted field may hold a line end, so that the last line need not be a record. Then, as with
  // any other doubt, the file is written anew.
  TROUPE_TRY(line, last_line(path));
  if (line.empty())
    return Reach(0);
  TROUPE_TRY(file, open_file(path, O_RDONLY));
  TROUPE_TRY(head, read_up_to(file.get(), limits::mib, path.string()));
  std::string_view rest = head;
  auto header = take_csv_record(rest);
  if (!header)
    return Reach();
  line += '\n';
  std::string_view record_text = line;
  const auto record = take_csv_record(record_text);
  const auto column = std::find(header->begin(), header->end(), "training_iteration");
  if (!record || record->size() != header->size() || column == header->end())
    return Reach();
  const auto index = static_cast<std::size_t>(column - header->begin());
  const bool only_header = *record == *header;
  columns = CsvColumns(std::move(*header));
  return only_header ? Reach(0) : to_number((*record)[index]);
}

}  // namespace

ResultFiles::ResultFiles(TrialSource& source, std::size_t max_pending_bytes)
    : source_(source), max_pending_bytes_(max_pending_bytes) {}

Status ResultFiles::trial_created(const TrialFileInfo& trial) {
  TROUPE_TRY(files, open(trial.id));
  const Status written = ensure_folder(trial);
  if (!written)
    set_broken(*files, written.error());
  return ok();
}

Result<ResultFiles::Files*> ResultFiles::open(TrialId id) {
  const auto found = open_.find(id);
  if (found != open_.end())
    return &found->second;
  TROUPE_TRY(info, source_.trial(id));
  Files& files = open_[id];
  files.config_json = finite_json(info.config);
  files.info = std::move(info);
  if (const Status loaded = load(files); !loaded)
    set_broken(files, loaded.error());
  return &files;
}

Status ResultFiles::load(Files& files) {
  TROUPE_TRY(json, reach_of_json(json_path(files.info)));
  TROUPE_TRY(csv, reach_of_csv(csv_path(files.info), files.columns));
  constexpr std::size_t error_tail = 256 * limits::kib;
  TROUPE_TRY(errors, read_tail(error_path(files.info), error_tail));
  files.last_failure = last_error(errors);
  files.columns_in_file = files.columns.names().size();
  if (json && csv && *json == *csv) {
    files.last_iteration = *json;
    return ok();
  }
  return rebuild(files, std::max(json.value_or(0), csv.value_or(0)));
}

Status ResultFiles::rebuild(Files& files, uint64_t last) {
  drop_pending(files);
  files.columns = CsvColumns();
  files.columns_in_file = 0;
  files.last_iteration = 0;
  Status done = ok();
  for (const fs::path& path : {json_path(files.info), csv_path(files.info)}) {
    const Result<bool> removed = remove_file(path);
    if (!removed)
      done = removed.error();
  }
  if (done) {
    done = source_.results(files.info.id, last, [&](const ResultLine& line) -> Status {
      add(files, line);
      if (files.json.size() < max_pending_bytes_)
        return ok();
      return write(files);
    });
  }
  if (!done)
    files.last_iteration = last;
  dirty_.push_back(files.info.id);
  return done;
}

void ResultFiles::add(Files& files, const ResultLine& line) {
  const Metrics fields = result_fields(files.info, line);
  const std::string text = result_json_line(fields, files.config_json);
  files.json += text;
  files.rows.push_back(files.columns.record(fields));
  // The cells take about as much as the text of the line.
  files.row_bytes += text.size();
  pending_bytes_ += 2 * text.size();
  files.last_iteration = line.iteration;
}

Status ResultFiles::result(TrialId id, const ResultLine& line) {
  TROUPE_TRY(files, open(id));
  if (line.iteration <= files->last_iteration)
    return ok();
  if (!files->broken && line.iteration != files->last_iteration + 1) {
    const Status rebuilt = rebuild(*files, line.iteration - 1);
    if (!rebuilt)
      set_broken(*files, rebuilt.error());
  }
  if (files->broken) {
    files->last_iteration = line.iteration;
    return ok();
  }
  add(*files, line);
  changed(id);
  return ok();
}

Status ResultFiles::failure(TrialId id, uint64_t event, int64_t wall_ms, std::string_view message) {
  TROUPE_TRY(files, open(id));
  if (event <= files->last_failure.event)
    return ok();
  files->last_failure = {.number = files->last_failure.number + 1, .event = event};
  const std::string text = error_entry(files->last_failure, wall_ms, message);
  files->errors += text;
  pending_bytes_ += text.size();
  changed(id);
  return ok();
}

void ResultFiles::trial_ended(TrialId id) {
  const auto found = open_.find(id);
  if (found == open_.end())
    return;
  found->second.ended = true;
  changed(id);
}

Status ResultFiles::start_over(TrialId id) {
  TROUPE_TRY(info, source_.trial(id));
  open_.erase(id);
  for (const fs::path& path : {json_path(info), csv_path(info), error_path(info)}) {
    const Result<bool> removed = remove_file(path);
    if (removed)
      continue;
    TROUPE_TRY(files, open(id));
    set_broken(*files, removed.error());
  }
  return ok();
}

Status ResultFiles::write(Files& files) {
  if (!files.json.empty()) {
    TROUPE_RETURN_IF_ERROR(append_text(json_path(files.info), files.json));
    pending_bytes_ -= std::min(pending_bytes_, files.json.size());
    files.json.clear();
  }
  if (!files.rows.empty())
    TROUPE_RETURN_IF_ERROR(write_csv(files));
  if (!files.errors.empty()) {
    TROUPE_RETURN_IF_ERROR(append_text(error_path(files.info), files.errors));
    pending_bytes_ -= std::min(pending_bytes_, files.errors.size());
    files.errors.clear();
  }
  return ok();
}

Status ResultFiles::write_csv(Files& files) {
  const std::vector<std::string>& names = files.columns.names();
  std::string text;
  if (files.columns_in_file == 0) {
    text = csv_record(names);
  } else if (names.size() > files.columns_in_file) {
    const std::span<const std::string> all(names);
    TROUPE_RETURN_IF_ERROR(widen_csv(csv_path(files.info), all.subspan(files.columns_in_file)));
    files.columns_in_file = names.size();
  }
  for (std::vector<std::string>& row : files.rows) {
    row.resize(names.size());
    text += csv_record(row);
  }
  TROUPE_RETURN_IF_ERROR(append_text(csv_path(files.info), text));
  files.columns_in_file = names.size();
  pending_bytes_ -= std::min(pending_bytes_, files.row_bytes);
  files.rows.clear();
  files.row_bytes = 0;
  return ok();
}

void ResultFiles::drop_pending(Files& files) {
  pending_bytes_ -= std::min(pending_bytes_, files.json.size() + files.row_bytes);
  files.json.clear();
  files.rows.clear();
  files.row_bytes = 0;
}

void ResultFiles::set_broken(Files& files, const Error& error) {
  if (reason_.empty())
    reason_ = error.message();
  files.broken = true;
  broken_.insert(files.info.id);
  drop_pending(files);
}

void ResultFiles::changed(TrialId id) {
  dirty_.push_back(id);
  if (pending_bytes_ >= max_pending_bytes_)
    flush();
}

void ResultFiles::flush() {
  std::sort(dirty_.begin(), dirty_.end());
  dirty_.erase(std::unique(dirty_.begin(), dirty_.end()), dirty_.end());
  for (const TrialId id : dirty_) {
    const auto found = open_.find(id);
    if (found == open_.end() || found->second.broken)
      continue;
    const Status written = write(found->second);
    if (!written) {
      set_broken(found->second, written.error());
    } else if (found->second.ended) {
      open_.erase(found);
    }
  }
  dirty_.clear();
}

void ResultFiles::retry() {
  const std::vector<TrialId> ids(broken_.begin(), broken_.end());
  for (const TrialId id : ids) {
    Files& files = open_[id];
    Status written = ensure_folder(files.info);
    if (written)
      written = rebuild(files, files.last_iteration);
    if (written)
      written = write(files);
    if (written) {
      files.broken = false;
      broken_.erase(id);
    } else {
      drop_pending(files);
    }
    if (!files.ended)
      continue;
    if (written) {
      open_.erase(id);
    } else if (broken_.size() > max_broken) {
      // What can not be written for so long is not kept in mind for ever; the journal has it.
      broken_.erase(id);
      open_.erase(id);
      ++given_up_;
    }
  }
}

}  // namespace troupe::tune
