#include <troupe/tune/search/detail/normal.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace troupe::tune::detail {
namespace {

constexpr double sqrt_pi = 1.77245385090551602730;
constexpr double ln_2 = 0.69314718055994530942;

template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double sum = coefficients[N - 1];
  for (std::size_t i = N - 1; i > 0; --i)
    sum = sum * x + coefficients[i - 1];
  return sum;
}

// AS 241, PPND16: numerator and denominator of the three regions.
constexpr std::array<double, 8> middle_up = {3.3871328727963666080,   1.3314166789178437745e2,
                                             1.9715909503065514427e3, 1.3731693765509461125e4,
                                             4.5921953931549871457e4, 6.7265770927008700853e4,
                                             3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr std::array<double, 8> middle_down = {1.0,
                                               4.2313330701600911252e1,
                                               6.8718700749205790830e2,
                                               5.3941960214247511077e3,
                                               2.1213794301586595867e4,
                                               3.9307895800092710610e4,
                                               2.8729085735721942674e4,
                                               5.2264952788528545610e3};
constexpr std::array<double, 8> near_up = {1.42343711074968357734,    4.63033784615654529590,
                                           5.76949722146069140550,    3.64784832476320460504,
                                           1.27045825245236838258,    2.41780725177450611770e-1,
                                           2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr std::array<double, 8> near_down = {1.0,
                                             2.05319162663775882187,
                                             1.67638483018380384940,
                                             6.89767334985100004550e-1,
                                             1.48103976427480074590e-1,
                                             1.51986665636164571966e-2,
                                             5.47593808499534494600e-4,
                                             1.05075007164441684324e-9};
constexpr std::array<double, 8> far_up = {6.65790464350110377720,    5.46378491116411436990,
                                          1.78482653991729133580,    2.96560571828504891230e-1,
                                          2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                          2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr std::array<double, 8> far_down = {1.0,
                                            5.99832206555887937690e-1,
                                            1.36929880922735805310e-1,
                                            1.48753612908506148525e-2,
                                            7.86869131145613259100e-4,
                                            1.84631831751005468180e-5,
                                            1.42151175831644588870e-7,
                                            2.04426310338993978564e-15};

/// The quantile in the lower tail, p = exp(-r^2) < 0.075.
double tail_quantile(double r) {
  if (r <= 5)
    return -polynomial(near_up, r - 1.6) / polynomial(near_down, r - 1.6);
  return -polynomial(far_up, r - 5) / polynomial(far_down, r - 5);
}

/// normal_pdf(z) / normal_cdf(z) for z <= 0.
double inverse_mills(double z) {
  return 2 / (sqrt_pi * std::sqrt(2.0) * erfcx(-z * inv_sqrt_2));
}

/// log_ndtr_inverse for log_p <= -ln 2.
double lower_half_inverse(double log_p) {
  if (log_p == minus_infinity)
    return minus_infinity;
  if (log_p > -2.5)
    return normal_quantile(std::exp(log_p));
  // The rational function is exact to p = 1e-316; beyond it the leading terms of the asymptotic
  // series are a start for Newton on log_ndtr, which is concave and nearly quadratic there.
  double z = 0;
  if (log_p > -700) {
    z = tail_quantile(std::sqrt(-log_p));
  } else {
    const double s = -2 * log_p;
    z = -std::sqrt(s - std::log(s) - 2 * ln_sqrt_2pi);
  }
  for (int round = 0; round < 4; ++round) {
    const double step = (log_ndtr(z) - log_p) / inverse_mills(z);
    z -= step;
    if (std::abs(step) <= 1e-15 * std::abs(z))
      break;
  }
  return z;
}

}  // namespace

double erfcx(double x) noexcept {
  if (x > 25) {
    // The asymptotic series (Abramowitz and Stegun 7.1.23); the first term left out is below 1e-17.
    const double t = 0.5 / (x * x);
    const double series =
        1 - t * (1 - 3 * t * (1 - 5 * t * (1 - 7 * t * (1 - 9 * t * (1 - 11 * t)))));
    return series / (x * sqrt_pi);
  }
  if (x < -27)
    return std::numeric_limits<double>::infinity();
  // x^2 in two parts: rounding it would cost as many digits as it has before the point.
  const double square = x * x;
  const double rest = std::fma(x, x, -square);
  return std::exp(square) * std::erfc(x) * (1 + rest);
}

double log_ndtr(double x) noexcept {
  if (x > 1)
    return std::log1p(-0.5 * std::erfc(x * inv_sqrt_2));
  if (x > -1)
    return std::log(0.5 * std::erfc(-x * inv_sqrt_2));
  return std::log(0.5 * erfcx(-x * inv_sqrt_2)) - 0.5 * x * x;
}

double normal_quantile(double p) noexcept {
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(middle_up, r) / polynomial(middle_down, r);
  }
  const double tail = q < 0 ? p : 1 - p;
  if (tail <= 0)
    return q < 0 ? minus_infinity : -minus_infinity;
  const double z = tail_quantile(std::sqrt(-std::log(tail)));
  return q < 0 ? z : -z;
}

double log_ndtr_inverse(double log_p) noexcept {
  if (log_p >= 0)
    return log_p == 0 ? -minus_infinity : std::numeric_limits<double>::quiet_NaN();
  if (log_p > -ln_2)  // the upper half, by the probability above
    return -lower_half_inverse(std::log(-std::expm1(log_p)));
  return lower_half_inverse(log_p);
}

double log_normal_mass(double low, double high) noexcept {
  if (!(low < high))
    return std::isnan(low) || std::isnan(high) ? low + high : minus_infinity;
  if (low >= 0)  // mirrored, so that the tail at hand is the lower one
    return log_normal_mass(-high, -low);
  const double width = high - low;
  const double middle = 0.5 * (low + high);
  if (width * (1 + std::abs(middle)) < 1e-3) {
    // Simpson's rule on the density: a difference of two nearly equal probabilities has no digits.
    const double up = std::exp(-0.5 * middle * width - 0.125 * width * width);
    const double down = std::exp(0.5 * middle * width - 0.125 * width * width);
    return normal_log_pdf(middle) + std::log(width * (4 + up + down) / 6);
  }
  if (high <= 0) {
    const double far = erfcx(-low * inv_sqrt_2) * std::exp(-0.5 * width * -(low + high));
    return std::log(0.5 * (erfcx(-high * inv_sqrt_2) - far)) - 0.5 * high * high;
  }
  if (low > -1 && high < 1)
    return std::log(0.5 * (std::erf(high * inv_sqrt_2) - std::erf(low * inv_sqrt_2)));
  return std::log1p(-normal_cdf(low) - normal_cdf(-high));
}

double truncated_normal_quantile(double u, double low, double high) noexcept {
  if (low >= 0 && high > 0)
    return -truncated_normal_quantile(1 - u, -high, -low);
  const double mass = log_normal_mass(low, high);
  // The distribution function at the quantile, or its complement, whichever is the smaller.
  const double below = log_add_exp(log_ndtr(low), std::log(u) + mass);
  double z = 0;
  if (below < -ln_2)
    z = log_ndtr_inverse(below);
  else
    z = -log_ndtr_inverse(log_add_exp(log_ndtr(-high), std::log1p(-u) + mass));
  return std::clamp(z, low, high);
}

double log_add_exp(double a, double b) noexcept {
  const double larger = std::max(a, b);
  if (std::isinf(larger))
    return larger;
  return larger + std::log1p(std::exp(-std::abs(a - b)));
}

double log_sub_exp(double a, double b) noexcept {
  if (b == minus_infinity)
    return a;
  const double difference = b - a;
  // log(1 - exp(x)) by the better of two formulas (Maechler, "Accurately computing
  // log(1 - exp(-|a|))", 2012).
  return a + (difference > -ln_2 ? std::log(-std::expm1(difference))
                                 : std::log1p(-std::exp(difference)));
}

double log_sum_exp(std::span<const double> terms) noexcept {
  double largest = minus_infinity;
  for (const double term : terms)
    largest = term > largest || std::isnan(term) ? term : largest;
  if (std::isinf(largest) || std::isnan(largest))
    return largest;
  double sum = 0;
  for (const double term : terms)
    sum += std::exp(term - largest);
  return largest + std::log(sum);
}

}  // namespace troupe::tune::detail
