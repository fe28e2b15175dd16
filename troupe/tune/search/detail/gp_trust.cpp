#include <troupe/tune/search/detail/gp_searcher.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Shorter grids are for the acquisition function, which tries all their values.
constexpr std::uint64_t min_values = 5;

}  // namespace

std::vector<std::size_t> GpSearcher::trust_axes(const Point& best) const {
  std::vector<std::size_t> axes;
  for (std::size_t a = 0; a < best.size(); ++a) {
    const Axis& axis = design().axes()[a];
    if (exists(best[a]) && !axis.categorical() && (axis.continuous() || axis.count() >= min_values))
      axes.push_back(a);
  }
  return axes;
}

VectorXd GpSearcher::trust_scales(const std::vector<std::size_t>& axes, const Fits& fits) const {
  VectorXd scales = VectorXd::Ones(static_cast<Index>(axes.size()));
  if (fits.objectives.empty() || axes.empty())
    return scales;
  VectorXd logs(scales.size());
  for (std::size_t i = 0; i < axes.size(); ++i)
    logs[static_cast<Index>(i)] = 0.5 * fits.objectives[0].chosen()[static_cast<Index>(axes[i])];
  logs.array() -= logs.mean();
  return logs.array().max(-2.0).min(2.0).exp();
}

Point GpSearcher::with_axes(const Point& best, const std::vector<std::size_t>& axes,
                            const VectorXd& values) const {
  Point point = best;
  for (std::size_t i = 0; i < axes.size(); ++i)
    point[axes[i]] = values[static_cast<Index>(i)];
  return design().canonical(std::move(point));
}

bool GpSearcher::turn_to_step(TrialId trial) const {
  const std::uint64_t turn = trial.value % 3;
  return region_.successful() ? turn != 0 : turn == 1;
}

GpSearcher::Outlook GpSearcher::outlook(const GpData& data, const Fits& fits) const {
  const Outlook unknown;
  const Outlook polished{.step = std::nullopt, .polished = true};
  if (!options_.trust_region || context().objectives.size() != 1 ||
      !context().constraints.empty() || data.best == nullptr || region_.waiting())
    return unknown;
  const Point& best = data.best->point;
  const auto axes = trust_axes(best);
  if (axes.empty())
    return unknown;
  std::vector<const Observation*> around{data.best};
  for (const Observation& o : history().all()) {
    if (&o == data.best || !o.valued() || o.state != Observation::State::complete ||
        !std::isfinite(o.losses[0]))
      continue;
    bool same = true;
    for (std::size_t a = 0; a < best.size() && same; ++a) {
      const bool free = std::find(axes.begin(), axes.end(), a) != axes.end();
      same = exists(best[a]) == exists(o.point[a]) &&
             (free || !exists(best[a]) || best[a] == o.point[a]);
    }
    if (same)
      around.push_back(&o);
  }
  Neighbourhood near;
  const auto rows = static_cast<Index>(around.size());
  near.points.resize(rows, static_cast<Index>(axes.size()));
  near.losses.resize(rows);
  for (Index i = 0; i < rows; ++i) {
    const Observation& o = *around[static_cast<std::size_t>(i)];
    for (std::size_t a = 0; a < axes.size(); ++a)
      near.points(i, static_cast<Index>(a)) = o.point[axes[a]];
    near.losses[i] = o.losses[0];
  }
  near.scales = trust_scales(axes, fits);
  const auto model = TrustModel::fit(near);
  if (!model)
    return unknown;
  const auto radius = region_.radius(model->reach());
  if (!radius)
    return polished;
  auto step = grid_step(data, *model, axes, model->step(*radius));
  if (!step)
    return polished;
  // A gain that the noise would hide, or that rounding makes, is none.
  const VectorXd losses = data.losses(0);
  const OutputWarp scale = surrogate_scale(fits.objectives[0], losses);
  const double noise = gp_noise(fits.objectives[0].chosen()) - gp_noise_floor;
  const double best_loss = data.best->losses[0];
  const double height = std::max(std::abs(best_loss), losses.maxCoeff() - best_loss);
  if (!(step->gain > 1e-14 * height) || scale(best_loss) - scale.unclamped(best_loss - step->gain) <
                                            0.5 * std::sqrt(std::max(0.0, noise - 1e-4)))
    return polished;
  return {.step = std::move(step), .polished = false};
}

std::optional<TrustStep> GpSearcher::grid_step(const GpData& data, const TrustModel& model,
                                               const std::vector<std::size_t>& axes,
                                               TrustStep step) const {
  const Point& best = data.best->point;
  const auto coordinates = [&](const Point& point) {
    VectorXd values(static_cast<Index>(axes.size()));
    for (std::size_t i = 0; i < axes.size(); ++i)
      values[static_cast<Index>(i)] = point[axes[i]];
    return values;
  };
  const Point snapped = with_axes(best, axes, step.point);
  std::vector<Point> candidates{snapped};
  for (const std::size_t a : axes) {
    const Axis& axis = design().axes()[a];
    if (axis.continuous())
      continue;
    const std::uint64_t here = axis.index(snapped[a]);
    for (const std::uint64_t other : {here - 1, here + 1})
      if (other < axis.count()) {
        Point point = snapped;
        point[a] = axis.coordinate(other);
        candidates.push_back(design().canonical(std::move(point)));
      }
  }
  const Point* chosen = nullptr;
  double gain = 0;
  for (const Point& point : candidates) {
    const double expected = model.gain(coordinates(point));
    if (expected > gain && design().allowed(point) && is_new(point)) {
      gain = expected;
      chosen = &point;
    }
  }
  if (chosen == nullptr)
    return std::nullopt;
  step.point = coordinates(*chosen);
  step.gain = gain;
  step.length = model.distance(step.point);
  return step;
}

}  // namespace troupe::tune::detail
