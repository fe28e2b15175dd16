#include <troupe/tune/detail/result_grid_data.hpp>
#include <troupe/tune/experiment_reader.hpp>
#include <troupe/tune/experiment_spec.hpp>
#include <troupe/tune/report/progress_board.hpp>
#include <troupe/tune/report/text.hpp>
#include <troupe/tune/result_grid.hpp>
#include <troupe/tune/search/pareto.hpp>

#include <utility>

namespace troupe::tune {
namespace {

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
  return data_->trial(read_trial(data_->reader(), trials[index]).value_or_throw());
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

std::vector<Error> ResultGrid::errors() const {
  std::vector<Error> errors;
  for_each_trial(data_->reader(), [&](const TrialRow& row) {
    if (row.state == TrialState::error)
      errors.push_back(detail::error_of(row));
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
  else if (!best.feasible)
    out << " (which breaks a constraint, as do all others)";
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
