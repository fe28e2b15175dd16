#include <troupe/runtime/store/detail/live.hpp>
#include <troupe/runtime/store/detail/witness.hpp>
#include <troupe/runtime/store/secondary_reader.hpp>
#include <troupe/runtime/store/store.hpp>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

#include <unistd.h>

namespace troupe {
namespace {

namespace fs = std::filesystem;
using detail::LiveView;
using detail::View;

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

class RocksSecondary final : public SecondaryReader {
public:
  RocksSecondary(fs::path experiment_dir, ScratchDirectory scratch, LiveView view)
      : experiment_dir_(std::move(experiment_dir)),
        scratch_(std::move(scratch)),
        store_id_(view.facts.store_id),
        view_(std::move(view)) {}

  /// Nobody reads meanwhile: half-way the view may have a hole.
  Status refresh() override {
    const std::unique_lock lock(view_mutex_);
    if (!view_.database || !detail::catch_up(view_))
      TROUPE_RETURN_IF_ERROR(reopen());
    take_marks();
    return ok();
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
      const std::shared_lock lock(view_mutex_);
      auto result = view_.database ? read(View(view_.database)) : Error(ErrorCode::io, "not open");
      if (result || !worth_another_try(result.error()))
        return result;
    }
    {
      const std::unique_lock lock(view_mutex_);
      TROUPE_RETURN_IF_ERROR(reopen());
    }
    const std::shared_lock lock(view_mutex_);
    if (!view_.database)
      return Error(ErrorCode::io, "not open");
    return read(View(view_.database));
  }

  /// With the lock held alone.
  Status reopen() const {
    view_.database = {};
    TROUPE_TRY(view, detail::open_live(store_folder(experiment_dir_), scratch_.path()));
    if (view.facts.store_id != store_id_)
      return Error(ErrorCode::failed_precondition,
                   store_folder(experiment_dir_).string() + ": another store took its place");
    view_ = std::move(view);
    return ok();
  }

  void take_marks() {
    Watermarks marks{view_.facts.end.sequence, Sequence(), view_.facts.end.chain};
    // A witness that can not be read is the writer's business; nothing is claimed durable then.
    const auto witness = detail::read_witness(witness_file(experiment_dir_));
    if (witness && *witness && (*witness)->store_id == store_id_)
      marks.durable = std::min((*witness)->mark.sequence, marks.accepted);
    const std::lock_guard lock(marks_mutex_);
    marks_ = marks;
  }

  const fs::path experiment_dir_;
  const ScratchDirectory scratch_;
  const std::string store_id_;
  mutable std::shared_mutex view_mutex_;
  mutable LiveView view_;
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
  TROUPE_TRY(opened, detail::open_live(store_folder(absolute), scratch.path()));
  auto reader = std::make_unique<RocksSecondary>(absolute, std::move(scratch), std::move(opened));
  TROUPE_RETURN_IF_ERROR(reader->refresh());
  return std::unique_ptr<SecondaryReader>(std::move(reader));
}

}  // namespace troupe
