#include <troupe/tune/search/detail/cmaes_generations.hpp>
#include <troupe/tune/search/detail/failure_map.hpp>
#include <troupe/tune/search/detail/order.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

// Where a run of CMA-ES begins: the first one, and those that follow.

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Random numbers of runs, apart from those of trials and of candidates.
constexpr std::uint32_t run_counter = 999'999;
constexpr std::size_t largest_full = 64;
/// Places that are looked at for a run to begin away from what failed.
constexpr int max_draws = 20;

CategoryModel even_categories(const CmaEsProblem& problem) {
  std::vector<std::uint64_t> counts;
  for (const std::size_t axis : problem.axes.categorical)
    counts.push_back(problem.design.axes()[axis].count());
  return CategoryModel(std::move(counts));
}

}  // namespace

CmaEsAxes::CmaEsAxes(const Design& design) {
  for (std::size_t i = 0; i < design.size(); ++i) {
    const Axis& axis = design.axes()[i];
    (axis.categorical() ? categorical : numeric).push_back(i);
    if (axis.categorical())
      indicators += static_cast<std::size_t>(axis.count());
  }
}

std::size_t CmaEsGenerations::first_population(const CmaEsProblem& problem) {
  return problem.options.population != 0 ? problem.options.population
                                         : CmaSettings::default_population(problem.design.size());
}

CmaSettings CmaEsGenerations::settings(const CmaEsProblem& problem, std::int64_t population) {
  using Covariance = CmaEsOptions::Covariance;
  const std::vector<std::size_t>& axes = problem.axes.numeric;
  CmaSettings settings;
  settings.dimensions = axes.size();
  settings.population = static_cast<std::size_t>(population);
  settings.separable =
      problem.options.covariance == Covariance::diagonal ||
      (problem.options.covariance == Covariance::automatic && axes.size() > largest_full);
  settings.adapt_learning_rate = problem.options.adapt_learning_rate;
  for (std::size_t j = 0; j < axes.size(); ++j)
    if (!problem.design.axes()[axes[j]].continuous())
      settings.stepped.push_back(j);
  return settings;
}

CmaEsGenerations::CmaEsGenerations(const CmaEsProblem& problem)
    : categories_(even_categories(problem)) {
  schedule_.population = static_cast<std::int64_t>(first_population(problem));
  learn_categories(problem);
  if (!problem.axes.numeric.empty()) {
    cma_ = warm_start(problem);
    if (!cma_)
      cma_.emplace(settings(problem, schedule_.population),
                   VectorXd::Constant(static_cast<Index>(problem.axes.numeric.size()), 0.5),
                   problem.options.sigma);
  }
  begin_generation(problem);
}

/// Mean and covariance of the best tenth of what is known, widened by a tenth of the box; by less
/// the more is known, and the surer it is by that where the best points lie.
std::optional<Cma> CmaEsGenerations::warm_start(const CmaEsProblem& problem) const {
  std::vector<const Observation*> known;
  for (const Observation& o : problem.history.all())
    if (o.state == Observation::State::complete && o.feasible() && o.losses[0] < infinity)
      known.push_back(&o);
  if (known.empty())
    return std::nullopt;
  std::stable_sort(known.begin(), known.end(),
                   [](const Observation* a, const Observation* b) { return better(*a, *b); });
  const auto d = static_cast<Index>(problem.axes.numeric.size());
  const double width = std::min(0.1, static_cast<double>(d) / static_cast<double>(known.size()));
  known.resize((known.size() + 9) / 10);
  MatrixXd x(d, static_cast<Index>(known.size()));
  for (Index i = 0; i < x.cols(); ++i)
    x.col(i) = numeric(problem, known[static_cast<std::size_t>(i)]->point);
  const VectorXd mean = x.rowwise().mean();
  const MatrixXd centred = x.colwise() - mean;
  const MatrixXd covariance = centred * centred.transpose() / static_cast<double>(x.cols()) +
                              width * width * MatrixXd::Identity(d, d);
  return Cma(settings(problem, schedule_.population), mean, covariance);
}

void CmaEsGenerations::restart(const CmaEsProblem& problem) {
  Schedule& s = schedule_;
  ++s.run;
  s.generation = 0;
  // What an earlier run asked for says nothing about the place where the next one searches.
  running_.clear();
  if (problem.options.restarts == CmaEsOptions::Restarts::none) {
    s.over = 1;
    candidates_.clear();
    return;
  }
  Random random(problem.seed, static_cast<std::uint64_t>(s.run), RandomPurpose::searcher,
                run_counter);
  const auto first = static_cast<double>(first_population(problem));
  double sigma = problem.options.sigma;
  const bool large =
      problem.options.restarts == CmaEsOptions::Restarts::ipop || s.small_trials >= s.large_trials;
  s.large = large ? 1 : 0;
  if (large) {
    s.doublings = std::min<std::int64_t>(s.doublings + 1, max_doublings);
    s.population = static_cast<std::int64_t>(first * std::exp2(s.doublings));
  } else {
    const double u = random.uniform();
    s.population =
        static_cast<std::int64_t>(first * std::exp2(u * u * static_cast<double>(s.doublings)));
    sigma *= std::pow(10, -2 * random.uniform());
  }
  VectorXd mean(static_cast<Index>(problem.axes.numeric.size()));
  const FailureMap failures(problem.design, problem.history);
  for (int draw = 0; draw < max_draws; ++draw) {
    for (double& coordinate : mean)
      coordinate = random.uniform();
    if (failures.empty() || !failures.near(point(problem, mean)))
      break;
  }
  cma_.emplace(settings(problem, s.population), std::move(mean), sigma);
}

}  // namespace troupe::tune::detail
