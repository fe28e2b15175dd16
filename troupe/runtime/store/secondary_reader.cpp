#include <troupe/runtime/store/detail/verify.hpp>
#include <troupe/runtime/store/detail/view.hpp>
#include <troupe/runtime/store/detail/witness.hpp>
#include <troupe/runtime/store/secondary_reader.hpp>
#include <troupe/runtime/store/store.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>

#include <unistd.h>

namespace troupe {
namespace {

namespace fs = std::filesystem;
using detail::Database;
using detail::View;

/// The writer may replace files while we open; a moment later they fit together again.
constexpr int open_attempts = 5;
constexpr auto pause_between_attempts = std::chrono::milliseconds(20);

class ScratchDirectory {
public:
  static Result<ScratchDirectory> make() {
    std::error_code error;
    const fs::path base = fs::temp_directory_path(error);
    if (error)
      return errno_error(error.value(), "the system's folder for temporary files");
    std::string pattern = (base / "troupe-reader-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      return errno_error(errno, pattern);
    return ScratchDirectory(pattern);
  }
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    if (!path_.empty())
      fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

private:
  explicit ScratchDirectory(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

bool worth_another_try(const Error& error) {
  return error.code() == ErrorCode::io || error.code() == ErrorCode::corrupt;
}

struct Opened {
  Database database;
  std::string store_id;
};

Result<Opened> open_once(const fs::path& folder, const fs::path& scratch) {
  TROUPE_RETURN_IF_ERROR(detail::check_folder(folder, {}));
  TROUPE_TRY(database, detail::open_as_secondary(folder, scratch));
  const View view(database);
  TROUPE_TRY(schema, view.schema());
  TROUPE_RETURN_IF_ERROR(detail::check_schema(schema).with_context(folder.string()));
  TROUPE_TRY(store_id, view.store_id());
  return Opened{std::move(database), std::move(store_id)};
}

Result<Opened> open_patiently(const fs::path& folder, const fs::path& scratch) {
  auto opened = open_once(folder, scratch);
  for (int attempt = 1; attempt < open_attempts; ++attempt) {
    if (opened || !worth_another_try(opened.error()))
      break;
    std::this_thread::sleep_for(pause_between_attempts);
    opened = open_once(folder, scratch);
  }
  return opened;
}

class RocksSecondary final : public SecondaryReader {
public:
  RocksSecondary(fs::path experiment_dir, ScratchDirectory scratch, Opened opened)
      : experiment_dir_(std::move(experiment_dir)),
        scratch_(std::move(scratch)),
        store_id_(std::move(opened.store_id)),
        database_(std::move(opened.database)) {}

  Status refresh() override {
    const std::lock_guard one_at_a_time(refresh_mutex_);
    {
      const std::shared_lock lock(database_mutex_);
      if (database_ && database_.db().TryCatchUpWithPrimary().ok() && take_marks())
        return ok();
    }
    TROUPE_RETURN_IF_ERROR(reopen());
    const std::shared_lock lock(database_mutex_);
    return take_marks();
  }

  Result<std::optional<std::string>> get(Table table, std::string_view key) const override {
    return twice([&](const View& view) { return view.get(table, key); });
  }

  Status scan(Table table, std::string_view prefix, const RowVisitor& visit) const override {
    std::string next(prefix);
    return twice([&](const View& view) {
      return view.scan(table, prefix, next, [&](std::string_view key, std::string_view value) {
        next.assign(key);
        next.push_back('\0');
        return visit(key, value);
      });
    });
  }

  Status events(Sequence after, const EventVisitor& visit) const override {
    return twice([&](const View& view) {
      return view.events(after, [&](Sequence sequence, std::string_view event) {
        after = sequence;
        return visit(sequence, event);
      });
    });
  }

  Result<std::string> event(Sequence sequence) const override {
    return twice([&](const View& view) { return view.event(sequence); });
  }

  Watermarks watermarks() const override {
    const std::lock_guard lock(marks_mutex_);
    return marks_;
  }

  std::string store_id() const override { return store_id_; }

private:
  /// Reads; when a file was gone, opens again and reads on.
  template <class Read>
  auto twice(const Read& read) const -> decltype(read(std::declval<const View&>())) {
    {
      const std::shared_lock lock(database_mutex_);
      auto result = database_ ? read(View(database_)) : Error(ErrorCode::io, "not open");
      if (result || !worth_another_try(result.error()))
        return result;
    }
    TROUPE_RETURN_IF_ERROR(reopen());
    const std::shared_lock lock(database_mutex_);
    return read(View(database_));
  }

  Status reopen() const {
    const std::unique_lock lock(database_mutex_);
    database_ = Database();
    auto opened = open_patiently(store_folder(experiment_dir_), scratch_.path());
    if (!opened)
      return std::move(opened).error();
    if (opened->store_id != store_id_)
      return Error(ErrorCode::failed_precondition,
                   store_folder(experiment_dir_).string() + ": another store took its place");
    database_ = std::move(opened->database);
    return ok();
  }

  Status take_marks() {
    TROUPE_TRY(end, View(database_).high_water());
    Watermarks marks{end.sequence, Sequence(), end.chain};
    // A witness that can not be read is the writer's business; nothing is claimed durable then.
    const auto witness = detail::read_witness(witness_file(experiment_dir_));
    if (witness && *witness && (*witness)->store_id == store_id_)
      marks.durable = std::min((*witness)->mark.sequence, marks.accepted);
    const std::lock_guard lock(marks_mutex_);
    marks_ = marks;
    return ok();
  }

  const fs::path experiment_dir_;
  const ScratchDirectory scratch_;
  const std::string store_id_;
  std::mutex refresh_mutex_;
  mutable std::shared_mutex database_mutex_;
  mutable Database database_;
  mutable std::mutex marks_mutex_;
  Watermarks marks_;
};

}  // namespace

Result<std::unique_ptr<SecondaryReader>> open_secondary(const fs::path& experiment_dir) {
  std::error_code error;
  const fs::path absolute = fs::absolute(experiment_dir, error);
  if (error)
    return errno_error(error.value(), experiment_dir.string());
  TROUPE_TRY(scratch, ScratchDirectory::make());
  TROUPE_TRY(opened, open_patiently(store_folder(absolute), scratch.path()));
  auto reader = std::make_unique<RocksSecondary>(absolute, std::move(scratch), std::move(opened));
  TROUPE_RETURN_IF_ERROR(reader->refresh());
  return std::unique_ptr<SecondaryReader>(std::move(reader));
}

}  // namespace troupe
