#include <troupe/tune/search/pareto.hpp>
#include <troupe/tune/study/detail/study_state.hpp>

#include <algorithm>
#include <cmath>

/// What came out of a study.
namespace troupe::tune::detail {

std::optional<std::string> StudyState::missing_constraint(const Trial& trial) const {
  for (const std::string& name : options_.constraints)
    if (trial.constraints.find_key(name) == nullptr)
      return name;
  return std::nullopt;
}

bool StudyState::feasible(const Trial& trial) const {
  return constraint_violation(metrics_of(trial), constraint_metrics_) == 0;
}

Metrics StudyState::metrics_of(const Trial& trial) const {
  Metrics metrics{{"training_iteration", std::max<std::uint64_t>(trial.step, 1)}};
  if (trial.value)
    metrics[objectives_[0].metric] = *trial.value;
  for (std::size_t m = 0; m < trial.values.size(); ++m)
    metrics[objectives_[m].metric] = trial.values[m];
  if (!trial.constraints.empty())
    metrics[constraints_key] = trial.constraints;
  return metrics;
}

std::vector<StudyState::Trial> StudyState::trials() const {
  std::vector<Trial> all;
  for (const auto& [id, trial] : trials_)
    all.push_back(trial.shown);
  return all;
}

std::optional<StudyState::Trial> StudyState::best() const {
  if (several())
    throw Exception(ErrorCode::failed_precondition,
                    "the study has " + std::to_string(objectives_.size()) +
                        " objectives, so there is no best trial: best_trials() has their front");
  const Mode mode = objectives_[0].mode;
  const Trial* best = nullptr;
  for (const auto& [id, live] : trials_) {
    const Trial& trial = live.shown;
    if (trial.pending || trial.ending != Ending::finished || !trial.value ||
        std::isnan(*trial.value) || !feasible(trial))
      continue;
    if (best == nullptr || better_score(score_of(*trial.value, mode), score_of(*best->value, mode)))
      best = &trial;
  }
  return best != nullptr ? std::optional(*best) : std::nullopt;
}

std::vector<StudyState::Trial> StudyState::front() const {
  std::vector<Metrics> results;
  std::vector<const Trial*> finished;
  for (const auto& [id, live] : trials_)
    if (!live.shown.pending && live.shown.ending == Ending::finished) {
      results.push_back(metrics_of(live.shown));
      finished.push_back(&live.shown);
    }
  std::vector<Trial> front;
  for (const std::size_t i : pareto_front(results, objectives_, constraint_metrics_))
    front.push_back(*finished[i]);
  return front;
}

}  // namespace troupe::tune::detail
