#include <troupe/base/detail/edit_distance.hpp>
#include <troupe/runtime/store/keys.hpp>
#include <troupe/runtime/store/secondary_reader.hpp>
#include <troupe/tune/experiment_reader.hpp>
#include <troupe/tune/experiment_spec.hpp>
#include <troupe/tune/report/progress_board.hpp>
#include <troupe/tune/report/text.hpp>
#include <troupe/tune/result_grid.hpp>
#include <troupe/tune/search/pareto.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>
#include <utility>

namespace troupe::tune {

/// The reader, opened at the first access: after a `fit()` nobody may ask at all.
class ResultGrid::Data {
public:
  static constexpr std::size_t state_count = static_cast<std::size_t>(enum_last(TrialState())) + 1;

  explicit Data(std::filesystem::path experiment_dir) : dir(std::move(experiment_dir)) {}

  const SecondaryReader& reader() {
    open();
    return *reader_;
  }
  const std::vector<TrialId>& trials() {
    open();
    return trials_;
  }
  const ExperimentSpec& spec() {
    open();
    return *spec_;
  }
  const ExperimentRow& status() {
    open();
    return *status_;
  }

  /// Trials by state.
  const std::array<std::size_t, state_count>& counts() {
    open();
    const std::lock_guard lock(mutex_);
    if (!counts_) {
      std::array<std::size_t, state_count> counts{};
      for_each_trial(*reader_, [&](const TrialRow& row) {
        ++counts.at(static_cast<std::size_t>(row.state));
        return true;
      }).value_or_throw();
      counts_ = counts;
    }
    return *counts_;
  }

  const std::filesystem::path dir;

private:
  void open() {
    const std::lock_guard lock(mutex_);
    if (reader_)
      return;
    std::unique_ptr<SecondaryReader> reader = open_secondary(dir).value_or_throw();
    spec_ = read_spec(*reader).value_or_throw();
    status_ = read_status(*reader).value_or_throw();
    trials_.clear();
    reader
        ->scan(Table::trials, {},
               [this](std::string_view key, std::string_view) {
                 if (const auto id = keys::parse_trial_key(key))
                   trials_.push_back(*id);
                 return true;
               })
        .value_or_throw();
    reader_ = std::move(reader);
  }

  std::mutex mutex_;
  std::unique_ptr<SecondaryReader> reader_;
  std::optional<ExperimentSpec> spec_;
  std::optional<ExperimentRow> status_;
  std::vector<TrialId> trials_;
  std::optional<std::array<std::size_t, state_count>> counts_;
};

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const char* meaning(Scope scope) {
  switch (scope) {
    case Scope::last:
      return "the last result of each trial";
    case Scope::avg:
      return "the mean over the results of each trial";
    case Scope::all:
      return "the best result of each trial";
  }
  return "";
}

/// Folds the results of one trial into one value. Results without the metric are passed over.
class ScopeValue {
public:
  ScopeValue(Scope scope, Mode mode) : scope_(scope), mode_(mode) {}

  void add(double value) {
    if (count_ == 0 || scope_ == Scope::last) {
      value_ = value;
    } else if (scope_ == Scope::avg) {
      value_ += value;
    } else if (better_score(score_of(value, mode_), score_of(value_, mode_))) {
      value_ = value;
    }
    ++count_;
  }
  bool empty() const { return count_ == 0; }
  double value() const {
    return scope_ == Scope::avg ? value_ / static_cast<double>(count_) : value_;
  }

private:
  Scope scope_;
  Mode mode_;
  double value_ = nan;
  std::size_t count_ = 0;
};

Error error_of(const TrialRow& row) {
  const bool user = row.error_kind == FailureKind::user;
  return Error(user ? ErrorCode::user_code : ErrorCode::unavailable, row.name + ": " + row.error);
}

std::vector<ResultGrid::Trial> healthy_trials(const ResultGrid& results) {
  std::vector<ResultGrid::Trial> healthy;
  for (auto trial : results)
    if (trial.state != TrialState::error)
      healthy.push_back(std::move(trial));
  return healthy;
}

std::vector<Metrics> last_results(const std::vector<ResultGrid::Trial>& trials) {
  std::vector<Metrics> results;
  for (const auto& trial : trials)
    results.push_back(trial.metrics);
  return results;
}

/// Why there may be no results: what ended the experiment, or the first trial that failed.
std::string what_went_wrong(const ResultGrid& results) {
  if (!results.message().empty())
    return "; the experiment stopped: " + results.message();
  if (results.num_errors() == 0)
    return {};
  return "; trials failed, the first one so: " + results.errors().front().message();
}

ResultGrid::Trial trial_of(const JournalReader& reader, const std::filesystem::path& dir,
                           TrialRow row) {
  ResultGrid::Trial trial;
  trial.id = row.id;
  trial.name = row.name;
  trial.path = dir / row.dir;
  trial.config = std::move(row.config);
  trial.metrics = std::move(row.metrics);
  trial.iteration = row.iteration;
  trial.time_total_s = row.time_total_s;
  trial.state = row.state;
  trial.ending = row.ending;
  trial.stop_reason = row.stop_reason;
  if (row.state == TrialState::error)
    trial.error = error_of(row);
  if (row.checkpoint)
    trial.checkpoint = Checkpoint::from_directory(trial.path / row.checkpoint->directory);
  if (row.is_over())
    return trial;
  // The row of a trial that is not over may be behind its results.
  if (auto last = read_last_result(reader, row).value_or_throw()) {
    trial.iteration = last->iteration;
    trial.metrics = std::move(last->metrics);
    if (const Value* time = trial.metrics.find_key("time_total_s"); time && time->is_number())
      trial.time_total_s = time->as_double();
  }
  return trial;
}

/// The metric to compare by. `call`: who asks.
std::string metric_or_default(const std::string& metric, const ExperimentSpec& spec,
                              const std::string& call) {
  if (!metric.empty())
    return metric;
  if (spec.metric.empty()) {
    throw Exception(ErrorCode::failed_precondition,
                    "there is no best without a metric: name one here, as in " + call +
                        "(..., \"loss\", Mode::min), or set TuneConfig::metric");
  }
  return spec.metric;
}

std::vector<CheckpointRow> kept_checkpoints(const JournalReader& reader, TrialId id) {
  std::vector<CheckpointRow> rows = read_checkpoints(reader, id).value_or_throw();
  std::erase_if(rows, [](const auto& row) { return row.state != CheckpointState::committed; });
  return rows;
}

ResultGrid::SavedCheckpoint saved_checkpoint(const JournalReader& reader, TrialId id,
                                             const std::filesystem::path& trial_dir,
                                             const CheckpointRow& row) {
  ResultGrid::SavedCheckpoint saved{
      Checkpoint::from_directory(trial_dir / row.ref.directory), row.ref.iteration, {}};
  if (row.ref.iteration == 0)
    return saved;
  for_each_result(reader, id, row.ref.iteration - 1, [&](const TrialResult& result) {
    saved.metrics = result.metrics;
    return false;
  }).value_or_throw();
  return saved;
}

}  // namespace

std::string_view to_string(Scope scope) noexcept {
  switch (scope) {
    case Scope::last:
      return "last";
    case Scope::avg:
      return "avg";
    case Scope::all:
      return "all";
  }
  return "unknown";
}

ResultGrid ResultGrid::of(const std::filesystem::path& experiment_dir) {
  return ResultGrid(std::make_shared<Data>(std::filesystem::absolute(experiment_dir)));
}

ResultGrid ResultGrid::open(const std::filesystem::path& experiment_dir) {
  ResultGrid grid = of(experiment_dir);
  (void)grid.data_->reader();
  return grid;
}

std::size_t ResultGrid::size() const {
  return data_->trials().size();
}

ResultGrid::Trial ResultGrid::operator[](std::size_t index) const {
  const std::vector<TrialId>& trials = data_->trials();
  if (index >= trials.size()) {
    throw Exception(ErrorCode::out_of_range, "trial " + std::to_string(index) + " of " +
                                                 std::to_string(trials.size()) +
                                                 " was asked for; they count from 0");
  }
  const JournalReader& reader = data_->reader();
  return trial_of(reader, data_->dir, read_trial(reader, trials[index]).value_or_throw());
}

ResultGrid::Best ResultGrid::best_result(const std::string& metric, std::optional<Mode> mode,
                                         Scope scope, bool filter_nan_and_inf) const {
  const std::string name = metric_or_default(metric, spec(), "best_result");
  const Mode direction = mode.value_or(spec().mode);
  const JournalReader& reader = data_->reader();

  std::optional<TrialId> best;
  double best_value = nan;
  std::pair<bool, double> best_flaw;  // failed, violation of constraints: less is better
  std::set<std::string> seen;
  for (const TrialId id : data_->trials()) {
    ScopeValue value(scope, direction);
    const auto take = [&](const Metrics& metrics) {
      const auto number = metric_number(metrics, name);
      if (number) {
        value.add(*number);
      } else if (seen.empty()) {
        for (const auto& entry : metrics.flatten())
          seen.insert(entry.first);
      }
    };
    const TrialRow row = read_trial(reader, id).value_or_throw();
    const std::pair flaw(row.state == TrialState::error,
                         constraint_violation(row.metrics, spec().constraints));
    if (scope == Scope::last) {
      take(trial_of(reader, data_->dir, row).metrics);
    } else {
      for_each_result(reader, id, 0, [&](const TrialResult& result) {
        take(result.metrics);
        return true;
      }).value_or_throw();
    }
    if (value.empty() || (filter_nan_and_inf && !std::isfinite(value.value())))
      continue;
    const bool better =
        better_score(score_of(value.value(), direction), score_of(best_value, direction));
    if (!best || flaw < best_flaw || (flaw == best_flaw && better)) {
      best = id;
      best_value = value.value();
      best_flaw = flaw;
    }
  }
  if (!best) {
    const std::vector<std::string> names(seen.begin(), seen.end());
    throw Exception(ErrorCode::not_found,
                    "no trial of '" + experiment_path().string() + "' has a " +
                        (filter_nan_and_inf ? "finite " : "") + "result for metric '" + name + "'" +
                        troupe::detail::did_you_mean(name, names) + what_went_wrong(*this));
  }
  Best answer;
  static_cast<Trial&>(answer) =
      trial_of(reader, data_->dir, read_trial(reader, *best).value_or_throw());
  answer.metric = name;
  answer.mode = direction;
  answer.scope = scope;
  answer.score = best_value;
  return answer;
}

std::vector<Objective> ResultGrid::objectives() const {
  if (spec().metric.empty())
    throw Exception(ErrorCode::failed_precondition,
                    "the experiment has no objective: set TuneConfig.metric and mode");
  return objectives_of(spec());
}

std::vector<ResultGrid::Trial> ResultGrid::pareto_front() const {
  std::vector<Trial> trials = healthy_trials(*this);
  std::vector<Trial> front;
  for (const std::size_t i :
       tune::pareto_front(last_results(trials), objectives(), spec().constraints))
    front.push_back(std::move(trials[i]));
  return front;
}

double ResultGrid::hypervolume(const std::vector<double>& reference) const {
  return tune::hypervolume(last_results(healthy_trials(*this)), objectives(), reference,
                           spec().constraints);
}

std::vector<Metrics> ResultGrid::metrics_history(TrialId id) const {
  std::vector<Metrics> history;
  for_each_result(data_->reader(), id, 0, [&](const TrialResult& result) {
    history.push_back(result.metrics);
    return true;
  }).value_or_throw();
  return history;
}

std::vector<KnownResult> ResultGrid::known_results() const {
  std::vector<KnownResult> known;
  for (const Trial& trial : *this) {
    const bool over = trial.state == TrialState::terminated || trial.state == TrialState::error;
    if (!over || trial.metrics.empty())
      continue;
    known.push_back({trial.config, trial.metrics, trial.ending});
  }
  return known;
}

std::vector<ResultGrid::SavedCheckpoint> ResultGrid::best_checkpoints(TrialId id) const {
  const JournalReader& reader = data_->reader();
  const std::filesystem::path folder = data_->dir / read_trial(reader, id).value_or_throw().dir;
  const bool ranked = !spec().checkpoint_score_attribute.empty();
  const Mode order = spec().checkpoint_score_order;
  std::vector<CheckpointRow> rows = kept_checkpoints(reader, id);
  std::reverse(rows.begin(), rows.end());  // the newest first, also among equals
  std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    return ranked && better_score(score_of(a.score.value_or(nan), order),
                                  score_of(b.score.value_or(nan), order));
  });
  std::vector<SavedCheckpoint> saved;
  for (const CheckpointRow& row : rows)
    saved.push_back(saved_checkpoint(reader, id, folder, row));
  return saved;
}

std::optional<ResultGrid::SavedCheckpoint> ResultGrid::best_checkpoint(
    TrialId id, const std::string& metric, std::optional<Mode> mode) const {
  const std::string name = metric_or_default(metric, spec(), "best_checkpoint");
  const Mode direction = mode.value_or(spec().mode);
  std::vector<SavedCheckpoint> all = best_checkpoints(id);
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.iteration > b.iteration; });
  std::optional<SavedCheckpoint> best;
  double best_score = nan;
  std::set<std::string> seen;
  for (SavedCheckpoint& saved : all) {
    const auto value = metric_number(saved.metrics, name);
    if (!value) {
      for (const auto& entry : saved.metrics.flatten())
        seen.insert(entry.first);
      continue;
    }
    const double score = score_of(*value, direction);
    if (std::isnan(score) || (best && !better_score(score, best_score)))
      continue;
    best = std::move(saved);
    best_score = score;
  }
  if (best || all.empty())
    return best;
  const std::vector<std::string> names(seen.begin(), seen.end());
  throw Exception(ErrorCode::not_found, "no checkpoint of trial " + to_string(id) + " in '" +
                                            experiment_path().string() +
                                            "' has a number for metric '" + name + "'" +
                                            troupe::detail::did_you_mean(name, names));
}

std::vector<Error> ResultGrid::errors() const {
  std::vector<Error> errors;
  for_each_trial(data_->reader(), [&](const TrialRow& row) {
    if (row.state == TrialState::error)
      errors.push_back(error_of(row));
    return true;
  }).value_or_throw();
  return errors;
}

std::size_t ResultGrid::num_errors() const {
  return static_cast<std::size_t>(status().errored);
}

std::size_t ResultGrid::num_in(TrialState state) const {
  return data_->counts().at(static_cast<std::size_t>(state));
}

std::size_t ResultGrid::num_terminated() const {
  return static_cast<std::size_t>(status().terminated);
}

bool ResultGrid::interrupted() const {
  return state() != ExperimentState::finished;
}

ExperimentState ResultGrid::state() const {
  return status().state;
}

std::string ResultGrid::message() const {
  return status().message;
}

std::vector<std::string> ResultGrid::warnings() const {
  return data_->reader().notes();
}

const std::filesystem::path& ResultGrid::experiment_path() const {
  return data_->dir;
}

std::uint64_t ResultGrid::actor_starts() const {
  return status().actor_starts;
}

std::uint64_t ResultGrid::num_results() const {
  return status().results;
}

const ExperimentSpec& ResultGrid::spec() const {
  return data_->spec();
}

const ExperimentRow& ResultGrid::status() const {
  return data_->status();
}

std::ostream& operator<<(std::ostream& out, const ResultGrid::Trial& trial) {
  out << trial.name << ' ' << to_string(trial.state);
  if (trial.iteration > 0)
    out << " after iteration " << trial.iteration << ", " << config_text(trial.metrics);
  if (trial.error)
    out << ", " << trial.error->message();
  return out << ", config " << trial.config;
}

std::ostream& operator<<(std::ostream& out, const ResultGrid::Best& best) {
  out << best.name;
  if (best.state == TrialState::error)
    out << " (which failed, as did all that have a result)";
  return out << " with " << best.metric << '=' << short_number(best.score) << " ("
             << to_string(best.mode) << " over " << meaning(best.scope) << ", scope "
             << to_string(best.scope) << "), config " << best.config;
}

std::ostream& operator<<(std::ostream& out, const ResultGrid& grid) {
  const ExperimentRow& status = grid.status();
  return out << grid.spec().name << ": " << to_string(status.state) << ", "
             << plural(grid.size(), "trial") << ", " << status.terminated << " terminated, "
             << status.errored << " failed, " << plural(status.results, "result") << ", "
             << plural(status.actor_starts, "actor start") << ", "
             << duration_text(std::chrono::duration<double>(status.run_time).count()) << ", in "
             << grid.experiment_path().string();
}

}  // namespace troupe::tune
