#include <troupe/base/random.hpp>
#include <troupe/tune/detail/restart_pause.hpp>

#include <algorithm>
#include <cmath>

namespace troupe::tune::detail {

Duration restart_pause(std::uint64_t seed, TrialId trial, std::uint32_t failures) {
  constexpr double first_s = 0.05;
  constexpr double longest_s = 5;
  const double doubled =
      first_s * std::exp2(static_cast<double>(std::clamp(failures, 1U, 32U) - 1));
  // Workers that died together do not come back together.
  Random random(seed, trial.value, RandomPurpose::retry_jitter, failures);
  const std::chrono::duration<double> pause(std::min(doubled, longest_s) *
                                            random.uniform(0.75, 1.25));
  return std::chrono::duration_cast<Duration>(pause);
}

}  // namespace troupe::tune::detail
