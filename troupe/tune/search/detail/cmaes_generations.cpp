#include <troupe/tune/search/detail/cmaes_generations.hpp>
#include <troupe/tune/search/detail/order.hpp>

#include <algorithm>
#include <utility>

// How a generation of CMA-ES begins and ends.

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// Random numbers of candidates, apart from those of trials and of runs.
constexpr std::uint32_t candidate_counter = 999'998;
/// Draws of a candidate before one that breaks a rule of the space is kept, to rank last.
constexpr int max_draws = 20;
/// Generations that may end in one go, when all of their points were tried before.
constexpr int max_free_generations = 50;
/// Results that categories are learnt from, the last ones.
constexpr std::size_t category_results = 1000;

/// What became of a candidate; null pointer while that is open.
const Observation* result(const CmaEsProblem& problem,
                          const CmaEsGenerations::Candidate& candidate) {
  const Observation* found = candidate.trial ? problem.history.find(*candidate.trial) : nullptr;
  return found != nullptr && found->over() ? found : nullptr;
}

}  // namespace

/// What a generation tells the distribution of one point.
struct CmaEsGenerations::Entry {
  OrderKey key;
  Cma::Told told;
};

void CmaEsGenerations::numeric(const CmaEsProblem& problem, const Point& point,
                               Eigen::Ref<VectorXd> x) const {
  const std::vector<std::size_t>& axes = problem.axes.numeric;
  for (std::size_t j = 0; j < axes.size(); ++j) {
    const auto index = static_cast<Index>(j);
    const double nowhere = cma_ ? cma_->mean()[index] : 0.5;
    x[index] = exists(point[axes[j]]) ? point[axes[j]] : nowhere;
  }
}

VectorXd CmaEsGenerations::numeric(const CmaEsProblem& problem, const Point& point) const {
  VectorXd x(static_cast<Index>(problem.axes.numeric.size()));
  numeric(problem, point, x);
  return x;
}

Point CmaEsGenerations::point(const CmaEsProblem& problem, const VectorXd& x) const {
  Point made(problem.design.size(), 0.0);
  for (std::size_t j = 0; j < problem.axes.numeric.size(); ++j)
    made[problem.axes.numeric[j]] = x[static_cast<Index>(j)];
  for (std::size_t k = 0; k < problem.axes.categorical.size(); ++k) {
    const std::vector<double>& p = categories_.probabilities(k);
    made[problem.axes.categorical[k]] =
        static_cast<double>(std::max_element(p.begin(), p.end()) - p.begin());
  }
  return problem.design.canonical(std::move(made));
}

std::set<std::size_t> CmaEsGenerations::further() const {
  std::set<std::size_t> numbers;
  for (const Others* others : {&running_, &results_})
    for (const auto& [trial, other] : *others)
      if (other.index >= 0)
        numbers.insert(static_cast<std::size_t>(other.index));
  return numbers;
}

double CmaEsGenerations::distance(const CmaEsProblem& problem, const Point& point) const {
  const std::vector<std::size_t>& axes = problem.axes.numeric;
  double sum = 0;
  for (std::size_t j = 0; j < axes.size(); ++j) {
    const auto index = static_cast<Index>(j);
    const double apart = exists(point[axes[j]]) ? point[axes[j]] - cma_->mean()[index] : 0;
    sum += apart * apart * precisions_[index];
  }
  return sum;
}

CmaEsGenerations::Candidate CmaEsGenerations::candidate(const CmaEsProblem& problem,
                                                        std::size_t index) const {
  const CmaEsAxes& axes = problem.axes;
  const auto stream = (static_cast<std::uint64_t>(schedule_.run) << 48U) ^
                      (static_cast<std::uint64_t>(schedule_.generation) << 20U) ^ index;
  Random random(problem.seed, stream, RandomPurpose::searcher, candidate_counter);
  Candidate made;
  for (int draw = 0; draw < max_draws; ++draw) {
    made.point.assign(problem.design.size(), 0.0);
    if (cma_) {
      Cma::Sample sample = cma_->sample(random);
      for (std::size_t j = 0; j < axes.numeric.size(); ++j)
        made.point[axes.numeric[j]] = sample.point[static_cast<Index>(j)];
      made.x = std::move(sample.x);
    }
    const std::vector<double> chosen = categories_.sample(random);
    for (std::size_t k = 0; k < axes.categorical.size(); ++k)
      made.point[axes.categorical[k]] = chosen[k];
    made.point = problem.design.canonical(std::move(made.point));
    made.allowed = problem.design.allowed(made.point);
    if (made.allowed)
      break;
  }
  if (problem.design.discrete())
    made.fingerprint = fingerprint(problem.design.decode(made.point));
  return made;
}

void CmaEsGenerations::begin_generation(const CmaEsProblem& problem) {
  schedule_.asked = 0;
  schedule_.results = 0;
  candidates_.clear();
  if (cma_)
    precisions_ = cma_->variances().cwiseInverse() / (cma_->sigma() * cma_->sigma());
  for (std::size_t i = 0; i < static_cast<std::size_t>(schedule_.population); ++i) {
    Candidate& made = candidates_.emplace_back(candidate(problem, i));
    if (!made.allowed || !problem.design.discrete())
      continue;
    if (const auto found = problem.tried.find(made.fingerprint); found != problem.tried.end())
      made.trial = found->second;
  }
}

/// In a discrete space a candidate may be what was asked for another reason.
void CmaEsGenerations::note_configuration(const CmaEsProblem& problem, const Observation& trial) {
  if (!problem.design.discrete())
    return;
  for (Candidate& candidate : candidates_)
    if (!candidate.trial && candidate.allowed && candidate.fingerprint == trial.fingerprint)
      candidate.trial = trial.trial;
  advance(problem);
}

void CmaEsGenerations::begin(const CmaEsProblem& problem, const Observation& trial,
                             std::optional<std::size_t> index) {
  std::optional<Candidate> further;  // beyond the population
  if (index && *index >= candidates_.size())
    further = candidate(problem, *index);
  Candidate* wanted = !index ? nullptr : further ? &*further : &candidates_[*index];
  // Results that came since it was suggested may have changed the distribution.
  const bool same = wanted != nullptr && !wanted->trial &&
                    fingerprint(problem.design.decode(wanted->point)) == trial.fingerprint;
  if (same && !further) {
    wanted->trial = trial.trial;
    wanted->asked = true;
  } else if (same) {
    running_.emplace(trial.trial.value,
                     Other{std::move(wanted->x), static_cast<std::int64_t>(*index)});
  } else {
    running_.emplace(trial.trial.value, Other{numeric(problem, trial.point), Other::elsewhere});
  }
  schedule_.asked += same ? 1 : 0;
  note_configuration(problem, trial);
}

void CmaEsGenerations::begin_beside(const CmaEsProblem& problem, const Observation& trial) {
  running_.emplace(trial.trial.value, Other{numeric(problem, trial.point), Other::beside});
  ++schedule_.asked;
  note_configuration(problem, trial);
}

void CmaEsGenerations::finish(const CmaEsProblem& problem, const Observation& trial) {
  ++(schedule_.large != 0 ? schedule_.large_trials : schedule_.small_trials);
  schedule_.ahead = 0;
  schedule_.results +=
      std::count_if(candidates_.begin(), candidates_.end(), [&](const Candidate& candidate) {
        return candidate.asked && candidate.trial == trial.trial;
      });
  if (const auto found = running_.find(trial.trial.value); found != running_.end()) {
    schedule_.results += found->second.index != Other::elsewhere ? 1 : 0;
    results_.insert(std::move(*found));
    running_.erase(found);
  }
  advance(problem);
}

void CmaEsGenerations::end(const CmaEsProblem& problem, std::span<const double> predictions) {
  ++schedule_.ahead;
  end_generation(problem, predictions);
  advance(problem);
}

void CmaEsGenerations::advance(const CmaEsProblem& problem) {
  for (int i = 0; i < max_free_generations && !over() && complete(problem); ++i)
    end_generation(problem, {});
}

/// Are there as many results as the population?
bool CmaEsGenerations::complete(const CmaEsProblem& problem) const {
  std::size_t known = results_.size();
  for (const Candidate& candidate : candidates_)
    known += !candidate.allowed || result(problem, candidate) != nullptr ? 1 : 0;
  return known >= static_cast<std::size_t>(schedule_.population);
}

/// What is known first, then what is predicted; no more than the population.
std::vector<CmaEsGenerations::Entry> CmaEsGenerations::entries(
    const CmaEsProblem& problem, std::span<const double> predictions) const {
  std::vector<Entry> all;
  std::vector<Entry> predicted;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& c = candidates_[i];
    if (const Observation* o = result(problem, c))
      all.push_back({order_key(*o), {c.x, false}});
    else if (!c.allowed)
      all.push_back({OrderKey{4, 0, 0}, {c.x, false}});
    else if (i < predictions.size())
      predicted.push_back({OrderKey{0, predictions[i], 0}, {c.x, false}});
  }
  for (const auto& [trial, other] : results_)
    all.push_back({order_key(*problem.history.find(TrialId(trial))), {other.x, other.index < 0}});
  all.insert(all.end(), std::make_move_iterator(predicted.begin()),
             std::make_move_iterator(predicted.end()));
  const auto population = static_cast<std::size_t>(schedule_.population);
  if (all.size() > population)
    all.resize(population);
  return all;
}

void CmaEsGenerations::end_generation(const CmaEsProblem& problem,
                                      std::span<const double> predictions) {
  std::vector<Entry> told = entries(problem, predictions);
  for (auto& [trial, other] : running_)
    other.index = Other::elsewhere;
  for (Candidate& c : candidates_)
    if (c.trial && result(problem, c) == nullptr)
      running_.emplace(c.trial->value, Other{std::move(c.x), Other::elsewhere});
  results_.clear();
  learn_categories(problem);
  ++schedule_.generation;
  if (cma_) {
    std::stable_sort(told.begin(), told.end(),
                     [](const Entry& a, const Entry& b) { return a.key < b.key; });
    std::vector<Cma::Told> best_first;
    for (Entry& entry : told)
      best_first.push_back(std::move(entry.told));
    const auto loss = [](const OrderKey& key) {
      return std::get<0>(key) == 0 ? std::get<1>(key) : infinity;
    };
    cma_->tell(best_first, loss(told.front().key), loss(told.back().key),
               [&](std::size_t j, double x) {
                 return problem.design.axes()[problem.axes.numeric[j]].cell(x);
               });
    if (cma_->done())
      restart(problem);
  }
  if (!over())
    begin_generation(problem);
}

void CmaEsGenerations::learn_categories(const CmaEsProblem& problem) {
  if (problem.axes.categorical.empty())
    return;
  std::vector<std::pair<OrderKey, const Point*>> last;
  const std::vector<Observation>& all = problem.history.all();
  for (auto it = all.rbegin(); it != all.rend() && last.size() < category_results; ++it)
    if (it->over())
      last.emplace_back(order_key(*it), &it->point);
  if (last.empty())
    return;
  std::stable_sort(last.begin(), last.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Point*> best_first;
  for (const auto& [key, point] : last)
    best_first.push_back(point);
  categories_.learn(best_first, problem.axes.categorical);
}

}  // namespace troupe::tune::detail
