#include <troupe/serialization/json.hpp>
#include <troupe/tune/report/progress_board.hpp>
#include <troupe/tune/report/text.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>

namespace troupe::tune {

namespace {

constexpr std::array<std::string_view, 5> state_names{"RUNNING", "TERMINATED", "PAUSED", "PENDING",
                                                      "ERROR"};
constexpr std::size_t running = 0;
constexpr std::size_t terminated = 1;
constexpr std::size_t pending = 3;
constexpr std::size_t error_state = 4;

constexpr std::size_t max_param_columns = 12;
constexpr std::size_t max_metric_columns = 4;
constexpr std::size_t max_errors_kept = 1000;

std::size_t state_index(std::string_view name) {
  const auto* found = std::find(state_names.begin(), state_names.end(), name);
  return found == state_names.end() ? pending
                                    : static_cast<std::size_t>(found - state_names.begin());
}

/// Trials in these states are few; of the others only the newest are kept.
bool is_over(std::size_t state) {
  return state == terminated || state == error_state;
}

/// Set by Troupe in every result: nothing to look at in a column.
bool is_ours(std::string_view name) {
  constexpr std::array<std::string_view, 14> names{"training_iteration",
                                                   "time_this_iter_s",
                                                   "time_total_s",
                                                   "timestamp",
                                                   "date",
                                                   "done",
                                                   "should_checkpoint",
                                                   "trial_id",
                                                   "trial_name",
                                                   "hostname",
                                                   "pid",
                                                   "time_since_restore",
                                                   "experiment_tag",
                                                   "iterations_since_restore"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string value_text(const Value* value) {
  return value == nullptr ? std::string() : cell_text(*value);
}

}  // namespace

std::string cell_text(const Value& value) {
  if (value.is_double())
    return short_number(value.as_double());
  if (value.is_string())
    return value.as_string();
  if (value.is_null())
    return {};
  return to_json(value);
}

std::string config_text(const Config& config) {
  std::string text;
  for (const auto& [name, value] : config.flatten())
    text += (text.empty() ? "" : ", ") + name + '=' + cell_text(value);
  return text;
}

ProgressBoard::ProgressBoard(BoardOptions options) : options_(std::move(options)) {
  if (!options_.metric.empty())
    metric_names_.push_back(options_.metric);
  param_names_ = options_.params;
  param_names_.resize(std::min(param_names_.size(), max_param_columns));
}

void ProgressBoard::start_counts(uint64_t results, uint64_t actor_starts) {
  const std::lock_guard lock(mutex_);
  results_ = results;
  actor_starts_ = actor_starts;
}

void ProgressBoard::count(uint64_t& counter) {
  const std::lock_guard lock(mutex_);
  ++counter;
}

void ProgressBoard::update(TrialView trial) {
  const std::lock_guard lock(mutex_);
  const std::size_t state = state_index(trial.state);
  if (trial.id.value >= state_by_trial_.size())
    state_by_trial_.resize(trial.id.value + 1U, 0);
  if (uint8_t& known = state_by_trial_[trial.id.value]; known != state + 1) {
    if (known != 0)
      forget(trial.id, known - 1U);
    known = static_cast<uint8_t>(state + 1);
    ++counts_[state];
  }
  learn_columns(trial);
  look_for_best(trial, state);
  if (state == error_state) {
    errors_.push_back({trial.name, trial.failures, trial.message, trial.error_file});
    if (errors_.size() > max_errors_kept)
      errors_.pop_front();
  }
  std::map<TrialId, TrialView>& shown = shown_[state];
  shown.insert_or_assign(trial.id, std::move(trial));
  if (is_over(state) && shown.size() > progress_full_rows)
    shown.erase(shown.begin());
}

void ProgressBoard::forget(TrialId id, std::size_t state) {
  --counts_[state];
  const auto found = shown_[state].find(id);
  if (found == shown_[state].end())
    return;
  if (state == error_state) {
    std::erase_if(errors_, [&](const ProgressError& e) { return e.trial == found->second.name; });
  }
  shown_[state].erase(found);
}

void ProgressBoard::learn_columns(const TrialView& trial) {
  if (param_names_.empty()) {
    for (const auto& [name, value] : trial.config.flatten()) {
      if (param_names_.size() < max_param_columns)
        param_names_.push_back(name);
    }
  }
  if (metric_names_.size() >= max_metric_columns)
    return;
  for (const auto& [name, value] : trial.metrics.flatten()) {
    if (metric_names_.size() >= max_metric_columns)
      break;
    const bool known =
        std::find(metric_names_.begin(), metric_names_.end(), name) != metric_names_.end();
    if (!known && value.is_number() && !is_ours(name))
      metric_names_.push_back(name);
  }
}

// As `ResultGrid::best_result`: by the last result of each trial, those that failed only when there
// is no other, the first of equals.

std::optional<ProgressBoard::Candidate> ProgressBoard::candidate(const TrialView& trial) const {
  if (options_.metric.empty() || trial.iteration == 0)
    return std::nullopt;
  const auto value = metric_number(trial.metrics, options_.metric);
  if (!value || !std::isfinite(*value))
    return std::nullopt;
  const double violation = constraint_violation(trial.metrics, options_.constraints);
  return Candidate{.violation = violation,
                   .score = score_of(*value, options_.mode),
                   .id = trial.id,
                   .best = {.trial = trial.name,
                            .metric = options_.metric,
                            .value = short_number(*value),
                            .iteration = trial.iteration,
                            .config = options_.params.empty() ? config_text(trial.config)
                                                              : varying_text(trial.config),
                            .feasible = !(violation > 0)}};
}

void ProgressBoard::take_better(std::optional<Candidate>& best, std::optional<Candidate> other) {
  if (!other)
    return;
  // Less is better.
  const auto rank = [](const Candidate& c) { return std::tuple(c.violation, -c.score, c.id); };
  if (!best || rank(*other) < rank(*best))
    best = std::move(other);
}

void ProgressBoard::look_for_best(const TrialView& trial, std::size_t state) {
  if (best_failed_ && best_failed_->id == trial.id)
    best_failed_.reset();  // it was taken up again
  if (is_over(state))
    take_better(state == error_state ? best_failed_ : best_terminated_, candidate(trial));
}

std::optional<ProgressBoard::Candidate> ProgressBoard::find_best() const {
  std::optional<Candidate> best = best_terminated_;
  for (std::size_t state = 0; state < states; ++state)
    if (!is_over(state))
      for (const auto& [id, trial] : shown_[state])
        take_better(best, candidate(trial));
  return best ? best : best_failed_;
}

/// The parameters that tell the trial from others, in one line.
std::string ProgressBoard::varying_text(const Config& config) const {
  std::string text;
  for (const std::string& name : options_.params)
    if (const Value* value = config.find(name))
      text += (text.empty() ? "" : ", ") + name + '=' + cell_text(*value);
  return text;
}

ProgressRow ProgressBoard::row(const TrialView& trial) const {
  ProgressRow row;
  row.trial = trial.name;
  for (const std::string& name : param_names_)
    row.params.push_back(value_text(trial.config.find(name)));
  if (trial.iteration > 0)
    row.iteration = trial.iteration;
  row.time_total_s = trial.time_total_s;
  for (const std::string& name : metric_names_)
    row.metrics.push_back(value_text(trial.metrics.find(name)));
  return row;
}

std::string ProgressBoard::why_waiting() const {
  if (shown_[pending].empty())
    return {};
  const std::string& name = shown_[pending].begin()->second.name;
  const uint64_t limit = options_.max_concurrent_trials;
  if (limit != 0 && counts_[running] >= limit)
    return name + ": max_concurrent_trials = " + std::to_string(limit) + " are running";
  const double used = options_.cpus_per_trial * static_cast<double>(counts_[running]);
  const double left = std::max(0.0, options_.cpus_total - used);
  if (left < options_.cpus_per_trial) {
    return name + " asks for " + short_number(options_.cpus_per_trial) + " CPUs, " +
           short_number(left) + " of " + short_number(options_.cpus_total) + " are free";
  }
  return {};
}

ProgressSnapshot ProgressBoard::snapshot(int64_t wall_ms, double run_time_s) const {
  const std::lock_guard lock(mutex_);
  ProgressSnapshot snapshot;
  snapshot.experiment = options_.experiment;
  snapshot.path = options_.path;
  snapshot.wall_ms = wall_ms;
  snapshot.run_time_s = run_time_s;
  if (options_.planned)
    snapshot.planned = *options_.planned + repeats_;
  snapshot.results = results_;
  snapshot.actor_starts = actor_starts_;
  snapshot.param_names = param_names_;
  snapshot.metric_names = metric_names_;
  snapshot.cpus_used = options_.cpus_per_trial * static_cast<double>(counts_[running]);
  snapshot.cpus_total = options_.cpus_total;
  snapshot.waiting = why_waiting();
  snapshot.errors.assign(errors_.begin(), errors_.end());
  if (const auto best = find_best())
    snapshot.best = best->best;

  uint64_t total = 0;
  for (const uint64_t count : counts_)
    total += count;
  const std::size_t limit =
      total <= progress_full_rows ? progress_full_rows : progress_rows_per_state;
  for (std::size_t state = 0; state < states; ++state) {
    if (counts_[state] == 0)
      continue;
    ProgressGroup group{std::string(state_names[state]), counts_[state], {}};
    const auto& trials = shown_[state];
    auto trial = trials.begin();
    // Of those that are over the newest are of interest, of the others the oldest.
    if (is_over(state) && trials.size() > limit)
      std::advance(trial, static_cast<std::ptrdiff_t>(trials.size() - limit));
    for (; trial != trials.end() && group.rows.size() < limit; ++trial)
      group.rows.push_back(row(trial->second));
    snapshot.groups.push_back(std::move(group));
  }
  return snapshot;
}

std::string ProgressBoard::state_of(TrialId id) const {
  const std::lock_guard lock(mutex_);
  if (id.value >= state_by_trial_.size() || state_by_trial_[id.value] == 0)
    return {};
  return std::string(state_names[state_by_trial_[id.value] - 1U]);
}

}  // namespace troupe::tune
