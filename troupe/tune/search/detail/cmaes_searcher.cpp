#include <troupe/tune/search/detail/cmaes_searcher.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Random numbers of runs and generations, apart from those of trials.
constexpr std::uint32_t run_counter = 999'999;
constexpr std::uint32_t candidate_counter = 999'998;
constexpr std::size_t largest_full = 64;
constexpr int max_doublings = 7;
/// Draws of a candidate before one that breaks a rule of the space is kept, to rank last.
constexpr int max_draws = 20;
/// Generations that may end in one go, when all of their points were tried before.
constexpr int max_free_generations = 50;

/// A regression that was not good enough is not much better with one result more: 0, 1, 2, 3, 5, 8,
/// 13, ... results of a generation are worth another one.
bool worth_fitting(std::size_t results) {
  std::size_t a = 1;
  std::size_t b = 2;
  while (a < results)
    b = std::exchange(a, b) + b;
  return results == 0 || a == results;
}

}  // namespace

Status CmaEsSearcher::begin() {
  TROUPE_RETURN_IF_ERROR(cmaes_options(options()));
  numeric_.clear();
  categorical_.clear();
  indicator_count_ = 0;
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i < design().size(); ++i) {
    const bool categorical = design().axes()[i].categorical();
    (categorical ? categorical_ : numeric_).push_back(i);
    if (categorical) {
      counts.push_back(design().axes()[i].count());
      indicator_count_ += static_cast<std::size_t>(design().axes()[i].count());
    }
  }
  schedule_ = {};
  schedule_.population = static_cast<std::int64_t>(first_population());
  late_.clear();
  other_.clear();
  tried_.clear();
  if (design().discrete())
    for (const Observation& o : history().all())
      tried_.emplace(o.fingerprint, o.trial);
  categories_ = CategoryModel(counts);
  learn_categories();
  minimum_.reset();
  surrogate_ = {};
  cma_.reset();
  if (!numeric_.empty()) {
    cma_ = warm_start();
    if (!cma_)
      cma_.emplace(settings(), VectorXd::Constant(static_cast<Index>(numeric_.size()), 0.5),
                   options_.sigma);
  }
  begin_generation();
  return ok();
}

std::size_t CmaEsSearcher::first_population() const {
  return options_.population != 0 ? options_.population
                                  : CmaSettings::default_population(design().size());
}

CmaSettings CmaEsSearcher::settings() const {
  CmaSettings settings;
  settings.dimensions = numeric_.size();
  settings.population = static_cast<std::size_t>(schedule_.population);
  settings.separable = options_.covariance == CmaEsOptions::Covariance::diagonal ||
                       (options_.covariance == CmaEsOptions::Covariance::automatic &&
                        numeric_.size() > largest_full);
  settings.adapt_learning_rate = options_.adapt_learning_rate;
  for (std::size_t j = 0; j < numeric_.size(); ++j)
    if (!design().axes()[numeric_[j]].continuous())
      settings.stepped.push_back(j);
  return settings;
}

/// Mean and covariance of the best tenth of what is known, widened by a tenth of the box.
std::optional<Cma> CmaEsSearcher::warm_start() const {
  constexpr double width = 0.1;
  std::vector<const Observation*> known;
  for (const Observation& o : history().all())
    if (o.state == Observation::State::complete && o.feasible() && o.losses[0] < infinity)
      known.push_back(&o);
  if (known.empty())
    return std::nullopt;
  std::stable_sort(known.begin(), known.end(),
                   [](const Observation* a, const Observation* b) { return better(*a, *b); });
  known.resize((known.size() + 9) / 10);
  const auto d = static_cast<Index>(numeric_.size());
  MatrixXd x(d, static_cast<Index>(known.size()));
  for (Index i = 0; i < x.cols(); ++i)
    x.col(i) = numeric(known[static_cast<std::size_t>(i)]->point);
  const VectorXd mean = x.rowwise().mean();
  const MatrixXd centred = x.colwise() - mean;
  const MatrixXd covariance = centred * centred.transpose() / static_cast<double>(x.cols()) +
                              width * width * MatrixXd::Identity(d, d);
  return Cma(settings(), mean, covariance);
}

/// Coordinates that do not exist stay where the distribution is: they neither pull nor push.
VectorXd CmaEsSearcher::numeric(const Point& point) const {
  VectorXd x(static_cast<Index>(numeric_.size()));
  for (std::size_t j = 0; j < numeric_.size(); ++j) {
    const auto index = static_cast<Index>(j);
    const double nowhere = cma_ ? cma_->mean()[index] : 0.5;
    x[index] = exists(point[numeric_[j]]) ? point[numeric_[j]] : nowhere;
  }
  return x;
}

Cma::Cells CmaEsSearcher::cells() const {
  return [this](std::size_t j, double x) { return design().axes()[numeric_[j]].cell(x); };
}

// -- Generations --------------------------------------------------------------------------------

void CmaEsSearcher::begin_generation() {
  candidates_.clear();
  for (std::size_t i = 0; i < static_cast<std::size_t>(schedule_.population); ++i)
    candidates_.push_back(i == 0 && minimum_ ? at_minimum() : candidate(i));
  for (Candidate& candidate : candidates_)
    take_known(candidate);
}

CmaEsSearcher::Candidate CmaEsSearcher::candidate(std::size_t index) const {
  const auto stream = (static_cast<std::uint64_t>(schedule_.run) << 48U) ^
                      (static_cast<std::uint64_t>(schedule_.generation) << 20U) ^ index;
  Random random(context().seed, stream, RandomPurpose::searcher, candidate_counter);
  Candidate made;
  for (int draw = 0; draw < max_draws; ++draw) {
    made.point.assign(design().size(), 0.0);
    if (cma_) {
      Cma::Sample sample = cma_->sample(random);
      for (std::size_t j = 0; j < numeric_.size(); ++j)
        made.point[numeric_[j]] = sample.point[static_cast<Index>(j)];
      made.x = std::move(sample.x);
    }
    const std::vector<double> chosen = categories_.sample(random);
    for (std::size_t k = 0; k < categorical_.size(); ++k)
      made.point[categorical_[k]] = chosen[k];
    made.point = design().canonical(std::move(made.point));
    made.allowed = design().allowed(made.point);
    if (made.allowed)
      break;
  }
  return made;
}

/// The minimum of the regression, as far as it is within reach, with the likeliest categories.
CmaEsSearcher::Candidate CmaEsSearcher::at_minimum() const {
  Candidate made;
  const VectorXd step = cma_->local(*minimum_);
  const double length = step.norm();
  made.x = length > cma_->likely_distance()
               ? cma_->global(step * (cma_->likely_distance() / length))
               : *minimum_;
  made.x = made.x.cwiseMax(0).cwiseMin(1);
  made.foreign = true;
  made.point.assign(design().size(), 0.0);
  for (std::size_t j = 0; j < numeric_.size(); ++j)
    made.point[numeric_[j]] = made.x[static_cast<Index>(j)];
  for (std::size_t k = 0; k < categorical_.size(); ++k) {
    const std::vector<double>& p = categories_.probabilities(k);
    made.point[categorical_[k]] =
        static_cast<double>(std::max_element(p.begin(), p.end()) - p.begin());
  }
  made.point = design().canonical(std::move(made.point));
  made.allowed = design().allowed(made.point);
  return made;
}

void CmaEsSearcher::take_known(Candidate& candidate) const {
  if (!design().discrete() || !candidate.allowed || candidate.trial)
    return;
  const auto found = tried_.find(fingerprint(design().decode(candidate.point)));
  if (found != tried_.end())
    candidate.trial = found->second;
}

/// What became of a candidate; null pointer while that is open.
const Observation* CmaEsSearcher::result(const Candidate& candidate) const {
  const Observation* found = candidate.trial ? history().find(*candidate.trial) : nullptr;
  return found != nullptr && found->over() ? found : nullptr;
}

Result<ModelSearcher::Proposal> CmaEsSearcher::propose(TrialId, std::uint32_t attempt) const {
  if (schedule_.over)
    return Proposal{};
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < candidates_.size(); ++i)
    if (!candidates_[i].trial && candidates_[i].allowed)
      open.push_back(i);
  // More workers than candidates: the same distribution has more to give.
  std::size_t index = candidates_.size() + attempt - std::min<std::size_t>(attempt, open.size());
  if (attempt < open.size()) {
    // The minimum of the last regression comes first anyway.
    const bool first = minimum_ && open.front() == 0;
    if (const Surrogate* s = first || !worth_fitting(fresh()) ? nullptr : &surrogate();
        s != nullptr && s->model)
      std::stable_sort(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
        return s->predictions[a] < s->predictions[b];
      });
    index = open[attempt];
  }
  const Point point =
      index < candidates_.size() ? candidates_[index].point : candidate(index).point;
  return Proposal{point,
                  List{schedule_.run, schedule_.generation, static_cast<std::int64_t>(index)}};
}

void CmaEsSearcher::proposed(const Observation& observation, const Value& note) {
  if (design().discrete())
    tried_.emplace(observation.fingerprint, observation.trial);
  const List* list = note.get_if<List>();
  constexpr std::int64_t most = 1 << 20;
  const bool mine = list != nullptr && list->size() == 3 && (*list)[0] == Value(schedule_.run) &&
                    (*list)[1] == Value(schedule_.generation) && (*list)[2].is_int() &&
                    (*list)[2].as_int() >= 0 && (*list)[2].as_int() < most;
  if (mine) {
    const auto index = static_cast<std::size_t>((*list)[2].as_int());
    while (candidates_.size() <= index)
      candidates_.push_back(candidate(candidates_.size()));
    candidates_[index].trial = observation.trial;
    candidates_[index].asked = true;
  } else {
    late_.emplace(observation.trial.value, numeric(observation.point));
  }
  for (Candidate& candidate : candidates_)
    take_known(candidate);
  advance();
}

void CmaEsSearcher::observed(const Observation& observation) {
  if (!observation.over())
    return;
  if (const auto found = late_.find(observation.trial.value); found != late_.end()) {
    other_.insert(std::move(*found));
    late_.erase(found);
  }
  advance();
}

void CmaEsSearcher::advance() {
  for (int i = 0; i < max_free_generations && !schedule_.over && complete(); ++i)
    end_generation();
}

/// Are there enough results, or is the regression good enough to do without the others?
bool CmaEsSearcher::complete() const {
  const auto population = static_cast<std::size_t>(schedule_.population);
  std::size_t known = other_.size();
  for (const Candidate& candidate : candidates_)
    known += !candidate.allowed || result(candidate) != nullptr ? 1 : 0;
  if (known >= population)
    return true;
  const std::size_t tried = fresh();
  return tried > 0 && worth_fitting(tried) && surrogate().trusted;
}

/// Results of trials that were made for this generation.
std::size_t CmaEsSearcher::fresh() const {
  return static_cast<std::size_t>(
      std::count_if(candidates_.begin(), candidates_.end(), [this](const Candidate& candidate) {
        return candidate.asked && result(candidate) != nullptr;
      }));
}

void CmaEsSearcher::end_generation() {
  struct Entry {
    OrderKey key;
    Cma::Told told;
  };
  const auto population = static_cast<std::size_t>(schedule_.population);
  std::vector<Entry> entries;
  std::vector<Entry> predicted;
  const bool trusted = surrogate().trusted;
  Others late = std::move(late_);
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& c = candidates_[i];
    if (const Observation* o = result(c)) {
      entries.push_back({order_key(*o), {c.x, c.foreign}});
      continue;
    }
    if (c.trial)
      late.emplace(c.trial->value, c.x);
    if (!c.allowed)
      entries.push_back({OrderKey{4, 0, 0}, {c.x, c.foreign}});
    else if (trusted)
      predicted.push_back({OrderKey{0, surrogate_.predictions[i], 0}, {c.x, c.foreign}});
  }
  for (const auto& [trial, x] : other_)
    entries.push_back({order_key(*history().find(TrialId(trial))), {x, true}});
  entries.insert(entries.end(), predicted.begin(), predicted.end());
  const std::int64_t used = static_cast<std::int64_t>(entries.size() - predicted.size());
  // More than a generation: what came first counts, the order of trials.
  if (entries.size() > population)
    entries.resize(population);
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.key < b.key; });
  learn_categories();
  minimum_ = trusted && cma_ ? minimum() : std::nullopt;
  if (cma_) {
    std::vector<Cma::Told> told;
    for (Entry& entry : entries)
      told.push_back(std::move(entry.told));
    const auto loss = [](const OrderKey& key) {
      return std::get<0>(key) == 0 ? std::get<1>(key) : infinity;
    };
    cma_->tell(told, loss(entries.front().key), loss(entries.back().key), cells());
  }
  (schedule_.large ? schedule_.large_trials : schedule_.small_trials) += used;
  ++schedule_.generation;
  late_ = std::move(late);
  other_.clear();
  if (cma_ && cma_->done())
    restart();
  if (!schedule_.over)
    begin_generation();
}

void CmaEsSearcher::learn_categories() {
  if (categorical_.empty())
    return;
  std::vector<const Observation*> over;
  for (const Observation& o : history().all())
    if (o.over())
      over.push_back(&o);
  if (over.empty())
    return;
  std::stable_sort(over.begin(), over.end(),
                   [](const Observation* a, const Observation* b) { return better(*a, *b); });
  std::vector<std::vector<double>> rows;
  for (const Observation* o : over) {
    std::vector<double>& row = rows.emplace_back();
    for (const std::size_t axis : categorical_)
      row.push_back(o->point[axis]);
  }
  categories_.learn(rows);
}

/// Is the nearest trial of all one that failed or is infeasible?
bool CmaEsSearcher::near_failure(const VectorXd& x) const {
  const Observation* nearest = nullptr;
  double least = infinity;
  for (const Observation& o : history().all()) {
    const double distance = o.over() ? (numeric(o.point) - x).squaredNorm() : infinity;
    if (distance < least) {
      least = distance;
      nearest = &o;
    }
  }
  return nearest != nullptr && !(nearest->valued() && nearest->feasible());
}

void CmaEsSearcher::restart() {
  Schedule& s = schedule_;
  ++s.run;
  s.generation = 0;
  minimum_.reset();
  // What an earlier run asked for says nothing about the place where the next one searches.
  late_.clear();
  if (options_.restarts == CmaEsOptions::Restarts::none) {
    s.over = true;
    candidates_.clear();
    return;
  }
  Random random(context().seed, static_cast<std::uint64_t>(s.run), RandomPurpose::searcher,
                run_counter);
  const auto first = static_cast<double>(first_population());
  double sigma = options_.sigma;
  s.large = options_.restarts == CmaEsOptions::Restarts::ipop || s.small_trials >= s.large_trials;
  if (s.large) {
    s.doublings = std::min<std::int64_t>(s.doublings + 1, max_doublings);
    s.population = static_cast<std::int64_t>(first * std::exp2(s.doublings));
  } else {
    const double u = random.uniform();
    s.population =
        static_cast<std::int64_t>(first * std::exp2(u * u * static_cast<double>(s.doublings)));
    sigma *= std::pow(10, -2 * random.uniform());
  }
  VectorXd mean(static_cast<Index>(numeric_.size()));
  for (int draw = 0; draw < max_draws; ++draw) {
    for (double& coordinate : mean)
      coordinate = random.uniform();
    if (!near_failure(mean))
      break;
  }
  cma_.emplace(settings(), std::move(mean), sigma);
}

}  // namespace troupe::tune::detail
