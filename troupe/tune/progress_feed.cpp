#include <troupe/tune/experiment_reader.hpp>
#include <troupe/tune/experiment_spec.hpp>
#include <troupe/tune/progress_feed.hpp>
#include <troupe/tune/report/text.hpp>

#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace troupe::tune {

namespace {

double time_total(const Metrics& metrics) {
  const Value* time = metrics.find_key("time_total_s");
  return time != nullptr && time->is_number() ? time->as_double() : 0.0;
}

}  // namespace

BoardOptions board_options(const ExperimentSpec& spec, const std::filesystem::path& experiment_dir,
                           std::optional<std::uint64_t> planned, double cpus) {
  const auto space = ParamSpace::from_value(spec.param_space);
  return {.experiment = spec.name,
          .path = experiment_dir.string(),
          .metric = spec.metric,
          .mode = spec.mode,
          .constraints = spec.constraints,
          .planned = planned,
          .cpus_per_trial = spec.resources.cpus,
          .cpus_total = cpus,
          .max_concurrent_trials = spec.max_concurrent_trials.value_or(0),
          .params = space ? varying_parameters(*space) : std::vector<std::string>()};
}

ProgressFeed::ProgressFeed(ProgressBoard& board, std::filesystem::path experiment_dir, bool verbose,
                           std::function<void(std::string)> say)
    : board_(board),
      experiment_dir_(std::move(experiment_dir)),
      verbose_(verbose),
      say_(std::move(say)) {}

TrialView ProgressFeed::view_of(const TrialRow& row) const {
  TrialView view;
  view.id = row.id;
  view.name = row.name;
  view.state = to_string(row.state);
  view.config = row.config;
  view.iteration = row.iteration;
  if (row.iteration > 0)
    view.time_total_s = row.time_total_s;
  view.metrics = row.metrics;
  view.failures = row.failures + row.infrastructure_failures;
  view.message = row.error;
  view.error_file = (experiment_dir_ / row.dir / "error.txt").string();
  return view;
}

Status ProgressFeed::load(const JournalReader& reader) {
  std::vector<TrialRow> unfinished;
  std::uint64_t results = 0;  // every accepted one is an iteration of its trial
  TROUPE_RETURN_IF_ERROR(for_each_trial(reader, [&](const TrialRow& row) {
    if (row.is_over()) {
      results += row.iteration;
      board_.update(view_of(row));
    } else {
      unfinished.push_back(row);
    }
    return true;
  }));
  for (const TrialRow& row : unfinished) {
    TrialView view = view_of(row);
    // The row is not written with each result.
    TROUPE_TRY(last, read_last_result(reader, row));
    if (last) {
      view.iteration = last->iteration;
      view.time_total_s = time_total(last->metrics);
      view.metrics = std::move(last->metrics);
    }
    results += view.iteration;
    live_.insert_or_assign(row.id, view);
    board_.update(std::move(view));
  }
  const auto status = read_status(reader);
  if (!status && status.error().code() != ErrorCode::not_found)
    return status.error();
  board_.start_counts(results, status ? status->actor_starts : 0);
  return ok();
}

void ProgressFeed::say(const std::string& text, bool always) const {
  if (say_ && (always || verbose_))
    say_(text);
}

void ProgressFeed::show(TrialView& trial, TrialState state) {
  trial.state = to_string(state);
  board_.update(trial);
}

void ProgressFeed::taken(const ErroredTaken& event) {
  if (event.how != Resume::resume)
    return;
  for (const TrialRow& row : event.rows)
    live_.insert_or_assign(row.id, view_of(row));
}

void ProgressFeed::began() {
  saving_.clear();
  for (auto& [id, trial] : live_) {
    // The workers died with the driver that started them.
    if (trial.state != to_string(TrialState::paused))
      show(trial, TrialState::pending);
  }
}

void ProgressFeed::end(TrialView& trial, const std::string& reason) {
  show(trial, TrialState::terminated);
  say(trial.name + " ended after iteration " + std::to_string(trial.iteration) + ": " + reason,
      false);
  live_.erase(TrialId(trial.id));
}

void ProgressFeed::fail(TrialView& trial, const std::string& reason, const char* consequence) {
  ++trial.failures;
  trial.message = reason;
  say(trial.name + " failed" + consequence + ": " + one_line(reason), true);
}

/// Normal, and the same for each trial: said once.
void ProgressFeed::reset_refused(const TrialView& trial) {
  if (std::exchange(told_reset_, true))
    return;
  say(trial.name +
          ": reset_config returned false, so a fresh worker is started for it; so it will "
          "be for others, without a word",
      true);
}

/// Nobody asked for less than what was saved: that must not pass in silence.
void ProgressFeed::started(const TrialView& trial, const TrialStarted& event) {
  if (event.damaged.empty())
    return;
  const std::string from = event.iteration > 0
                               ? "goes on from iteration " + std::to_string(event.iteration)
                               : "starts again from the beginning";
  say("warning: " + trial.name + ' ' + from + ", after iteration " +
          std::to_string(trial.iteration) +
          ", because of a checkpoint that cannot be used: " + one_line(event.note),
      true);
}

/// A trial may be over, or paused, and the checkpoint that it was to save with that is not there.
void ProgressFeed::watch_saves(const TrialView& trial, const EventRecord& event) {
  const Decision& decision = event.decision;
  const TrialId id(trial.id);
  if (std::holds_alternative<CheckpointSaved>(event.body))
    saving_.erase(id);
  if (std::holds_alternative<Reported>(event.body) && decision.save)
    saving_.insert(id);
  const auto* failed = std::get_if<TrialFailed>(&event.body);
  const auto* exited = std::get_if<WorkerExited>(&event.body);
  if (failed == nullptr && exited == nullptr && !std::holds_alternative<TrialEnded>(event.body))
    return;
  if (saving_.erase(id) == 0 || is_failure(event) || std::exchange(told_missing_, true))
    return;
  const std::string why = failed != nullptr   ? failed->message
                          : exited != nullptr ? exited->message
                                              : "it ended before";
  say("warning: the last checkpoint of " + trial.name + " is missing: " + one_line(why) +
          " (further ones: `troupe show --trial`)",
      true);
}

void ProgressFeed::outcome(TrialView& trial, const EventRecord& event) {
  const Decision& decision = event.decision;
  switch (decision.outcome) {
    case Outcome::none:
    case Outcome::stopping:
    case Outcome::pausing:
    case Outcome::halting:
      break;
    case Outcome::terminated:
      end(trial, decision.reason);
      break;
    case Outcome::paused:
      show(trial, TrialState::paused);
      break;
    case Outcome::retried:
      fail(trial, decision.reason, " and is tried again");
      show(trial, TrialState::pending);
      break;
    case Outcome::restarted:
      if (is_failure(event)) {
        fail(trial, decision.reason, " (infrastructure) and is started again");
        show(trial, TrialState::pending);
      } else {
        reset_refused(trial);
      }
      break;
    case Outcome::error:
      fail(trial, decision.reason, "");
      show(trial, TrialState::error);
      live_.erase(TrialId(trial.id));
      break;
    case Outcome::unfinished:
      show(trial, TrialState::pending);
      break;
  }
}

void ProgressFeed::act(const Action& action) {
  if (const auto* create = std::get_if<CreateTrial>(&action)) {
    TrialView view;
    view.id = create->trial;
    view.name = create->name;
    view.config = create->config;
    view.error_file = (experiment_dir_ / create->dir / "error.txt").string();
    if (create->repeats)
      board_.plan_one_more();
    show(live_[create->trial] = std::move(view), TrialState::pending);
  } else if (const auto* start = std::get_if<StartTrial>(&action)) {
    if (start->fresh)
      board_.count_actor_start();
    const auto found = live_.find(start->key.trial);
    if (found == live_.end())
      return;
    show(found->second, TrialState::running);
    say(found->second.name + " started: " + config_text(found->second.config), false);
  } else if (const auto* over = std::get_if<EndTrial>(&action)) {
    const auto found = live_.find(over->trial);
    if (found != live_.end())
      end(found->second, over->reason);
  } else if (const auto* drain = std::get_if<Drain>(&action)) {
    say("stopping: " + drain->reason, true);
  }
}

void ProgressFeed::apply(Sequence sequence, const EventRecord& event) {
  if (const auto* errored = std::get_if<ErroredTaken>(&event.body))
    taken(*errored);
  if (std::holds_alternative<RunBegan>(event.body))
    began();
  const Decision& decision = event.decision;
  const auto found = decision.trial ? live_.find(*decision.trial) : live_.end();
  if (found != live_.end()) {
    TrialView& trial = found->second;
    if (auto result = result_of(sequence, event)) {
      board_.count_result();
      trial.iteration = result->iteration;
      trial.time_total_s = time_total(result->metrics);
      trial.metrics = std::move(result->metrics);
      board_.update(trial);
      say(trial.name + " result " + std::to_string(trial.iteration) + ": " +
              config_text(trial.metrics),
          false);
    }
    if (const auto* start = std::get_if<TrialStarted>(&event.body))
      started(trial, *start);
    watch_saves(trial, event);
    outcome(trial, event);
  }
  for (const Action& action : decision.actions)
    act(action);
}

}  // namespace troupe::tune
