#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

/// Random numbers that are a function of where they are used, not of what was drawn before.
///
/// A restored run must draw what the uninterrupted run would have drawn, without saving generators.
/// So every place that needs randomness makes its own `Random` from (seed, stream, purpose,
/// counter), for example (experiment seed, trial, RandomPurpose::sample_config, 0), and draws from
/// that. Different arguments give independent sequences. Philox4x32-10 (Salmon et al., SC 2011).
namespace troupe {

/// What a number is drawn for. The numbers decide what old experiments replay to: append only.
/// Searchers and schedulers of users start at `user`.
enum class RandomPurpose : std::uint32_t {
  sample_config = 1,  ///< values of a search space
  grid_order = 2,     ///< order of grid points
  searcher = 3,       ///< decisions of a searcher
  scheduler = 4,      ///< decisions of a scheduler
  perturb = 5,        ///< PBT exploration
  retry_jitter = 6,   ///< backoff
  placement = 7,      ///< choice of a node
  shuffle_data = 8,   ///< order of training data
  fault_injection = 9,
  test = 10,
  user = 1000,
};

namespace detail {
/// One block of Philox4x32-10: the raw function of the paper.
[[nodiscard]] std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                                         std::array<std::uint32_t, 2> key) noexcept;
}  // namespace detail

/// A sequence of random numbers. Cheap to make (two blocks) and to copy; not thread safe. The
/// same arguments give the same numbers on every machine (`normal` as far as libm agrees).
/// A sequence holds 2^33 numbers of 64 bits; drawing more throws Exception resource_exhausted.
class Random {
public:
  Random(std::uint64_t seed, std::uint64_t stream, std::uint32_t purpose,
         std::uint32_t counter = 0) noexcept;
  Random(std::uint64_t seed, std::uint64_t stream, RandomPurpose purpose,
         std::uint32_t counter = 0) noexcept
      : Random(seed, stream, static_cast<std::uint32_t>(purpose), counter) {}

  /// All 64 bits random.
  [[nodiscard]] std::uint64_t next_u64();
  /// In [0, 1), a multiple of 2^-53.
  [[nodiscard]] double uniform();
  /// In [low, high), never `high` even by rounding; `low` when both are equal. Throws Exception
  /// invalid_argument unless both are finite and low <= high.
  [[nodiscard]] double uniform(double low, double high);
  /// In [low, high], both included, without bias, over the full range of 64 bits. Throws Exception
  /// invalid_argument when low > high.
  [[nodiscard]] std::int64_t uniform_int(std::int64_t low, std::int64_t high);
  /// A number below `bound`, without bias. Throws Exception invalid_argument when `bound` is 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
  /// True with probability `p`, which is clamped into [0, 1]; NaN counts as 0.
  [[nodiscard]] bool chance(double p) { return uniform() < p; }
  /// Standard normal (Box-Muller, two draws).
  [[nodiscard]] double normal();
  [[nodiscard]] double normal(double mean, double deviation) { return mean + deviation * normal(); }

  /// Puts the elements into a random order (Fisher-Yates).
  template <class Container>
  void shuffle(Container& items) {
    using std::swap;
    for (std::size_t i = items.size(); i > 1; --i) {
      const auto j = static_cast<std::size_t>(below(i));
      if (j != i - 1)
        swap(items[i - 1], items[j]);
    }
  }
  /// One element, each as likely. Throws Exception invalid_argument when there is none.
  template <class Container>
  [[nodiscard]] decltype(auto) pick(Container& items) {
    return items[static_cast<std::size_t>(below(items.size()))];
  }

  /// How many 64-bit numbers were drawn; `seek` goes to such a place.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  void seek(std::uint64_t position) noexcept { position_ = position; }

  // UniformRandomBitGenerator, for the standard library and others.
  using result_type = std::uint64_t;
  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return ~std::uint64_t{0}; }
  result_type operator()() { return next_u64(); }

private:
  std::array<std::uint32_t, 2> key_;
  std::uint64_t stream_;
  std::uint32_t counter_;
  std::uint64_t position_ = 0;
  std::uint64_t block_index_ = ~std::uint64_t{0};
  std::array<std::uint32_t, 4> block_{};
};

}  // namespace troupe
