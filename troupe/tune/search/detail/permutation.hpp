#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace troupe::tune::detail {

/// A random order of the numbers 0 .. size - 1 that is computed instead of stored.
///
/// Up to 256 numbers are shuffled (each order as likely) and kept. More pass eight rounds of a
/// Feistel network over a rectangle that is hardly larger than `size`, keyed by Philox; numbers
/// outside go round again, so that the result is exactly a permutation. Immutable, so safe to read
/// from many threads.
class Permutation {
public:
  /// The same arguments give the same order. `size` >= 1.
  Permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t stream);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// The number at place `index` < size.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t index) const;
  /// The place of `number` < size.
  [[nodiscard]] std::uint64_t place_of(std::uint64_t number) const;

private:
  [[nodiscard]] std::uint64_t mixed(std::uint64_t half, std::uint32_t round) const;

  std::uint64_t size_;
  std::uint64_t rows_ = 1;  ///< rows_ * columns_ >= size_
  std::uint64_t columns_ = 1;
  std::array<std::uint32_t, 2> key_{};
  std::vector<std::uint8_t> table_;
};

}  // namespace troupe::tune::detail
