#include <troupe/tune/search/detail/cmaes_searcher.hpp>

#include <algorithm>

// CMA-ES as data.

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr std::size_t schedule_size = 8;

Error incomplete() {
  return Error(ErrorCode::corrupt, "the state of the searcher cmaes is incomplete");
}

List data_of(const VectorXd& x) {
  return List(x.begin(), x.end());
}

Result<VectorXd> vector_of(const Value& value, std::size_t dimensions) {
  const List* list = value.get_if<List>();
  if (list == nullptr || list->size() != dimensions ||
      !std::all_of(list->begin(), list->end(), [](const Value& v) { return v.is_double(); }))
    return incomplete();
  VectorXd x(static_cast<Index>(dimensions));
  std::transform(list->begin(), list->end(), x.begin(),
                 [](const Value& v) { return v.as_double(); });
  return x;
}

bool is_pair(const Value& value) {
  const List* pair = value.get_if<List>();
  return pair != nullptr && pair->size() == 2 && (*pair)[0].is_int() && (*pair)[0].as_int() >= 0 &&
         (*pair)[0].as_int() <= std::int64_t{UINT32_MAX};
}

}  // namespace

Value CmaEsSearcher::save_model() const {
  const Schedule& s = schedule_;
  List asked;
  for (std::size_t i = 0; i < candidates_.size(); ++i)
    if (candidates_[i].asked)
      asked.push_back(List{static_cast<std::int64_t>(candidates_[i].trial->value), i});
  const auto list = [](const Others& others) {
    List all;
    for (const auto& [trial, x] : others)
      all.push_back(List{static_cast<std::int64_t>(trial), data_of(x)});
    return all;
  };
  return Map{{"schedule", List{s.run, s.generation, s.doublings, s.large_trials, s.small_trials,
                               s.large ? 1 : 0, s.over ? 1 : 0, s.population}},
             {"distribution", cma_ ? cma_->save() : Value()},
             {"categories", categories_.save()},
             {"minimum", minimum_ ? Value(data_of(*minimum_)) : Value()},
             {"asked", std::move(asked)},
             {"late", list(late_)},
             {"other", list(other_)}};
}

Result<CmaEsSearcher::Others> CmaEsSearcher::others_of(const Value* value) const {
  const List* list = value != nullptr ? value->get_if<List>() : nullptr;
  if (list == nullptr || !std::all_of(list->begin(), list->end(), is_pair))
    return incomplete();
  Others others;
  for (const Value& element : *list) {
    const List& pair = element.as_list();
    const TrialId trial(static_cast<std::uint32_t>(pair[0].as_int()));
    TROUPE_TRY(x, vector_of(pair[1], numeric_.size()));
    if (history().find(trial) == nullptr)
      return incomplete();
    others.emplace(trial.value, std::move(x));
  }
  return others;
}

Status CmaEsSearcher::restore_schedule(const Value* value) {
  const List* list = value != nullptr ? value->get_if<List>() : nullptr;
  if (list == nullptr || list->size() != schedule_size ||
      !std::all_of(list->begin(), list->end(),
                   [](const Value& v) { return v.is_int() && v.as_int() >= 0; }))
    return incomplete();
  const auto number = [&](std::size_t i) { return (*list)[i].as_int(); };
  schedule_ = {number(0), number(1),      number(2),      number(3),
               number(4), number(5) != 0, number(6) != 0, number(7)};
  if (schedule_.population < 2 || schedule_.population > std::int64_t{1} << 25U)
    return incomplete();
  return ok();
}

Status CmaEsSearcher::restore_asked(const Value* value) {
  constexpr std::int64_t most = 1 << 20;
  const List* list = value != nullptr ? value->get_if<List>() : nullptr;
  if (list == nullptr || !std::all_of(list->begin(), list->end(), is_pair))
    return incomplete();
  for (const Value& element : *list) {
    const List& pair = element.as_list();
    const TrialId trial(static_cast<std::uint32_t>(pair[0].as_int()));
    if (!pair[1].is_int() || pair[1].as_int() < 0 || pair[1].as_int() >= most ||
        history().find(trial) == nullptr)
      return incomplete();
    const auto index = static_cast<std::size_t>(pair[1].as_int());
    while (candidates_.size() <= index)
      candidates_.push_back(candidate(candidates_.size()));
    candidates_[index].trial = trial;
    candidates_[index].asked = true;
  }
  for (Candidate& candidate : candidates_)  // those that were added just now, too
    take_known(candidate);
  return ok();
}

Status CmaEsSearcher::restore_model(const Value& state) {
  const Map* map = state.get_if<Map>();
  const auto find = [&](const char* key) { return map != nullptr ? map->find_key(key) : nullptr; };
  const Value* distribution = find("distribution");
  const Value* categories = find("categories");
  const Value* minimum = find("minimum");
  if (distribution == nullptr || categories == nullptr || minimum == nullptr ||
      distribution->is_null() != numeric_.empty())
    return incomplete();
  TROUPE_RETURN_IF_ERROR(restore_schedule(find("schedule")));
  TROUPE_RETURN_IF_ERROR(categories_.restore(*categories));
  if (!numeric_.empty()) {
    TROUPE_TRY(cma, Cma::restore(settings(), *distribution));
    cma_.emplace(std::move(cma));
  }
  minimum_.reset();
  if (!minimum->is_null()) {
    TROUPE_TRY(x, vector_of(*minimum, numeric_.size()));
    minimum_ = std::move(x);
  }
  TROUPE_TRY(late, others_of(find("late")));
  TROUPE_TRY(other, others_of(find("other")));
  late_ = std::move(late);
  other_ = std::move(other);
  surrogate_ = {};
  tried_.clear();
  if (design().discrete())
    for (const Observation& o : history().all())
      tried_.emplace(o.fingerprint, o.trial);
  if (!schedule_.over)
    begin_generation();
  return restore_asked(find("asked"));
}

}  // namespace troupe::tune::detail
