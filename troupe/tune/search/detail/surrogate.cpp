#include <troupe/tune/search/detail/state_reading.hpp>
#include <troupe/tune/search/detail/surrogate.hpp>

#include <cstddef>
#include <limits>
#include <string>

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// The logarithmic density of all numbers, each foretold from the others, in the numbers' own unit.
double predictive_density(const GpInputs& inputs, const VectorXd& numbers, const OutputWarp& warp,
                          const GpParameters& parameters) {
  const VectorXd values = warp(numbers);
  const GpPosterior posterior(inputs, parameters, values);
  if (!posterior.ok())
    return -std::numeric_limits<double>::infinity();
  double sum = posterior.leave_one_out().sum();
  for (const double number : numbers)
    sum += warp.log_slope(number);
  return sum;
}

}  // namespace

SurrogateParameters fit_surrogate(const GpInputs& inputs, const VectorXd& numbers,
                                  const SurrogateParameters& start, WarpChoice choice,
                                  std::size_t afresh, int max_evaluations) {
  SurrogateParameters result = start;
  std::array<double, 2> density{-std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity()};
  for (std::size_t scale = 0; scale < 2; ++scale) {
    if (choice != WarpChoice::automatic && (choice == WarpChoice::yeo_johnson) != (scale == 1))
      continue;
    const OutputWarp warp =
        scale == 1 ? OutputWarp::yeo_johnson(numbers) : OutputWarp::affine(numbers);
    GpParameters& parameters = result.of_scale[scale];
    if (parameters.size() == 0)
      parameters = default_gp_parameters(inputs.features());
    const VectorXd values = warp(numbers);
    GpFit best = fit_gp(inputs, values, parameters, max_evaluations);
    if (afresh == 2 || afresh == scale) {
      // The posterior has several maxima; the one found long ago need not be the highest still.
      const GpFit other =
          fit_gp(inputs, values, default_gp_parameters(inputs.features()), max_evaluations);
      if (other.log_posterior > best.log_posterior)
        best = other;
    }
    parameters = best.parameters;
    density[scale] = predictive_density(inputs, numbers, warp, parameters);
  }
  result.warped = density[1] > density[0];
  return result;
}

OutputWarp surrogate_scale(const SurrogateParameters& parameters, const VectorXd& numbers) {
  return parameters.warped ? OutputWarp::yeo_johnson(numbers) : OutputWarp::affine(numbers);
}

Value SurrogateParameters::save() const {
  List scales;
  for (const GpParameters& parameters : of_scale)
    scales.emplace_back(List(parameters.begin(), parameters.end()));
  return Map{{"scales", std::move(scales)}, {"warped", warped}};
}

Result<SurrogateParameters> SurrogateParameters::restore(const Value& state, Index features) {
  const Error bad(ErrorCode::corrupt, "the parameters of a surrogate are not " +
                                          std::to_string(features + 2) +
                                          " numbers a scale, within their bounds");
  const Map* map = state.get_if<Map>();
  const Value* scales = map != nullptr ? map->find_key("scales") : nullptr;
  const Value* warped = map != nullptr ? map->find_key("warped") : nullptr;
  if (scales == nullptr || !scales->is_list() || scales->as_list().size() != 2 ||
      warped == nullptr || !warped->is_bool())
    return bad;
  SurrogateParameters result;
  result.warped = warped->as_bool();
  for (std::size_t s = 0; s < 2; ++s) {
    const List* list = scales->as_list()[s].get_if<List>();
    if (list == nullptr ||
        (!list->empty() && list->size() != static_cast<std::size_t>(features) + 2))
      return bad;
    result.of_scale[s].resize(static_cast<Index>(list->size()));
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (!is_within((*list)[i], gp_least, gp_most))
        return bad;
      result.of_scale[s][static_cast<Index>(i)] = (*list)[i].as_double();
    }
  }
  if (result.chosen().size() == 0)
    return bad;
  return result;
}

}  // namespace troupe::tune::detail
