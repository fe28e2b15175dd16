#include <troupe/runtime/store/detail/examine.hpp>
#include <troupe/runtime/store/detail/live.hpp>
#include <troupe/runtime/store/detail/repair.hpp>
#include <troupe/runtime/store/detail/salvage.hpp>
#include <troupe/runtime/store/detail/witness.hpp>
#include <troupe/runtime/store/doctor.hpp>
#include <troupe/runtime/store/keys.hpp>
#include <troupe/runtime/store/store.hpp>

#include <algorithm>
#include <utility>

namespace troupe {
namespace {

namespace fs = std::filesystem;
using detail::Database;
using detail::Examination;
using detail::FolderLock;
using detail::HighWater;
using detail::LogMode;
using detail::View;

/// From what the store was read.
enum class Source {
  none,   ///< the database does not open
  live,   ///< beside a running writer
  whole,  ///< with all of its log
  cut,    ///< up to the damage in its log
};

/// One examination of one experiment.
class Doctor {
public:
  Doctor(fs::path experiment_dir, DoctorOptions options)
      : options_(options), folder_(store_folder(experiment_dir)) {
    report_.experiment_dir = std::move(experiment_dir);
  }
  ~Doctor() {
    std::error_code ignored;
    database_ = Database();
    if (!scratch_.empty())
      fs::remove_all(scratch_, ignored);
  }
  Doctor(const Doctor&) = delete;
  Doctor& operator=(const Doctor&) = delete;

  Result<DoctorReport> run() {
    TROUPE_RETURN_IF_ERROR(read_witness());
    note_leftovers();
    TROUPE_RETURN_IF_ERROR(look_for_writer());
    open();
    if (source_ != Source::none) {
      found_ = examine(View(database_), source_ == Source::live, findings_);
      report_.store_id = found_.store_id;
      report_.written_by = found_.schema.written_by;
      report_.events = found_.events;
      report_.rows = found_.rows;
      report_.accepted = found_.good.sequence;
      compare();
    }
    if (options_.accept_loss && (findings_.any(Severity::damage) || source_ == Source::cut))
      repair();
    report_.findings = findings_.take();
    return std::move(report_);
  }

private:
  Status read_witness() {
    const fs::path file = witness_file(report_.experiment_dir);
    auto witness = detail::read_witness(file);
    if (!witness) {
      if (witness.error().code() == ErrorCode::io)
        return std::move(witness).error();
      findings_.add(Severity::damage, file.string(), witness.error().message(),
                    "if nothing else is damaged, remove the file: the next opening makes it anew");
      return ok();
    }
    witness_ = witness.take();
    if (witness_)
      report_.witnessed = witness_->mark.sequence;
    return ok();
  }

  void note_leftovers() {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(report_.experiment_dir, ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("store.before-") || name.starts_with("store.salvage-"))
        findings_.add(Severity::note, entry.path().string(),
                      "the store as it was before an earlier recovery or repair",
                      "remove it when it is not needed any more");
    }
  }

  /// Takes the lock, so that nobody starts to write meanwhile; without one there can be no writer.
  Status look_for_writer() {
    std::error_code ignored;
    const fs::path needed = options_.accept_loss ? folder_ : folder_ / "LOCK";
    if (!fs::exists(needed, ignored))
      return ok();
    auto lock = FolderLock::acquire(folder_, {});
    if (lock) {
      lock_.emplace(lock.take());
      return ok();
    }
    if (options_.accept_loss)
      return std::move(lock).error();
    if (lock.error().code() == ErrorCode::unavailable) {
      report_.in_use = true;
      findings_.add(Severity::note, folder_.string(),
                    "a run has the experiment open: this is a "
                    "view of the moment, and the checksums of whole files were left out");
    }
    look_beside_ = true;
    return ok();
  }

  void open() {
    if (auto status = detail::check_folder(folder_, {}); !status) {
      const ErrorCode code = status.error().code();
      does_not_open(status.error(), code == ErrorCode::corrupt || code == ErrorCode::io);
    } else if (look_beside_) {
      open_beside();
    } else {
      open_locked();
    }
  }

  void does_not_open(const Error& error, bool repairable = true) {
    repairable_ = repairable;
    const char* remedy =
        "restore the folder from a backup, or keep what can still be read with "
        "`troupe doctor --accept-loss`";
    if (!repairable)
      remedy = "restore the folder from a backup: there is nothing that a repair could keep";
    if (error.code() == ErrorCode::version_mismatch)
      remedy = "use the newer Troupe";
    findings_.add(Severity::damage, folder_.string(), error.message(), remedy);
  }

  void open_beside() {
    auto view = detail::open_live(folder_, witness_);
    if (view) {
      if (!view->damaged_log.empty())
        warn_of_cut(view->damaged_log);
      return use(std::move(view->database), Source::live);
    }
    // A hole that stays is no accident of the moment: look at it all the same.
    auto database = detail::open_as_secondary(folder_);
    if (!database)
      return does_not_open(view.error());
    use(database.take(), Source::live);
  }

  void warn_of_cut(const std::string& damage) {
    findings_.add(Severity::warning, "log of the database",
                  "its end is damaged, and is dropped at the next restore: " + damage,
                  "none is needed if the machine lost power; otherwise keep a copy of the folder. "
                  "`troupe doctor --repair` cuts it now");
  }

  /// As an opening for writing would, without the writing.
  void open_locked() {
    auto whole = detail::open_read_only(folder_, {}, LogMode::tolerate_tail);
    Status refused;
    if (!whole) {
      refused = whole.error();
    } else if (auto facts = detail::verify_events(View(*whole), false); !facts) {
      refused = facts.error();
    }
    if (refused)
      return use(whole.take(), Source::whole);
    auto cut = detail::open_read_only(folder_, {}, LogMode::point_in_time);
    if (cut && detail::verify_events(View(*cut), false)) {
      warn_of_cut(refused.error().message());
      return use(cut.take(), Source::cut);
    }
    if (whole)
      return use(whole.take(), Source::whole);
    if (cut)
      return use(cut.take(), Source::cut);
    does_not_open(refused.error());
  }

  void use(Database database, Source source) {
    database_ = std::move(database);
    source_ = source;
    repairable_ = true;
  }

  void compare() {
    if (const auto status = detail::check_schema(found_.schema); !status) {
      findings_.add(Severity::damage, folder_.string(), status.error().message());
      repairable_ = false;
      return;
    }
    if (!witness_) {
      if (found_.good.sequence.value > 0 && !findings_.any(Severity::damage))
        findings_.add(Severity::warning, witness_file(report_.experiment_dir).string(),
                      "the witness is missing: nobody can say whether events at the end are gone",
                      "the next opening makes it anew");
      return;
    }
    const detail::StoreFacts facts{found_.schema, found_.store_id, found_.good};
    const auto status =
        detail::compare_with_witness(View(database_), facts, *witness_, folder_.string());
    if (!status)
      findings_.add(Severity::damage, witness_file(report_.experiment_dir).string(),
                    status.error().message(),
                    "restore the folder from a backup, or give up what is missing with `troupe "
                    "doctor --accept-loss`");
  }

  // -- repair -----------------------------------------------------------------------------------

  void repair() {
    auto repaired = repairable_ ? try_repair()
                                : Error(ErrorCode::failed_precondition, "this is not for a repair");
    if (!repaired) {
      findings_.add(Severity::damage, "repair", "it was not done: " + repaired.error().message(),
                    "restore the folder from a backup; without one, remove it and begin anew");
      return;
    }
    report_.repair = repaired.take();
    report_.accepted = report_.repair->kept;
  }

  Result<Repair> try_repair() {
    if (source_ == Source::none)
      TROUPE_RETURN_IF_ERROR(open_salvaged());
    TROUPE_RETURN_IF_ERROR(check_worth());
    if (found_.store_id.empty() && witness_)
      found_.store_id = witness_->store_id;
    if (found_.store_id.empty()) {
      TROUPE_TRY(store_id, detail::make_store_id());
      found_.store_id = std::move(store_id);
    }
    Repair repair;
    if (source_ == Source::none || !found_.sound() || !found_.rows_current) {
      TROUPE_TRY(done, detail::rebuild(report_.experiment_dir, View(database_), found_));
      repair = done;
    } else if (source_ == Source::cut) {
      database_ = Database();
      TROUPE_TRY(done, detail::cut_log(report_.experiment_dir, *lock_));
      repair = done;
    } else {
      TROUPE_TRY(aside, detail::link_aside(folder_, "before-repair"));
      repair.kept = found_.good.sequence;
      repair.kept_aside = aside;
    }
    const Sequence known = std::max({found_.claimed.sequence, report_.witnessed, repair.kept});
    repair.lost_events = known.value - repair.kept.value;
    TROUPE_RETURN_IF_ERROR(
        detail::renew_witness(report_.experiment_dir, found_.store_id, found_.good));
    return repair;
  }

  /// Without its first event or its specification nobody can go on with an experiment, and a store
  /// that looks whole would hide that.
  Status check_worth() const {
    const auto spec = View(database_).get(Table::experiment, keys::experiment_spec);
    if (found_.good.sequence.value > 0 && spec && *spec)
      return ok();
    return Error(ErrorCode::data_loss,
                 "the " +
                     std::string(found_.good.sequence.value > 0 ? "" : "first event and the ") +
                     "specification of the experiment can not be read any more, and without them "
                     "nothing can go on. Nothing was changed");
  }

  Status open_salvaged() {
    TROUPE_TRY(salvaged, detail::salvage(report_.experiment_dir));
    scratch_ = salvaged.copy;
    TROUPE_TRY(database, detail::open_read_only(salvaged.database, {}, LogMode::point_in_time));
    database_ = std::move(database);
    detail::Findings of_the_copy;
    found_ = examine(View(database_), false, of_the_copy);
    // A file that is gone leaves no trace in the rows: older ones may have come to light.
    found_.rows_current = salvaged.files_known;
    return ok();
  }

  DoctorOptions options_;
  DoctorReport report_;
  fs::path folder_;
  fs::path scratch_;
  detail::Findings findings_;
  std::optional<detail::Witness> witness_;
  std::optional<FolderLock> lock_;
  Database database_;
  Source source_ = Source::none;
  Examination found_;
  bool look_beside_ = false;
  bool repairable_ = false;
};

}  // namespace

Result<DoctorReport> run_doctor(const fs::path& path, const DoctorOptions& options) {
  std::error_code error;
  fs::path experiment_dir = fs::absolute(path, error).lexically_normal();
  if (error)
    return errno_error(error.value(), path.string());
  if (!experiment_dir.has_filename())
    experiment_dir = experiment_dir.parent_path();
  if (fs::exists(experiment_dir / "CURRENT", error))
    experiment_dir = experiment_dir.parent_path();
  if (!store_exists(experiment_dir))
    return Error(
        ErrorCode::not_found,
        path.string() + ": no experiment with a store is there. Name the experiment's folder");
  return Doctor(std::move(experiment_dir), options).run();
}

bool DoctorReport::healthy() const {
  if (repair)
    return true;
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.severity == Severity::damage; });
}

std::string DoctorReport::to_text() const {
  std::string text = "Store of " + experiment_dir.string() + "\n";
  if (!store_id.empty())
    text += "  identity " + store_id + ", made by Troupe " + written_by + "\n  " +
            std::to_string(events) + " events, " + std::to_string(rows) +
            " rows, consistent up to event " + to_string(accepted) +
            "\n  witness: durable up to event " + to_string(witnessed) + "\n";
  for (const Finding& finding : findings) {
    const char* label = finding.severity == Severity::damage    ? "DAMAGE "
                        : finding.severity == Severity::warning ? "warning "
                                                                : "note ";
    text += label + finding.place + "\n    " + finding.what + "\n";
    if (!finding.remedy.empty())
      text += "    What to do: " + finding.remedy + "\n";
  }
  if (repair) {
    text += "Repaired: events up to " + to_string(repair->kept) + " are kept; " +
            std::to_string(repair->lost_events) + " events that are known to have existed are lost";
    if (repair->replayed_from_start)
      text += "; a restore replays the events from the first one";
    if (repair->dropped_rows > 0)
      text += ". " + std::to_string(repair->dropped_rows) +
              " rows were dropped; those that follow from the events come again with the next "
              "Tuner::restore:";
    for (const std::string& row : repair->dropped)
      text += "\n    " + row;
    return text + "\nThe store as it was is kept in " + repair->kept_aside.string() + "\n";
  }
  return text +
         (healthy() ? "The store is whole.\n" : "The store is damaged; nothing was changed.\n");
}

}  // namespace troupe
