#include <troupe/tune/search/detail/cmaes_generations.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>

#include <algorithm>

// Generations of CMA-ES as data.

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr std::size_t schedule_size = 11;
/// More than any run comes to.
constexpr std::uint64_t most_generations = std::uint64_t{1} << 40U;

Error incomplete() {
  return incomplete_state("cmaes");
}

List data_of(const VectorXd& x) {
  return List(x.begin(), x.end());
}

Result<VectorXd> vector_of(const Value& value, std::size_t dimensions) {
  const List* list = value.get_if<List>();
  if (list == nullptr || list->size() != dimensions ||
      !std::all_of(list->begin(), list->end(), is_finite))
    return incomplete();
  VectorXd x(static_cast<Index>(dimensions));
  std::transform(list->begin(), list->end(), x.begin(),
                 [](const Value& v) { return v.as_double(); });
  return x;
}

/// A trial, and so many values that belong to it.
bool is_of_trial(const Value& value, std::size_t values) {
  const List* list = value.get_if<List>();
  return list != nullptr && list->size() == 1 + values && is_trial((*list)[0]);
}

}  // namespace

Value CmaEsGenerations::save() const {
  const Schedule& s = schedule_;
  List asked;
  for (std::size_t i = 0; i < candidates_.size(); ++i)
    if (candidates_[i].asked)
      asked.push_back(List{static_cast<std::int64_t>(candidates_[i].trial->value), i});
  const auto list = [](const Others& others) {
    List all;
    for (const auto& [trial, other] : others)
      all.push_back(List{static_cast<std::int64_t>(trial), other.index, data_of(other.x)});
    return all;
  };
  return Map{{"schedule", List{s.run, s.generation, s.doublings, s.large_trials, s.small_trials,
                               s.large, s.over, s.population, s.asked, s.results, s.ahead}},
             {"distribution", cma_ ? cma_->save() : Value()},
             {"categories", categories_.save()},
             {"asked", std::move(asked)},
             {"running", list(running_)},
             {"results", list(results_)}};
}

Result<CmaEsGenerations::Others> CmaEsGenerations::others_of(const CmaEsProblem& problem,
                                                             const Value* value, bool over) {
  const List* list = value != nullptr ? value->get_if<List>() : nullptr;
  if (list == nullptr ||
      !std::all_of(list->begin(), list->end(), [](const Value& v) { return is_of_trial(v, 2); }))
    return incomplete();
  Others others;
  for (const Value& element : *list) {
    const List& parts = element.as_list();
    const TrialId trial(static_cast<std::uint32_t>(parts[0].as_int()));
    TROUPE_TRY(x, vector_of(parts[2], problem.axes.numeric.size()));
    const Observation* found = problem.history.find(trial);
    if (!parts[1].is_int() || parts[1].as_int() < Other::elsewhere ||
        parts[1].as_int() >= largest_index || found == nullptr || found->over() != over)
      return incomplete();
    others.emplace(trial.value, Other{std::move(x), parts[1].as_int()});
  }
  return others;
}

Status CmaEsGenerations::restore_schedule(const CmaEsProblem& problem, const Value* value) {
  const List* list = value != nullptr ? value->get_if<List>() : nullptr;
  if (list == nullptr || list->size() != schedule_size ||
      !std::all_of(list->begin(), list->end(),
                   [](const Value& v) { return count_of(v, most_generations); }))
    return incomplete();
  Schedule& s = schedule_;
  std::size_t next = 0;
  for (std::int64_t* number :
       {&s.run, &s.generation, &s.doublings, &s.large_trials, &s.small_trials, &s.large, &s.over,
        &s.population, &s.asked, &s.results, &s.ahead})
    *number = (*list)[next++].as_int();
  const auto trials = static_cast<std::int64_t>(problem.history.size());
  const auto over = static_cast<std::int64_t>(problem.history.over());
  const auto first = static_cast<std::int64_t>(first_population(problem));
  if (s.doublings > std::min<std::int64_t>(s.run, max_doublings) || s.large > 1 || s.over > 1 ||
      s.large_trials + s.small_trials > over || s.asked > trials || s.results > over ||
      s.population < first || s.population > first << s.doublings)
    return incomplete();
  return ok();
}

Status CmaEsGenerations::restore_asked(const CmaEsProblem& problem, const Value* value) {
  const List* list = value != nullptr ? value->get_if<List>() : nullptr;
  if (list == nullptr ||
      !std::all_of(list->begin(), list->end(), [](const Value& v) { return is_of_trial(v, 1); }))
    return incomplete();
  for (const Value& element : *list) {
    const List& pair = element.as_list();
    const TrialId trial(static_cast<std::uint32_t>(pair[0].as_int()));
    const auto index = count_of(pair[1], candidates_.size());
    if (!index || *index == candidates_.size() || problem.history.find(trial) == nullptr)
      return incomplete();
    Candidate& candidate = candidates_[*index];
    candidate.trial = trial;
    candidate.asked = true;
  }
  return ok();
}

Result<CmaEsGenerations> CmaEsGenerations::restore(const CmaEsProblem& problem,
                                                   const Value& state) {
  const Map* map = state.get_if<Map>();
  const auto find = [&](const char* key) { return map != nullptr ? map->find_key(key) : nullptr; };
  const Value* distribution = find("distribution");
  const Value* categories = find("categories");
  if (distribution == nullptr || categories == nullptr ||
      distribution->is_null() != problem.axes.numeric.empty())
    return incomplete();
  CmaEsGenerations made(problem);
  TROUPE_RETURN_IF_ERROR(made.restore_schedule(problem, find("schedule")));
  TROUPE_RETURN_IF_ERROR(made.categories_.restore(*categories));
  if (made.cma_) {
    TROUPE_TRY(cma, Cma::restore(settings(problem, made.schedule_.population), *distribution));
    made.cma_.emplace(std::move(cma));
    if (!made.over() &&
        made.cma_->generation() != static_cast<std::uint64_t>(made.schedule_.generation))
      return incomplete();
  }
  TROUPE_TRY(running, others_of(problem, find("running"), false));
  TROUPE_TRY(results, others_of(problem, find("results"), true));
  made.running_ = std::move(running);
  made.results_ = std::move(results);
  made.candidates_.clear();
  if (!made.over()) {
    const Schedule counts = made.schedule_;
    made.begin_generation(problem);
    made.schedule_ = counts;
  }
  TROUPE_RETURN_IF_ERROR(made.restore_asked(problem, find("asked")));
  return made;
}

}  // namespace troupe::tune::detail
