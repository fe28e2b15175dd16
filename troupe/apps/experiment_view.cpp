#include <troupe/apps/experiment_view.hpp>
#include <troupe/apps/find_experiment.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/base/detail/edit_distance.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/serialization/objective.hpp>
#include <troupe/tune/experiment_reader.hpp>
#include <troupe/tune/report/result_lines.hpp>
#include <troupe/tune/report/text.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>
#include <vector>

namespace troupe::apps {

using namespace tune;

namespace {

constexpr std::size_t results_shown = 10;

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// Nobody runs the experiment: what ran waits for a restore, and nothing is in use.
void stop_trials(ProgressSnapshot& snapshot) {
  snapshot.cpus_used = 0;
  snapshot.waiting.clear();
  const auto group = [&](TrialState state) {
    return std::find_if(snapshot.groups.begin(), snapshot.groups.end(),
                        [state](const auto& one) { return one.state == to_string(state); });
  };
  const auto running = group(TrialState::running);
  const auto pending = group(TrialState::pending);
  if (running == snapshot.groups.end())
    return;
  if (pending == snapshot.groups.end()) {
    running->state = to_string(TrialState::pending);
    return;
  }
  pending->count += running->count;
  std::move(running->rows.begin(), running->rows.end(), std::back_inserter(pending->rows));
  snapshot.groups.erase(running);
}

Value seconds_or_null(const std::optional<Duration>& duration) {
  return duration ? Value(seconds(*duration)) : Value();
}

std::string deadlines_text(const ExperimentSpec& spec) {
  const auto one = [](const std::optional<Duration>& duration) {
    return duration ? duration_text(seconds(*duration)) : std::string("none");
  };
  return "step_timeout " + one(spec.step_timeout) + ", setup_timeout " + one(spec.setup_timeout);
}

std::string checkpoint_line(const CheckpointRow& row, const std::filesystem::path& trial_dir) {
  std::string text = row.ref.directory + ", iteration " + std::to_string(row.ref.iteration) + ", " +
                     bytes_text(row.ref.bytes);
  if (row.state == CheckpointState::damaged)
    text += " (damaged)";
  std::error_code error;
  if (!std::filesystem::exists(trial_dir / row.ref.directory, error))
    text += " (its folder is gone)";
  return text;
}

}  // namespace

Result<ExperimentView> ExperimentView::open(const std::filesystem::path& experiment_dir) {
  const auto driver = driver_of(experiment_dir);  // first: it may end while this reads
  TROUPE_TRY(reader, open_secondary(experiment_dir));
  ExperimentView view(experiment_dir, std::move(reader));
  view.driver_ = driver;
  TROUPE_TRY(spec, read_spec(*view.reader_));
  view.spec_ = std::move(spec);
  TROUPE_TRY(status, read_status(*view.reader_));
  view.status_ = std::move(status);
  view.board_ = std::make_unique<ProgressBoard>(
      board_options(view.spec_, view.dir_, view.status_.planned, view.status_.cpus));
  view.feed_ = std::make_unique<ProgressFeed>(*view.board_, view.dir_, false, nullptr);
  TROUPE_RETURN_IF_ERROR(view.feed_->load(*view.reader_));
  view.position_ = view.reader_->watermarks().accepted;
  return view;
}

Status ExperimentView::refresh() {
  driver_ = driver_of(dir_);
  TROUPE_RETURN_IF_ERROR(reader_->refresh());
  TROUPE_TRY(status, read_status(*reader_));
  status_ = std::move(status);
  return for_each_event(*reader_, position_, [this](Sequence sequence, const EventRecord& event) {
    feed_->apply(sequence, event);
    position_ = sequence;
    return true;
  });
}

ProgressSnapshot ExperimentView::snapshot() const {
  ProgressSnapshot snapshot = board_->snapshot(status_.updated_ms, seconds(status_.run_time));
  // Its row is written now and then: the board may have started with an older one.
  snapshot.actor_starts = std::max(snapshot.actor_starts, status_.actor_starts);
  if (!driver_)
    stop_trials(snapshot);
  return snapshot;
}

std::string ExperimentView::state_text() const {
  std::string text = experiment_state(status_.state, driver_.has_value());
  if (driver_)
    return text + " (process " + std::to_string(*driver_) + ")";
  if (!warnings().empty())
    text += " (damaged: see `troupe doctor`)";
  if (status_.state == ExperimentState::running)
    return text + ": its process is gone; Tuner::restore goes on";
  return status_.message.empty() ? text : text + ": " + status_.message;
}

std::string ExperimentView::text(std::size_t width) const {
  const auto line = [&](const std::string& name, const std::string& value) {
    return fit_text(terminal_safe(name + value), width) + '\n';
  };
  return line("Experiment: ", spec_.name + " (" + spec_.trainable + ")") +
         line("State: ", state_text()) + line("Folder: ", dir_.string()) +
         line("Searcher: ", spec_.searcher + ", scheduler: " + spec_.scheduler) +
         (spec_.step_timeout || spec_.setup_timeout ? line("Deadlines: ", deadlines_text(spec_))
                                                    : std::string()) +
         render_progress(snapshot(), {.width = width});
}

std::string ExperimentView::line() const {
  return progress_line(snapshot());
}

/// The row of a trial that runs, or did when its driver died, is behind its results.
Result<TrialRow> ExperimentView::with_last_result(Result<TrialRow> row) const {
  if (!row || row->is_over())
    return row;
  TROUPE_TRY(last, read_last_result(*reader_, *row));
  if (last) {
    row->iteration = last->iteration;
    if (const auto time = metric_number(last->metrics, "time_total_s"))
      row->time_total_s = *time;
    row->metrics = std::move(last->metrics);
  }
  return row;
}

Result<TrialRow> ExperimentView::find_trial(const std::string& number_or_name) const {
  uint32_t number = 0;
  const char* end = number_or_name.data() + number_or_name.size();
  const auto parsed = std::from_chars(number_or_name.data(), end, number);
  if (parsed.ec == std::errc() && parsed.ptr == end)
    return with_last_result(read_trial(*reader_, TrialId(number)));

  std::optional<TrialRow> found;
  std::vector<std::string> names;
  TROUPE_RETURN_IF_ERROR(for_each_trial(*reader_, [&](const TrialRow& row) {
    names.push_back(row.name);
    if (row.name == number_or_name || row.dir == number_or_name)
      found = row;
    return !found;
  }));
  if (found)
    return with_last_result(*found);
  return Error(ErrorCode::not_found, "there is no trial '" + number_or_name + "' in '" +
                                         spec_.name + "'" +
                                         troupe::detail::did_you_mean(number_or_name, names));
}

std::string ExperimentView::trial_text(const TrialRow& row) const {
  std::string out;
  const auto line = [&](const std::string& name, const std::string& value) {
    if (!value.empty())
      out += name + terminal_safe(value) + '\n';
  };
  line("Trial: ", row.name);
  line("State: ", std::string(to_string(trial_state(row.state, driver_.has_value()))));
  line("Ended by: ", row.stop_reason);
  line("Note: ", row.note);
  line("Folder: ", (dir_ / row.dir).string());
  line("Config: ", to_json(row.config));
  line("Attempts: ", std::to_string(row.attempt + 1) + ", " + plural(row.failures, "failure") +
                         " of user code, " + std::to_string(row.infrastructure_failures) +
                         " of infrastructure");
  if (!row.error.empty()) {
    out += "Error:\n";
    std::string_view rest = row.error;
    while (!rest.empty()) {
      const std::size_t size = std::min(rest.find('\n'), rest.size());
      out += "  " + terminal_safe(rest.substr(0, size)) + '\n';
      rest.remove_prefix(std::min(size + 1, rest.size()));
    }
  }
  for (const CheckpointRow& checkpoint : read_checkpoints(*reader_, row.id).value_or_throw())
    if (checkpoint.state != CheckpointState::deleting)
      line("Checkpoint: ", checkpoint_line(checkpoint, dir_ / row.dir));

  const auto last = read_last_result(*reader_, row).value_or_throw();
  const uint64_t results = last ? last->iteration : 0;
  line("Results: ", std::to_string(results));
  const uint64_t skipped = results > results_shown ? results - results_shown : 0;
  if (skipped > 0)
    out += "  ... " + std::to_string(skipped) + " earlier ones\n";
  for_each_result(*reader_, row.id, skipped, [&](const TrialResult& result) {
    out += "  " + terminal_safe(config_text(result.metrics)) + '\n';
    return true;
  }).value_or_throw();
  return out;
}

Map ExperimentView::trial_map(const TrialRow& row) const {
  Map map{{"trial_id", row.id.value},
          {"name", row.name},
          {"state", std::string(to_string(trial_state(row.state, driver_.has_value())))},
          {"path", (dir_ / row.dir).string()},
          {"config", row.config},
          {"iteration", row.iteration},
          {"time_total_s", row.time_total_s},
          {"metrics", row.metrics},
          {"attempts", row.attempt + 1},
          {"failures", row.failures},
          {"infrastructure_failures", row.infrastructure_failures}};
  if (!row.stop_reason.empty())
    map["stop_reason"] = row.stop_reason;
  if (!row.error.empty())
    map["error"] = row.error;
  if (row.checkpoint)
    map["checkpoint"] = (dir_ / row.dir / row.checkpoint->directory).string();
  return map;
}

Value ExperimentView::trial_json(const TrialRow& row) const {
  Map map = trial_map(row);
  List results;
  for_each_result(*reader_, row.id, 0, [&](const TrialResult& result) {
    results.emplace_back(result.metrics);
    return true;
  }).value_or_throw();
  map["results"] = std::move(results);
  return without_non_finite(map);
}

void ExperimentView::write_json(std::ostream& out) const {
  List warned;
  for (std::string& warning : warnings())
    warned.emplace_back(std::move(warning));
  Map head{{"name", spec_.name},
           {"trainable", spec_.trainable},
           {"path", dir_.string()},
           {"state", experiment_state(status_.state, driver_.has_value())},
           {"running", driver_.has_value()},
           {"message", status_.message},
           {"warnings", std::move(warned)},
           {"seed", std::to_string(spec_.seed)},
           {"metric", spec_.metric},
           {"mode", std::string(to_string(spec_.mode))},
           {"searcher", spec_.searcher},
           {"scheduler", spec_.scheduler},
           {"step_timeout_s", seconds_or_null(spec_.step_timeout)},
           {"setup_timeout_s", seconds_or_null(spec_.setup_timeout)},
           {"run_time_s", seconds(status_.run_time)},
           {"results", status_.results},
           {"actor_starts", status_.actor_starts}};
  std::string text = finite_json(head);
  text.pop_back();
  out << text << ",\"trials\":[";
  // A scan must not call back into the store, so the ids come first.
  std::vector<TrialId> ids;
  for_each_trial(*reader_, [&](const TrialRow& row) {
    ids.push_back(row.id);
    return true;
  }).value_or_throw();
  const char* separator = "\n";
  for (const TrialId id : ids) {
    const TrialRow row = with_last_result(read_trial(*reader_, id)).value_or_throw();
    out << separator << finite_json(trial_map(row));
    separator = ",\n";
  }
  out << "]}\n";
}

}  // namespace troupe::apps
