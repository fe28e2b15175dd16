#include <troupe/base/error.hpp>
#include <troupe/base/random.hpp>

#include <cmath>
#include <numbers>

namespace troupe {
namespace {

constexpr std::uint64_t positions_max = std::uint64_t{2} << 32;  // two numbers a block

void round_once(std::array<std::uint32_t, 4>& c, std::uint32_t key0, std::uint32_t key1) noexcept {
  const std::uint64_t p0 = std::uint64_t{0xd2511f53} * c[0];
  const std::uint64_t p1 = std::uint64_t{0xcd9e8d57} * c[2];
  c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key0, static_cast<std::uint32_t>(p1),
       static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key1, static_cast<std::uint32_t>(p0)};
}

}  // namespace

namespace detail {

std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key) noexcept {
  for (int i = 0; i < 10; ++i) {
    round_once(counter, key[0], key[1]);
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  return counter;
}

}  // namespace detail

// The 128 bits of a Philox counter hold block, counter and stream. There is no room for the
// purpose: it is mixed with the seed into the key.
Random::Random(std::uint64_t seed, std::uint64_t stream, std::uint32_t purpose,
               std::uint32_t counter) noexcept
    : stream_(stream), counter_(counter) {
  const auto mixed = detail::philox4x32_10(
      {purpose, 0x54524f55, 0x50450000, 0},
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  key_ = {mixed[0], mixed[1]};
}

std::uint64_t Random::next_u64() {
  if (position_ >= positions_max)
    throw Exception(ErrorCode::resource_exhausted,
                    "a random sequence is used up after 2^33 numbers; use another counter");
  const std::uint64_t block = position_ / 2;
  if (block != block_index_) {
    block_ = detail::philox4x32_10(
        {static_cast<std::uint32_t>(block), counter_, static_cast<std::uint32_t>(stream_),
         static_cast<std::uint32_t>(stream_ >> 32)},
        key_);
    block_index_ = block;
  }
  const std::size_t lane = static_cast<std::size_t>(position_ % 2) * 2;
  ++position_;
  return block_[lane] | std::uint64_t{block_[lane + 1]} << 32;
}

double Random::uniform() {
  return static_cast<double>(next_u64() >> 11) * 0x1p-53;
}

double Random::uniform(double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high) || low > high)
    throw Exception(ErrorCode::invalid_argument,
                    "uniform(" + std::to_string(low) + ", " + std::to_string(high) +
                        "): both ends must be finite and the first not above the second");
  if (low == high)
    return low;
  const double u = uniform();
  // high - low may overflow; this form does not.
  const double span = high - low;
  const double value = std::isfinite(span) ? low + span * u : low * (1 - u) + high * u;
  if (value >= high)
    return std::nextafter(high, low);
  return value < low ? low : value;
}

std::uint64_t Random::below(std::uint64_t bound) {
  if (bound == 0)
    throw Exception(ErrorCode::invalid_argument, "a random choice among nothing was asked for");
  // Lemire: the high half of a product; the few products that would be too likely are drawn again.
  __extension__ using Wide = unsigned __int128;
  Wide product = Wide{next_u64()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold)
      product = Wide{next_u64()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::int64_t Random::uniform_int(std::int64_t low, std::int64_t high) {
  if (low > high)
    throw Exception(ErrorCode::invalid_argument, "uniform_int(" + std::to_string(low) + ", " +
                                                     std::to_string(high) +
                                                     "): the first is above the second");
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const std::uint64_t offset = span == max() ? next_u64() : below(span + 1);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

double Random::normal() {
  const double u = 1.0 - uniform();  // in (0, 1], so that the logarithm is finite
  const double angle = 2 * std::numbers::pi * uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(angle);
}

}  // namespace troupe
