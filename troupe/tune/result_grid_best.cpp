#include <troupe/base/detail/edit_distance.hpp>
#include <troupe/tune/detail/result_grid_data.hpp>
#include <troupe/tune/experiment_reader.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace troupe::tune {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Finds one metric in results. Where none has it, what they have instead helps to mend the name.
class MetricLookup {
public:
  explicit MetricLookup(std::string name) : name_(std::move(name)) {}

  std::optional<double> operator()(const Metrics& metrics) {
    if (const auto number = metric_number(metrics, name_))
      return *number;
    if (others_.empty())
      for (const auto& entry : metrics.flatten())
        others_.insert(entry.first);
    return std::nullopt;
  }
  const std::string& name() const { return name_; }
  /// "'los' (did you mean 'loss'?)".
  std::string description() const {
    const std::vector<std::string> others(others_.begin(), others_.end());
    return "'" + name_ + "'" + troupe::detail::did_you_mean(name_, others);
  }

private:
  std::string name_;
  std::set<std::string> others_;
};

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

/// Why there may be no results: what ended the experiment, or the first trial that failed.
std::string what_went_wrong(const ResultGrid& results) {
  if (!results.message().empty())
    return "; the experiment stopped: " + results.message();
  if (results.num_errors() == 0)
    return {};
  return "; trials failed, the first one so: " + results.errors().front().message();
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

ResultGrid::Best ResultGrid::best_result(const std::string& metric, std::optional<Mode> mode,
                                         Scope scope, bool filter_nan_and_inf) const {
  MetricLookup lookup(metric_or_default(metric, spec(), "best_result"));
  const Mode direction = mode.value_or(spec().mode);
  const JournalReader& reader = data_->reader();

  std::optional<TrialId> best;
  double best_value = nan;
  std::pair<bool, double> best_flaw;  // failed, violation of constraints: less is better
  for (const TrialId id : data_->trials()) {
    ScopeValue value(scope, direction);
    const auto take = [&](const Metrics& metrics) {
      if (const auto number = lookup(metrics))
        value.add(*number);
    };
    const TrialRow row = read_trial(reader, id).value_or_throw();
    const std::pair flaw(row.state == TrialState::error,
                         constraint_violation(row.metrics, spec().constraints));
    if (scope == Scope::last) {
      take(data_->trial(row).metrics);
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
  if (!best)
    throw Exception(ErrorCode::not_found, "no trial of '" + experiment_path().string() +
                                              "' has a " + (filter_nan_and_inf ? "finite " : "") +
                                              "result for metric " + lookup.description() +
                                              what_went_wrong(*this));
  Best answer;
  static_cast<Trial&>(answer) = data_->trial(read_trial(reader, *best).value_or_throw());
  answer.metric = lookup.name();
  answer.mode = direction;
  answer.scope = scope;
  answer.score = best_value;
  answer.feasible = !(best_flaw.second > 0);
  return answer;
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
  MetricLookup lookup(metric_or_default(metric, spec(), "best_checkpoint"));
  const Mode direction = mode.value_or(spec().mode);
  std::vector<SavedCheckpoint> all = best_checkpoints(id);
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.iteration > b.iteration; });
  std::optional<SavedCheckpoint> best;
  double best_score = nan;
  for (SavedCheckpoint& saved : all) {
    const auto value = lookup(saved.metrics);
    if (!value)
      continue;
    const double score = score_of(*value, direction);
    if (std::isnan(score) || (best && !better_score(score, best_score)))
      continue;
    best = std::move(saved);
    best_score = score;
  }
  if (best || all.empty())
    return best;
  throw Exception(ErrorCode::not_found, "no checkpoint of trial " + to_string(id) + " in '" +
                                            experiment_path().string() +
                                            "' has a number for metric " + lookup.description());
}

}  // namespace troupe::tune
