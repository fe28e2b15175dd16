#include <troupe/base/file.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/base/log.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/experiment_follower.hpp>
#include <troupe/tune/experiment_reader.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fcntl.h>

namespace troupe::tune {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_batch = 512;
constexpr Duration poll_interval = std::chrono::milliseconds(50);
constexpr Duration note_interval = std::chrono::seconds(1);
constexpr Duration retry_interval = std::chrono::seconds(5);
constexpr Duration waiting_interval = std::chrono::seconds(2);

/// The rows of a journal as the files need them.
class JournalSource final : public TrialSource {
public:
  JournalSource(const JournalReader& reader, fs::path experiment_dir)
      : reader_(reader), experiment_dir_(std::move(experiment_dir)) {}

  Result<TrialFileInfo> trial(TrialId id) override {
    TROUPE_TRY(row, read_trial(reader_, id));
    return TrialFileInfo{.id = id,
                         .name = row.name,
                         .dir = experiment_dir_ / row.dir,
                         .config = std::move(row.config)};
  }

  Status results(TrialId id, uint64_t last,
                 const std::function<Status(const ResultLine&)>& visit) override {
    Status status = ok();
    TROUPE_RETURN_IF_ERROR(for_each_result(reader_, id, 0, [&](const TrialResult& result) {
      if (result.iteration > last)
        return false;
      status = visit(line_of(result));
      return status.has_value();
    }));
    return status;
  }

  static ResultLine line_of(const TrialResult& result) {
    return {.iteration = result.iteration,
            .wall_ms = result.wall_ms,
            .done = result.done,
            .metrics = result.metrics};
  }

private:
  const JournalReader& reader_;
  const fs::path experiment_dir_;
};

/// Changes with each start of the machine. What was written before the last one, but not synced,
/// may be gone.
std::string boot_id() {
  return read_file("/proc/sys/kernel/random/boot_id", limits::kib).value_or(std::string());
}

fs::path note_path(const fs::path& experiment_dir) {
  return experiment_dir / "result_files.json";
}

/// Does a trial have its last result with this event, or its end?
bool ends_trial(const EventRecord& event) {
  const Decision& decision = event.decision;
  const Outcome outcome = decision.outcome;
  if (outcome == Outcome::stopping || outcome == Outcome::terminated || outcome == Outcome::error)
    return true;
  return std::any_of(decision.actions.begin(), decision.actions.end(),
                     [](const Action& action) { return std::holds_alternative<EndTrial>(action); });
}

/// Where the files of this very store stand; nothing: they can not be trusted.
std::optional<Sequence> read_note(const fs::path& experiment_dir, const std::string& store_id) {
  const auto text = read_file(note_path(experiment_dir), 4 * limits::kib);
  if (!text)
    return std::nullopt;
  const auto note = parse_json(*text);
  if (!note || !note->is_map())
    return std::nullopt;
  const Map& map = note->as_map();
  const Value* sequence = map.find_key("sequence");
  const bool ours = map.get_or("store_id", {}) == Value(store_id) &&
                    map.get_or("boot_id", {}) == Value(boot_id());
  if (!ours || sequence == nullptr || !sequence->is_int() || sequence->as_int() < 0)
    return std::nullopt;
  return Sequence(static_cast<uint64_t>(sequence->as_int()));
}

}  // namespace

ExperimentFollower::ExperimentFollower(const JournalReader& reader, fs::path experiment_dir,
                                       bool result_files, ProgressFeed* feed)
    : reader_(reader),
      experiment_dir_(std::move(experiment_dir)),
      result_files_(result_files),
      feed_(feed),
      feed_position_(reader.watermarks().accepted) {
  thread_ = std::thread([this] { run(); });
}

ExperimentFollower::~ExperimentFollower() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ExperimentFollower::prepare_files() {
  source_ = std::make_unique<JournalSource>(reader_, experiment_dir_);
  files_ = std::make_unique<ResultFiles>(*source_);
  const auto note = read_note(experiment_dir_, reader_.store_id());
  if (note && *note <= feed_position_) {
    position_ = *note;
    return;
  }
  position_ = Sequence(0);
  std::vector<TrialId> trials;
  Status status = for_each_trial(reader_, [&](const TrialRow& row) {
    trials.push_back(row.id);
    return true;
  });
  for (const TrialId id : trials)
    if (status)
      status = files_->start_over(id);
  if (!status)
    set_error(status.error());
}

void ExperimentFollower::run() {
  position_ = feed_position_;
  if (result_files_)
    prepare_files();
  std::unique_lock lock(mutex_);
  while (!stopping_ && !error_) {
    lock.unlock();
    const bool more = step();
    lock.lock();
    reached_ = position_;
    changed_.notify_all();
    if (!more)
      changed_.wait_for(lock, poll_interval, [this] { return stopping_; });
  }
  done_ = true;
  changed_.notify_all();
}

/// One batch of events. False: there are no more for now.
bool ExperimentFollower::step() {
  std::vector<Event> batch;
  const Sequence durable = reader_.watermarks().durable;
  Status status = read_batch(batch);
  bool files_wait = false;
  for (const Event& event : batch) {
    if (!status)
      break;
    if (feed_ != nullptr && event.sequence > feed_position_)
      feed_->apply(event.sequence, event.record);
    feed_position_ = std::max(feed_position_, event.sequence);
    // A trial is declared finished only when a loss of power cannot take that back any more.
    files_wait = files_wait || (files_ && ends_trial(event.record) && event.sequence > durable);
    if (files_wait)
      continue;
    if (files_)
      status = write_files(event);
    if (status)
      position_ = event.sequence;
  }
  if (!status)
    set_error(status.error());
  const bool more = batch.size() == max_batch && !files_wait;
  const TimePoint now = real_clock().now();
  if (!files_)
    return more;
  if (!more)
    files_->flush();
  if (files_->incomplete() > 0 && now - last_retry_ >= retry_interval) {
    last_retry_ = now;
    files_->retry();
  }
  note_position(false);
  return more;
}

Status ExperimentFollower::read_batch(std::vector<Event>& batch) const {
  if (reader_.watermarks().accepted <= position_)
    return ok();
  return for_each_event(reader_, position_, [&](Sequence sequence, const EventRecord& record) {
    batch.push_back({sequence, record});
    return batch.size() < max_batch;
  });
}

Status ExperimentFollower::write_files(const Event& event) {
  const Decision& decision = event.record.decision;
  if (const auto result = result_of(event.sequence, event.record))
    TROUPE_RETURN_IF_ERROR(files_->result(*decision.trial, JournalSource::line_of(*result)));
  const Outcome outcome = decision.outcome;
  if (decision.trial && is_failure(event.record)) {
    TROUPE_RETURN_IF_ERROR(files_->failure(*decision.trial, event.sequence.value,
                                           event.record.wall_ms, decision.reason));
  }
  if (decision.trial && (outcome == Outcome::terminated || outcome == Outcome::error ||
                         outcome == Outcome::unfinished))
    files_->trial_ended(*decision.trial);
  for (const Action& action : decision.actions) {
    if (const auto* create = std::get_if<CreateTrial>(&action)) {
      TROUPE_RETURN_IF_ERROR(files_->trial_created({.id = create->trial,
                                                    .name = create->name,
                                                    .dir = experiment_dir_ / create->dir,
                                                    .config = create->config}));
    } else if (const auto* end = std::get_if<EndTrial>(&action)) {
      files_->trial_ended(end->trial);
    }
  }
  return ok();
}

/// Notes how far the files go. Not synced: after a loss of power the note does not count anyway.
void ExperimentFollower::note_position(bool now) {
  const TimePoint time = real_clock().now();
  if (!now && time - last_note_ < note_interval)
    return;
  last_note_ = time;
  files_->flush();
  const std::string text = to_json(Map{{"store_id", reader_.store_id()},
                                       {"boot_id", boot_id()},
                                       {"sequence", position_.value}}) +
                           '\n';
  const std::string path = note_path(experiment_dir_).string();
  const std::string part = path + ".part";
  Status written = ok();
  if (auto file = open_file(part, O_WRONLY | O_CREAT | O_TRUNC); file) {
    written = write_all(file->get(), text, part);
  } else {
    written = file.error();
  }
  if (written && std::rename(part.c_str(), path.c_str()) != 0)
    written = errno_error(errno, "cannot replace '" + path + "'");
  if (!written)
    log::warning("the position of the result files could not be noted",
                 {{"error", written.error()}});
}

void ExperimentFollower::set_error(const Error& error) {
  log::error("result files and progress stop here", {{"error", error}});
  const std::lock_guard lock(mutex_);
  error_ = error;
}

Status ExperimentFollower::finish(const std::function<void(uint64_t events)>& waiting,
                                  Duration patience) {
  // All there is, unless the store has failed.
  const Sequence target = reader_.watermarks().durable;
  std::unique_lock lock(mutex_);
  Sequence before = reached_;
  TimePoint moved = real_clock().now();
  bool gave_up = false;
  while (reached_ < target && !done_ && !gave_up) {
    changed_.wait_for(lock, waiting_interval, [&] { return reached_ >= target || done_; });
    if (reached_ >= target || done_)
      break;
    const TimePoint now = real_clock().now();
    if (reached_ != before)
      moved = now;
    before = reached_;
    gave_up = now - moved >= patience;
    const uint64_t events = target.value - reached_.value;
    lock.unlock();
    if (waiting)
      waiting(events);
    lock.lock();
  }
  stopping_ = true;
  changed_.notify_all();
  if (gave_up) {
    return Error(
        ErrorCode::deadline_exceeded,
        "the result files did not move on for " +
            std::to_string(std::chrono::duration_cast<std::chrono::seconds>(patience).count()) +
            " s: they are incomplete. The journal is complete; a restore writes them");
  }
  if (!changed_.wait_for(lock, patience, [this] { return done_; }))
    return Error(ErrorCode::deadline_exceeded, "the result files are still being written");
  lock.unlock();
  return verdict();
}

Status ExperimentFollower::verdict() {
  if (error_)
    return *error_;
  if (!files_)
    return ok();
  files_->flush();
  files_->retry();
  note_position(true);
  if (files_->incomplete() == 0)
    return ok();
  return Error(ErrorCode::io, "the result files of " + std::to_string(files_->incomplete()) +
                                  " trials are incomplete: " + files_->reason() +
                                  ". The journal is complete");
}

}  // namespace troupe::tune
