#include <troupe/runtime/store/detail/live.hpp>
#include <troupe/runtime/store/detail/recovery.hpp>
#include <troupe/runtime/store/detail/witness.hpp>
#include <troupe/runtime/store/secondary_reader.hpp>
#include <troupe/runtime/store/store.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>

namespace troupe {
namespace {

namespace fs = std::filesystem;
using detail::LiveView;
using detail::View;
using detail::Witness;

bool worth_another_try(const Error& error) {
  return error.code() == ErrorCode::io || error.code() == ErrorCode::corrupt;
}

/// The witness and the view that was opened after it: a writer, which writes the witness last, is
/// never behind it.
using WitnessRead = Result<std::optional<Witness>>;
struct Opened {
  WitnessRead witness;
  LiveView view;
};

std::optional<Witness> or_none(const WitnessRead& witness) {
  return witness ? *witness : std::nullopt;
}

Result<Opened> open_view(const fs::path& experiment_dir) {
  auto witness = detail::read_witness(witness_file(experiment_dir));
  const fs::path folder = store_folder(experiment_dir);
  auto view = detail::open_live(folder, or_none(witness));
  if (view)
    return Opened{std::move(witness), view.take()};
  if (view.error().code() == ErrorCode::not_found && witness && *witness)
    return detail::store_is_gone(folder, **witness);
  return std::move(view).error();
}

class RocksSecondary final : public SecondaryReader {
public:
  RocksSecondary(fs::path experiment_dir, Opened opened)
      : experiment_dir_(std::move(experiment_dir)),
        store_id_(opened.view.facts.store_id),
        witness_(std::move(opened.witness)),
        view_(std::move(opened.view)) {
    take_marks();
  }

  /// Nobody reads meanwhile: half-way the view may have a hole.
  Status refresh() override {
    const std::unique_lock lock(view_mutex_);
    if (!view_.database || !follow())
      TROUPE_RETURN_IF_ERROR(reopen());
    take_marks();
    return ok();
  }

  std::vector<std::string> notes() const override {
    const std::lock_guard lock(marks_mutex_);
    return notes_;
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

  // All of these with the lock held alone.

  bool follow() {
    witness_ = detail::read_witness(witness_file(experiment_dir_));
    return detail::catch_up(view_, or_none(witness_)).has_value();
  }

  Status reopen() const {
    view_.database = {};
    TROUPE_TRY(opened, open_view(experiment_dir_));
    if (opened.view.facts.store_id != store_id_)
      return Error(ErrorCode::failed_precondition,
                   store_folder(experiment_dir_).string() + ": another store took its place");
    witness_ = std::move(opened.witness);
    view_ = std::move(opened.view);
    return ok();
  }

  void take_marks() {
    Watermarks marks{view_.facts.end.sequence, Sequence(), view_.facts.end.chain};
    std::vector<std::string> notes;
    if (!view_.damaged_log.empty())
      notes.push_back("the end of the log is damaged and left out here, as at the next restore (" +
                      view_.damaged_log + ")");
    if (view_.loss)
      notes.push_back(view_.loss->message());
    // Nothing is claimed durable by a witness that can not be read or is of another store.
    if (!witness_) {
      notes.push_back(witness_.error().message());
    } else if (*witness_ && (*witness_)->store_id == store_id_) {
      marks.durable = std::min((*witness_)->mark.sequence, marks.accepted);
    }
    const std::lock_guard lock(marks_mutex_);
    marks_ = marks;
    notes_ = std::move(notes);
  }

  const fs::path experiment_dir_;
  const std::string store_id_;
  mutable std::shared_mutex view_mutex_;  ///< of the two below
  mutable WitnessRead witness_;
  mutable LiveView view_;
  mutable std::mutex marks_mutex_;  ///< of the two below
  Watermarks marks_;
  std::vector<std::string> notes_;
};

}  // namespace

Result<std::unique_ptr<SecondaryReader>> open_secondary(const fs::path& experiment_dir,
                                                        const ReaderOptions& options) {
  std::error_code error;
  const fs::path absolute = fs::absolute(experiment_dir, error);
  if (error)
    return errno_error(error.value(), experiment_dir.string());
  TROUPE_TRY(opened, open_view(absolute));
  if (options.refuse_loss) {
    if (!opened.witness)
      return std::move(opened.witness).error();
    if (opened.view.loss)
      return *std::move(opened.view.loss);
  }
  return std::unique_ptr<SecondaryReader>(
      std::make_unique<RocksSecondary>(absolute, std::move(opened)));
}

}  // namespace troupe
