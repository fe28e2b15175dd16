#include <troupe/tune/search/detail/gp_searcher.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::uint32_t counter_fantasies = 2;
/// A trial that fails says nothing but that, so it is avoided more than one that breaks a
/// constraint.
constexpr double failure_power = 4;
/// Points of a front of three objectives: the boxes grow with its square.
constexpr std::size_t max_front = 24;

WarpChoice choice_of(GpOptions::Warp warp) {
  switch (warp) {
    case GpOptions::Warp::none:
      return WarpChoice::none;
    case GpOptions::Warp::yeo_johnson:
      return WarpChoice::yeo_johnson;
    case GpOptions::Warp::automatic:
      break;
  }
  return WarpChoice::automatic;
}

std::vector<Point> points_of(const std::vector<const Observation*>& observations) {
  std::vector<Point> points;
  for (const Observation* o : observations)
    points.push_back(o->point);
  return points;
}

MatrixXd stacked(const MatrixXd& top, const MatrixXd& bottom) {
  MatrixXd all(top.rows() + bottom.rows(), top.cols());
  all << top, bottom;
  return all;
}

bool dominates(const VectorXd& a, const VectorXd& b) {
  return (a.array() <= b.array()).all() && (a.array() < b.array()).any();
}

}  // namespace

GpSearcher::Fits GpSearcher::fit(const GpData& data) const {
  Fits fits;
  fits.over = history().over();
  for (std::size_t m = 0; m < context().objectives.size(); ++m) {
    const bool started = m < fits_.objectives.size();
    fits.objectives.push_back(fit_one(data, data.losses(m),
                                      started ? fits_.objectives[m] : SurrogateParameters{},
                                      choice_of(options_.warp)));
  }
  for (std::size_t c = 0; c < context().constraints.size(); ++c) {
    const bool started = c < fits_.constraints.size();
    fits.constraints.push_back(fit_one(data, data.excess(c),
                                       started ? fits_.constraints[c] : SurrogateParameters{},
                                       WarpChoice::none));
  }
  if (!data.failed.empty())
    fits.failure = fit_failure(data, fits_.failure.value_or(SurrogateParameters{}));
  return fits;
}

std::size_t GpSearcher::scale_afresh(const GpEffort& effort) const {
  return effort.both_afresh ? 2 : history().over() % 2;
}

SurrogateParameters GpSearcher::fit_one(const GpData& data, const VectorXd& numbers,
                                        const SurrogateParameters& start, WarpChoice choice) const {
  const GpEffort effort = gp_effort(data.seen.size(), design().size());
  const std::vector<std::size_t> some = representative(data.seen, effort.fitted);
  VectorXd chosen(static_cast<Index>(some.size()));
  std::vector<Point> points;
  for (std::size_t i = 0; i < some.size(); ++i) {
    chosen[static_cast<Index>(i)] = numbers[static_cast<Index>(some[i])];
    points.push_back(data.seen[some[i]]->point);
  }
  return fit_surrogate({features_(points), features_.nominal()}, chosen, start, choice,
                       scale_afresh(effort), effort.evaluations);
}

SurrogateParameters GpSearcher::fit_failure(const GpData& data,
                                            const SurrogateParameters& start) const {
  std::vector<Point> points = points_of(data.failed);
  const auto failures = static_cast<Index>(points.size());
  const GpEffort effort = gp_effort(points.size() + data.seen.size(), design().size());
  for (const std::size_t i :
       representative(data.seen, effort.fitted - std::min(effort.fitted, points.size())))
    points.push_back(data.seen[i]->point);
  VectorXd numbers = VectorXd::Constant(static_cast<Index>(points.size()), -1);
  numbers.head(failures).setOnes();
  return fit_surrogate({features_(points), features_.nominal()}, numbers, start, WarpChoice::none,
                       scale_afresh(effort), effort.evaluations);
}

std::optional<Acquisition> GpSearcher::acquisition(const GpData& data, const Fits& fits,
                                                   TrialId trial, double least_gain) const {
  Acquisition made;
  add_constraints(made, data, fits);
  const bool ok = context().objectives.size() == 1
                      ? add_objective(made, data, fits, trial, least_gain)
                      : add_objectives(made, data, fits);
  if (!ok || made.empty())
    return std::nullopt;
  return made;
}

void GpSearcher::add_constraints(Acquisition& acquisition, const GpData& data,
                                 const Fits& fits) const {
  const MatrixXd seen = features_(points_of(data.seen));
  const MatrixXd running = features_(points_of(data.running));
  const MatrixXd expected = MatrixXd::Zero(running.rows(), 1);
  for (std::size_t c = 0; c < fits.constraints.size(); ++c) {
    const VectorXd excess = data.excess(c);
    const OutputWarp scale = surrogate_scale(fits.constraints[c], excess);
    GpPosterior posterior({stacked(seen, running), features_.nominal()},
                          fits.constraints[c].chosen(), scale(excess), expected);
    if (posterior.ok())
      acquisition.constrain(std::move(posterior), scale.unclamped(0));
  }
  if (auto failure = failure_model(data, fits))
    acquisition.constrain(std::move(failure->posterior), failure->limit, failure_power,
                          failure->least);
}

std::optional<GpSearcher::FailureModel> GpSearcher::failure_model(const GpData& data,
                                                                  const Fits& fits) const {
  if (!fits.failure)
    return std::nullopt;
  const MatrixXd failed = features_(points_of(data.failed));
  const MatrixXd seen = features_(points_of(data.seen));
  VectorXd numbers = VectorXd::Constant(failed.rows() + seen.rows(), -1);
  numbers.head(failed.rows()).setOnes();
  const OutputWarp scale = surrogate_scale(*fits.failure, numbers);
  GpPosterior posterior({stacked(failed, seen), features_.nominal()}, fits.failure->chosen(),
                        scale(numbers));
  if (!posterior.ok())
    return std::nullopt;
  return FailureModel{std::move(posterior), scale.unclamped(0),
                      least_safety(history(), options_.startup_trials)};
}

bool GpSearcher::is_safe(const Point& point, const GpData& data, const Fits& fits) const {
  const auto failure = failure_model(data, fits);
  if (!failure)
    return true;
  const GpPosterior::At at = failure->posterior.at(features_(point));
  return (failure->limit - at.means[0]) / std::sqrt(at.variance) >= failure->least;
}

bool GpSearcher::add_objective(Acquisition& acquisition, const GpData& data, const Fits& fits,
                               TrialId trial, double least_gain) const {
  const VectorXd losses = data.losses(0);
  const OutputWarp scale = surrogate_scale(fits.objectives[0], losses);
  const VectorXd values = scale(losses);
  const auto pending = static_cast<Index>(data.running.size());
  const bool one = pending == 0 || options_.fantasies == 1;
  const Index samples = one ? 1 : static_cast<Index>(options_.fantasies);
  MatrixXd normals = MatrixXd::Zero(pending, samples);
  if (!one) {
    Random draws = random(trial, counter_fantasies);
    for (double& number : normals.reshaped())
      number = draws.normal();
  }
  const MatrixXd seen = features_(points_of(data.seen));
  GpPosterior posterior({stacked(seen, features_(points_of(data.running))), features_.nominal()},
                        fits.objectives[0].chosen(), values, normals);
  if (!posterior.ok())
    return false;
  // The best expected value at a feasible point, rather than the best value seen, which is luck
  // where there is noise.
  const GpPosterior::Batch at_seen = posterior.predict(seen);
  VectorXd incumbents = VectorXd::Constant(samples, infinity);
  for (std::size_t i = 0; i < data.seen.size(); ++i)
    if (data.seen[i]->feasible())
      incumbents = incumbents.cwiseMin(at_seen.means.row(static_cast<Index>(i)).transpose());
  if (!incumbents.allFinite())
    return true;  // nothing feasible yet: what counts is the probability
  if (pending > 0)
    incumbents = incumbents.cwiseMin(posterior.fantasies().colwise().minCoeff().transpose());
  incumbents.array() -= least_gain;
  acquisition.improve_on(std::move(posterior), std::move(incumbents));
  return true;
}

bool GpSearcher::add_objectives(Acquisition& acquisition, const GpData& data,
                                const Fits& fits) const {
  const std::size_t count = context().objectives.size();
  const MatrixXd all = stacked(features_(points_of(data.seen)), features_(points_of(data.running)));
  const auto pending = static_cast<Index>(data.running.size());
  const auto seen = static_cast<Index>(data.seen.size());
  MatrixXd values(seen + pending, static_cast<Index>(count));
  std::vector<GpPosterior> posteriors;
  for (std::size_t m = 0; m < count; ++m) {
    const VectorXd losses = data.losses(m);
    const VectorXd scaled = surrogate_scale(fits.objectives[m], losses)(losses);
    posteriors.emplace_back(GpInputs{all, features_.nominal()}, fits.objectives[m].chosen(), scaled,
                            MatrixXd::Zero(pending, 1));
    if (!posteriors.back().ok())
      return false;
    values.col(static_cast<Index>(m)) << scaled, posteriors.back().fantasies();
  }
  std::vector<VectorXd> front;
  for (Index i = 0; i < values.rows(); ++i) {
    if (i < seen && !data.seen[static_cast<std::size_t>(i)]->feasible())
      continue;
    const VectorXd point = values.row(i).transpose();
    if (std::any_of(front.begin(), front.end(), [&](const VectorXd& other) {
          return other == point || dominates(other, point);
        }))
      continue;
    std::erase_if(front, [&](const VectorXd& other) { return dominates(point, other); });
    front.push_back(point);
  }
  if (front.empty())
    return true;
  // A little worse than anything seen: a reference next to the front would never let it grow at its
  // ends.
  const VectorXd high = values.colwise().maxCoeff().transpose();
  const VectorXd low = values.colwise().minCoeff().transpose();
  const VectorXd reference = high + 0.1 * (high - low).cwiseMax(1e-3);
  if (count == 3 && front.size() > max_front) {
    std::sort(front.begin(), front.end(),
              [](const VectorXd& a, const VectorXd& b) { return a[0] < b[0]; });
    std::vector<VectorXd> thin;
    for (std::size_t i = 0; i < max_front; ++i)
      thin.push_back(front[i * (front.size() - 1) / (max_front - 1)]);
    front = std::move(thin);
  }
  acquisition.improve_on(std::move(posteriors), improvement_boxes(front, reference));
  return true;
}

}  // namespace troupe::tune::detail
