#include <troupe/base/error.hpp>
#include <troupe/base/random.hpp>
#include <troupe/tune/search/detail/sobol.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include <boost/random/sobol.hpp>

namespace troupe::tune::detail {
namespace {

constexpr unsigned bit_count = 52;
constexpr double resolution = 0x1p-52;
constexpr std::uint64_t mask = (std::uint64_t{1} << bit_count) - 1;

/// Joe and Kuo's direction numbers of one dimension: word j has its leading one at the (j + 1)th
/// binary digit, counted from the most significant of 52.
void direction_numbers(std::size_t dimension, std::span<std::uint64_t, bit_count> words) {
  if (dimension == 0) {
    std::fill(words.begin(), words.end(), 1);
  } else {
    using Table = boost::random::default_sobol_table;
    const std::uint64_t polynomial = Table::polynomial(dimension - 1);
    const auto degree = static_cast<unsigned>(std::bit_width(polynomial)) - 1;
    for (unsigned j = 0; j < std::min(degree, bit_count); ++j)
      words[j] = Table::minit(dimension - 1, j);
    for (unsigned j = degree; j < bit_count; ++j) {
      words[j] = words[j - degree];
      for (unsigned k = 0; k < degree; ++k)
        if ((polynomial >> k & 1U) != 0)
          words[j] ^= words[j - (degree - k)] << (degree - k);
    }
  }
  for (unsigned j = 0; j < bit_count; ++j)
    words[j] <<= bit_count - 1 - j;
}

/// Multiplies by a random lower triangular matrix over the two-element field with ones on its
/// diagonal: digit i becomes a random combination of itself and the more significant ones.
void scramble_columns(Random& random, std::span<std::uint64_t, bit_count> words) {
  std::array<std::uint64_t, bit_count> matrix{};
  for (unsigned c = 0; c < bit_count; ++c) {
    const std::uint64_t diagonal = std::uint64_t{1} << (bit_count - 1 - c);
    matrix[c] = diagonal | (random.next_u64() & (diagonal - 1));
  }
  for (std::uint64_t& word : words) {
    std::uint64_t result = 0;
    for (std::uint64_t rest = word; rest != 0; rest &= rest - 1)
      result ^= matrix[bit_count - 1 - static_cast<unsigned>(std::countr_zero(rest))];
    word = result;
  }
}

/// Scrambles are drawn apart from everything else a searcher draws with its seed.
Random scramble_random(std::uint64_t seed, std::size_t dimension) {
  constexpr std::uint32_t counter = 0x50B01;
  return Random(seed, dimension, RandomPurpose::searcher, counter);
}

}  // namespace

Sobol::Sobol(std::size_t dimensions, std::uint64_t seed, bool scramble)
    : dimensions_(dimensions),
      scramble_(scramble),
      columns_(dimensions * bit_count),
      shift_(dimensions) {
  if (dimensions > max_dimensions)
    throw Exception(ErrorCode::invalid_argument,
                    "a Sobol sequence has at most " + std::to_string(max_dimensions) +
                        " dimensions, not " + std::to_string(dimensions) +
                        "; use a Halton sequence");
  std::array<std::uint64_t, bit_count> words{};
  for (std::size_t d = 0; d < dimensions; ++d) {
    direction_numbers(d, words);
    if (scramble) {
      Random random = scramble_random(seed, d);
      scramble_columns(random, words);
      shift_[d] = random.next_u64() & mask;
    }
    for (unsigned j = 0; j < bit_count; ++j)
      columns_[j * dimensions + d] = words[j];
  }
}

std::uint64_t Sobol::bits(std::uint64_t index, std::size_t dimension) const {
  std::uint64_t result = shift_[dimension];
  for (std::uint64_t gray = index ^ (index >> 1U); gray != 0; gray &= gray - 1)
    result ^= columns_[static_cast<std::size_t>(std::countr_zero(gray)) * dimensions_ + dimension];
  return result;
}

double Sobol::real(std::uint64_t bits) const {
  return (static_cast<double>(bits) + (scramble_ ? 0.5 : 0.0)) * resolution;
}

double Sobol::at(std::uint64_t index, std::size_t dimension) const {
  return real(bits(index % period + (scramble_ ? 0 : 1), dimension));
}

std::vector<double> Sobol::point(std::uint64_t index) const {
  std::vector<double> result(dimensions_);
  for (std::size_t d = 0; d < dimensions_; ++d)
    result[d] = at(index, d);
  return result;
}

void Sobol::fill(std::uint64_t first, std::span<double> out) const {
  if (dimensions_ == 0)
    return;
  std::vector<std::uint64_t> state(dimensions_);
  std::uint64_t index = 0;
  bool fresh = true;
  for (std::size_t row = 0; row + dimensions_ <= out.size(); row += dimensions_, ++first) {
    const std::uint64_t wanted = first % period + (scramble_ ? 0 : 1);
    if (fresh || wanted != index + 1) {
      for (std::size_t d = 0; d < dimensions_; ++d)
        state[d] = bits(wanted, d);
    } else {
      const std::uint64_t* column =
          &columns_[static_cast<std::size_t>(std::countr_zero(wanted)) * dimensions_];
      for (std::size_t d = 0; d < dimensions_; ++d)
        state[d] ^= column[d];
    }
    fresh = false;
    index = wanted;
    for (std::size_t d = 0; d < dimensions_; ++d)
      out[row + d] = real(state[d]);
  }
}

namespace {

std::vector<std::uint32_t> first_primes(std::size_t count) {
  std::vector<std::uint32_t> primes;
  for (std::uint32_t limit = 64; primes.size() < count; limit *= 2) {
    primes.clear();
    std::vector<bool> composite(limit + 1);
    for (std::uint32_t n = 2; n <= limit && primes.size() < count; ++n) {
      if (composite[n])
        continue;
      primes.push_back(n);
      for (std::uint64_t multiple = std::uint64_t{n} * n; multiple <= limit; multiple += n)
        composite[static_cast<std::size_t>(multiple)] = true;
    }
  }
  return primes;
}

}  // namespace

Halton::Halton(std::size_t dimensions, std::uint64_t seed, bool scramble) : scramble_(scramble) {
  const std::vector<std::uint32_t> primes = first_primes(dimensions);
  bases_.reserve(dimensions);
  for (std::size_t d = 0; d < dimensions; ++d) {
    Base base{.base = primes[d]};
    for (double width = 1; width > 0x1p-53; width /= base.base, ++base.digits)
      if (scramble)
        base.digit.emplace_back(base.base, seed, d * 64 + base.digits);
    bases_.push_back(std::move(base));
  }
}

double Halton::at(std::uint64_t index, std::size_t dimension) const {
  const Base& base = bases_[dimension];
  std::uint64_t rest = index + (scramble_ ? 0 : 1);
  double result = 0;
  double width = 1;
  for (std::uint32_t k = 0; k < base.digits; ++k) {
    std::uint64_t digit = rest % base.base;
    rest /= base.base;
    if (scramble_)
      digit = base.digit[k](digit);
    else if (digit == 0 && rest == 0)
      break;
    width /= base.base;
    result += static_cast<double>(digit) * width;
  }
  // Half of the last digit's cell keeps off 0; rounding must not reach 1.
  return std::min(result + (scramble_ ? width / 2 : 0.0), 1 - 0x1p-53);
}

std::vector<double> Halton::point(std::uint64_t index) const {
  std::vector<double> result(bases_.size());
  for (std::size_t d = 0; d < result.size(); ++d)
    result[d] = at(index, d);
  return result;
}

}  // namespace troupe::tune::detail
