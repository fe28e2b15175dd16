#pragma once

#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>
#include <troupe/tune/search/detail/gaussian_process.hpp>
#include <troupe/tune/search/detail/output_warp.hpp>

#include <array>
#include <optional>

#include <Eigen/Core>

/// A Gaussian process for one number that trials report.
namespace troupe::tune::detail {

/// Which scale the process sees the number on.
enum class WarpChoice : std::uint8_t {
  automatic,  ///< whichever foretells left out values better
  none,
  yeo_johnson,
};

/// What was learned from the last fit, to start the next from.
struct SurrogateParameters {
  /// For the affine scale and for the warped one; empty: never fitted.
  std::array<GpParameters, 2> of_scale{};
  bool warped = false;  ///< which one foretells better

  [[nodiscard]] const GpParameters& chosen() const { return of_scale[warped ? 1 : 0]; }
  [[nodiscard]] Value save() const;
  /// corrupt when the data has not parameters for so many features.
  static Result<SurrogateParameters> restore(const Value& state, Eigen::Index features);
};

/// Fits both scales, or the one that `choice` names. The fit of scale number `afresh` is also begun
/// from the default parameters, and the better end taken; 2: of both.
[[nodiscard]] SurrogateParameters fit_surrogate(const GpInputs& inputs,
                                                const Eigen::VectorXd& numbers,
                                                const SurrogateParameters& start, WarpChoice choice,
                                                std::size_t afresh, int max_evaluations);

/// The scale that `parameters` chose, for these numbers.
[[nodiscard]] OutputWarp surrogate_scale(const SurrogateParameters& parameters,
                                         const Eigen::VectorXd& numbers);

}  // namespace troupe::tune::detail
