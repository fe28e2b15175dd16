#pragma once

#include <cmath>
#include <limits>
#include <span>

/// The normal distribution where double precision needs care: far out in the tails, in narrow
/// cells, and as logarithms.
///
/// Relative errors stay below 1e-13 (of the value itself where it is a logarithm or a probability)
/// unless a function says otherwise. NaN in gives NaN out; nothing here throws or allocates.
namespace troupe::tune::detail {

inline constexpr double ln_sqrt_2pi = 0.91893853320467274178;
inline constexpr double inv_sqrt_2 = 0.70710678118654752440;
inline constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// The density at `x`, and its logarithm.
inline double normal_log_pdf(double x) noexcept {
  return -0.5 * x * x - ln_sqrt_2pi;
}
inline double normal_pdf(double x) noexcept {
  return std::exp(normal_log_pdf(x));
}
/// The probability of a value below `x`.
inline double normal_cdf(double x) noexcept {
  return 0.5 * std::erfc(-x * inv_sqrt_2);
}

/// exp(x^2) erfc(x): finite for all x > -26.6, where erfc alone underflows from 26.5 on.
[[nodiscard]] double erfcx(double x) noexcept;

/// log(normal_cdf(x)) for any x, also where the probability is no double any more.
[[nodiscard]] double log_ndtr(double x) noexcept;

/// The z with normal_cdf(z) = p for p in [0, 1]; ends give infinities. Error 1e-15 (Wichura, "AS
/// 241: the percentage points of the normal distribution", Applied Statistics 37, 1988).
[[nodiscard]] double normal_quantile(double p) noexcept;

/// The z with log_ndtr(z) = log_p, log_p <= 0, however improbable that is.
[[nodiscard]] double log_ndtr_inverse(double log_p) noexcept;

/// log(normal_cdf(high) - normal_cdf(low)) without cancellation, in both tails and for narrow
/// cells. -infinity unless low < high.
[[nodiscard]] double log_normal_mass(double low, double high) noexcept;

/// The quantile `u` in [0, 1] of the standard normal distribution restricted to [low, high],
/// low < high, by the inverse of its distribution in log space; never outside of [low, high]. The
/// mass of the interval may be as small as it likes.
[[nodiscard]] double truncated_normal_quantile(double u, double low, double high) noexcept;

/// log(exp(a) + exp(b)) and log(exp(a) - exp(b)) for a >= b.
[[nodiscard]] double log_add_exp(double a, double b) noexcept;
[[nodiscard]] double log_sub_exp(double a, double b) noexcept;

/// log of the sum of exp of all; -infinity when there are none.
[[nodiscard]] double log_sum_exp(std::span<const double> terms) noexcept;

}  // namespace troupe::tune::detail
