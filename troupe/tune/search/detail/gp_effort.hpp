#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace troupe::tune::detail {

/// What a suggestion of `gp` spends, by the number of observations that it sees and of parameters.
/// In one place, so that a test can hold that the work grows without jumps.
struct GpEffort {
  std::size_t fitted = 0;    ///< observations that hyperparameters are fitted to
  bool both_afresh = false;  ///< fits are begun anew on both scales, else on one in turn
  int evaluations = 0;       ///< of the likelihood, for each fit
  std::size_t spread = 0;    ///< points all over the space that the acquisition is looked at
  std::size_t near_best = 0;
};

inline GpEffort gp_effort(std::size_t observations, std::size_t parameters) {
  constexpr double max_fitted = 160;
  constexpr double cheap = 80;
  constexpr double many_parameters = 60;
  // Fits and looks take time with the parameters too, fits also with the square of the
  // observations.
  const double wide = std::max(1.0, static_cast<double>(parameters) / many_parameters);
  const double size = std::min(std::sqrt(wide) * static_cast<double>(observations), max_fitted);
  GpEffort effort;
  effort.fitted = static_cast<std::size_t>(size / std::sqrt(wide));
  effort.both_afresh = size <= cheap;
  // Enough for convergence where a fit is cheap; where it is not, it goes on in the next
  // suggestion.
  effort.evaluations = std::clamp(static_cast<int>(4000 / (size + 1)), 12, 60);
  // A look takes time with the square of the observations: fewer points keep suggestions swift.
  const double crowd = wide * std::max(1.0, static_cast<double>(observations) / 150);
  effort.spread = static_cast<std::size_t>(512 / crowd);
  effort.near_best = static_cast<std::size_t>(192 / crowd);
  return effort;
}

}  // namespace troupe::tune::detail
