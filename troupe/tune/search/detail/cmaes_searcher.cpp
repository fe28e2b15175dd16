#include <troupe/tune/search/detail/cmaes_searcher.hpp>
#include <troupe/tune/search/detail/failure_map.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

namespace troupe::tune::detail {
namespace {

/// A regression picks from so many candidates: from those of the generation as long as it is not
/// trusted, else from further ones, too. Numbers get little from more of them, since the minimum of
/// the regression is tried, too; for categories the candidates are all there is.
constexpr std::size_t choice_of_numbers = 32;
constexpr std::size_t choice_of_categories = 64;
/// A regression may end a generation after one trial for so many candidates.
constexpr std::int64_t trials_for_candidates = 20;
/// What a suggestion notes instead of the number of a candidate.
constexpr std::int64_t is_minimum = -1;

/// A regression that was not good enough is not much better with one result more: 0, 1, 2, 3, 5, 8,
/// 13, ... results of a generation are worth another one.
bool worth_fitting(std::int64_t results) {
  std::int64_t a = 1;
  std::int64_t b = 2;
  while (a < results)
    b = std::exchange(a, b) + b;
  return results == 0 || a == results;
}

/// A suggestion's note: for which generation it was made, and how that begins.
struct Note {
  std::int64_t run = 0;
  std::int64_t generation = 0;  ///< before the end, if one is noted
  std::int64_t index = 0;
  std::vector<double> predictions{};

  [[nodiscard]] Value save() const {
    return List{run, generation, index, List(predictions.begin(), predictions.end())};
  }
  static std::optional<Note> restore(const Value& value) {
    const List* list = value.get_if<List>();
    if (list == nullptr || list->size() != 4 || !(*list)[0].is_int() || !(*list)[1].is_int() ||
        !(*list)[2].is_int() || !(*list)[3].is_list())
      return std::nullopt;
    Note note{(*list)[0].as_int(), (*list)[1].as_int(), (*list)[2].as_int()};
    for (const Value& prediction : (*list)[3].as_list()) {
      if (!prediction.is_double() || !std::isfinite(prediction.as_double()))
        return std::nullopt;
      note.predictions.push_back(prediction.as_double());
    }
    if (note.index < is_minimum || note.index >= CmaEsGenerations::largest_index)
      return std::nullopt;
    return note;
  }
};

}  // namespace

CmaEsProblem CmaEsSearcher::problem() const {
  return {design(), history(), axes_, options_, context().seed, tried_};
}

void CmaEsSearcher::index_trials() {
  tried_.clear();
  if (design().discrete())
    for (const Observation& o : history().all())
      tried_.emplace(o.fingerprint, o.trial);
}

Status CmaEsSearcher::begin() {
  TROUPE_RETURN_IF_ERROR(cmaes_options(options()));
  axes_ = CmaEsAxes(design());
  index_trials();
  minimum_.reset();
  neighbours_ = Neighbours(axes_.numeric);
  generations_ = CmaEsGenerations(problem());
  ++change_;
  return ok();
}

bool CmaEsSearcher::minimum_runs() const {
  const Observation* found = minimum_ ? history().find(*minimum_) : nullptr;
  return found != nullptr && !found->over();
}

/// Where there are real numbers a configuration may be new, and yet none that is worth a trial.
bool CmaEsSearcher::crowded(const Point& point) const {
  return !design().discrete() && neighbours_.crowded(history(), point);
}

std::size_t CmaEsSearcher::choice() const {
  return axes_.categorical.empty() ? choice_of_numbers : choice_of_categories;
}

CmaEsSearcher::Plan CmaEsSearcher::plan() const {
  Plan made{change_};
  const CmaEsGenerations::Schedule& s = generations_.schedule();
  if (!options_.surrogate || generations_.over() || !worth_fitting(s.results))
    return made;
  made.surrogate = CmaEsSurrogate::fit(problem(), generations_);
  if (!made.surrogate || !made.surrogate->trusted())
    return made;
  // As many generations as the population may go by without a result.
  if (s.asked > 0 && trials_for_candidates * s.asked >= s.population && s.ahead < s.population) {
    std::vector<const Point*> points;
    for (const CmaEsGenerations::Candidate& c : generations_.candidates())
      points.push_back(&c.point);
    made.predictions = made.surrogate->predict(problem(), generations_, points);
    made.next = generations_;
    made.next->end(problem(), made.predictions);
  }
  const CmaEsGenerations& next = made.next ? *made.next : generations_;
  // One trial at a time: the minimum does not move before there are results.
  if (!next.over() && !minimum_runs())
    made.minimum = made.surrogate->minimum(problem(), generations_, next);
  if (made.minimum &&
      (crowded(*made.minimum) || FailureMap(design(), history()).near(*made.minimum)))
    made.minimum.reset();
  return made;
}

/// Untried candidates: those with less predicted loss first, as far as there are predictions. To
/// look at the neighbours of all of them costs more than the rest: that waits until one is wanted.
void CmaEsSearcher::order_candidates(Plan& plan) const {
  const CmaEsGenerations& next = plan.next ? *plan.next : generations_;
  const std::size_t population = next.candidates().size();
  const std::set<std::size_t> taken = next.further();
  std::vector<Choice>& order = plan.order.emplace();
  std::size_t i = 0;
  for (; i < population && order.size() < choice(); ++i)
    if (const CmaEsGenerations::Candidate& c = next.candidates()[i]; !c.trial && c.allowed)
      order.push_back({i, c.point});
  const bool trusted = plan.surrogate && plan.surrogate->trusted();
  const std::size_t last =
      (trusted && i == population) || order.empty() ? population + 2 * choice() : i;
  for (; i < last && order.size() < choice(); ++i) {
    if (taken.contains(i))
      continue;
    if (CmaEsGenerations::Candidate c = next.candidate(problem(), i); c.allowed)
      order.push_back({i, std::move(c.point)});
  }
  plan.beyond = std::max(i, taken.empty() ? population : *taken.rbegin() + 1);
  if (!plan.surrogate)
    return;
  std::vector<const Point*> points;
  for (const Choice& one : order)
    points.push_back(&one.point);
  const std::vector<double> losses = plan.surrogate->predict(problem(), generations_, points);
  std::vector<std::size_t> best_first(order.size());
  std::iota(best_first.begin(), best_first.end(), std::size_t{0});
  std::stable_sort(best_first.begin(), best_first.end(),
                   [&](std::size_t a, std::size_t b) { return losses[a] < losses[b]; });
  std::vector<Choice> ordered;
  for (const std::size_t number : best_first)
    ordered.push_back(std::move(order[number]));
  order = std::move(ordered);
}

/// Leaves out those in the order that lie too close to a trial, up to number `number`.
void CmaEsSearcher::drop_crowded(Plan& plan, std::size_t number) const {
  std::vector<Choice>& order = *plan.order;
  const auto checked = order.begin() + static_cast<std::ptrdiff_t>(plan.free);
  auto kept = checked;
  auto it = checked;
  for (; it != order.end() && plan.free <= number; ++it)
    if (!crowded(it->point)) {
      std::swap(*kept++, *it);
      ++plan.free;
    }
  order.erase(kept, it);
}

/// The next candidate beyond the order that is worth a trial, of so many.
void CmaEsSearcher::look_beyond(Plan& plan, std::size_t many) const {
  const CmaEsGenerations& next = plan.next ? *plan.next : generations_;
  for (std::size_t i = 0; i < many; ++i)
    if (CmaEsGenerations::Candidate c = next.candidate(problem(), plan.beyond + i);
        c.allowed && !crowded(c.point)) {
      plan.order->push_back({plan.beyond + i, std::move(c.point)});
      plan.beyond += i + 1;
      return;
    }
}

/// Next to a trial that failed another one is likely to fail.
void CmaEsSearcher::put_safe_first(Plan& plan) const {
  const FailureMap failures(design(), history());
  if (failures.empty())
    return;
  const CmaEsGenerations& next = plan.next ? *plan.next : generations_;
  std::vector<Choice>& order = *plan.order;
  plan.free = 0;
  const auto safe = [&](const Point& point) { return !failures.near(point) && !crowded(point); };
  const auto found =
      std::find_if(order.begin(), order.end(), [&](const Choice& c) { return safe(c.point); });
  if (found != order.end()) {
    std::rotate(order.begin(), found, found + 1);
    return;
  }
  for (std::size_t i = 0; i < choice(); ++i)
    if (CmaEsGenerations::Candidate c = next.candidate(problem(), plan.beyond + i);
        c.allowed && safe(c.point)) {
      order.insert(order.begin(), {plan.beyond + i, std::move(c.point)});
      plan.beyond += i + 1;
      return;
    }
}

/// A random point, where the distribution has nothing to give that is worth a trial.
ModelSearcher::Proposal CmaEsSearcher::elsewhere(TrialId trial, std::uint32_t attempt) const {
  constexpr std::uint32_t draws = 20;
  for (std::uint32_t i = 0; i < draws; ++i)
    if (Point point = random_point(trial, draws * attempt + i); !crowded(point))
      return {std::move(point)};
  return {};
}

Result<ModelSearcher::Proposal> CmaEsSearcher::propose(TrialId trial, std::uint32_t attempt) const {
  if (plan_.change != change_) {
    neighbours_.follow(history());
    plan_ = plan();
  }
  const CmaEsGenerations& next = plan_.next ? *plan_.next : generations_;
  if (next.over())
    return elsewhere(trial, attempt);
  const CmaEsGenerations::Schedule& s = generations_.schedule();
  Note note{s.run, s.generation, is_minimum, plan_.predictions};
  if (plan_.minimum && attempt == 0)
    return Proposal{*plan_.minimum, note.save()};
  const std::size_t number = attempt - (plan_.minimum ? 1 : 0);
  if (!plan_.order) {
    order_candidates(plan_);
    const std::size_t ordered = plan_.order->size();
    drop_crowded(plan_, 0);
    if (plan_.order->empty() && ordered < choice())
      look_beyond(plan_, choice() - ordered);
    put_safe_first(plan_);
  }
  drop_crowded(plan_, number);
  const std::vector<Choice>& order = *plan_.order;
  // More questions than candidates: the same distribution has more to give.
  if (number < order.size()) {
    note.index = static_cast<std::int64_t>(order[number].index);
    return Proposal{order[number].point, note.save()};
  }
  const std::size_t index = plan_.beyond + (number - order.size());
  note.index = static_cast<std::int64_t>(index);
  Point further = next.candidate(problem(), index).point;
  if (crowded(further))
    return elsewhere(trial, attempt);
  return Proposal{std::move(further), note.save()};
}

void CmaEsSearcher::proposed(const Observation& observation, const Value& value) {
  const std::uint64_t planned = std::exchange(change_, change_ + 1);
  const CmaEsGenerations::Schedule& s = generations_.schedule();
  std::optional<Note> note = Note::restore(value);
  if (note && (note->run != s.run || note->generation != s.generation || generations_.over()))
    note.reset();  // made for a generation that results have ended since
  if (note && !note->predictions.empty()) {
    if (plan_.change == planned && plan_.next && plan_.predictions == note->predictions)
      generations_ = *std::move(plan_.next);
    else if (note->predictions.size() == generations_.candidates().size())
      generations_.end(problem(), note->predictions);
    else
      note.reset();
  }
  plan_ = {};
  if (design().discrete())
    tried_.emplace(observation.fingerprint, observation.trial);
  if (note && note->index == is_minimum) {
    minimum_ = observation.trial;
    generations_.begin_beside(problem(), observation);
  } else {
    const auto index = note ? std::optional(static_cast<std::size_t>(note->index)) : std::nullopt;
    generations_.begin(problem(), observation, index);
  }
}

/// Which configurations were tried, and so which candidates have a trial, is another question now.
void CmaEsSearcher::amended(const Observation&) {
  if (!design().discrete())
    return;
  ++change_;
  index_trials();
  generations_ = CmaEsGenerations::restore(problem(), generations_.save()).value_or_throw();
}

void CmaEsSearcher::observed(const Observation& observation) {
  if (!observation.over())
    return;
  ++change_;
  generations_.finish(problem(), observation);
}

Value CmaEsSearcher::save_model() const {
  return Map{{"generations", generations_.save()},
             {"minimum", minimum_ ? Value(static_cast<std::int64_t>(minimum_->value)) : Value()}};
}

Status CmaEsSearcher::restore_model(const Value& state) {
  const Value* generations = find_state(state, "generations");
  const Value* minimum = find_state(state, "minimum");
  const auto trial = minimum != nullptr ? trial_of(*minimum) : std::nullopt;
  if (generations == nullptr || minimum == nullptr || minimum->is_null() == trial.has_value() ||
      (trial && history().find(*trial) == nullptr))
    return incomplete_state(name());
  index_trials();
  neighbours_ = Neighbours(axes_.numeric);
  ++change_;
  TROUPE_TRY(restored, CmaEsGenerations::restore(problem(), *generations));
  generations_ = std::move(restored);
  minimum_ = trial;
  return ok();
}

}  // namespace troupe::tune::detail
