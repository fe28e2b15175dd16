#pragma once

#include <troupe/tune/search/detail/permutation.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Sequences of points that fill the unit cube more evenly than random ones.
namespace troupe::tune::detail {

/// Sobol' points (Joe and Kuo's direction numbers, 52 bits).
///
/// Point number `index` is a function of (dimensions, seed, index) alone: whoever asks for it, in
/// whatever order, gets the same. Any 2^k points that begin at a multiple of 2^k are balanced:
/// each of the 2^k equal slices of each axis holds one of them.
///
/// Scrambled (a random linear matrix and a digital shift, drawn from the seed), each point alone is
/// uniform, the balance stays, and no coordinate is 0 or 1, so that quantile functions can be
/// applied. Unscrambled, index 0 is the second point, since the first is a corner of the cube.
/// Immutable after construction, so safe to read from many threads.
class Sobol {
public:
  static constexpr std::size_t max_dimensions = 3667;
  /// Indices are taken modulo this number.
  static constexpr std::uint64_t period = (std::uint64_t{1} << 52U) - 1;

  /// `seed` is not looked at when `scramble` is false. Throws Exception invalid_argument beyond
  /// `max_dimensions`. Costs some 2 us a dimension.
  Sobol(std::size_t dimensions, std::uint64_t seed, bool scramble = true);

  [[nodiscard]] std::size_t dimensions() const { return dimensions_; }

  /// One coordinate. O(log index).
  [[nodiscard]] double at(std::uint64_t index, std::size_t dimension) const;
  [[nodiscard]] std::vector<double> point(std::uint64_t index) const;
  /// Points `first`, `first + 1`, ... one after the other, as many as `out` holds; its size is a
  /// multiple of the dimensions. Each costs one exclusive or a coordinate (Gray code order).
  void fill(std::uint64_t first, std::span<double> out) const;

private:
  [[nodiscard]] std::uint64_t bits(std::uint64_t index, std::size_t dimension) const;
  [[nodiscard]] double real(std::uint64_t bits) const;

  std::size_t dimensions_;
  bool scramble_;
  std::vector<std::uint64_t> columns_;  ///< [bit of the index][dimension]
  std::vector<std::uint64_t> shift_;    ///< a dimension
};

/// Halton points whose digits are permuted at random, each digit of each dimension by its own
/// permutation. For more dimensions than Sobol has; its balance is weaker.
///
/// As stateless as Sobol. Unscrambled, index 0 is the second point of the sequence.
class Halton {
public:
  /// `seed` is not looked at when `scramble` is false.
  Halton(std::size_t dimensions, std::uint64_t seed, bool scramble = true);

  [[nodiscard]] std::size_t dimensions() const { return bases_.size(); }
  /// One coordinate, in (0, 1). O(53 / log2 of the base).
  [[nodiscard]] double at(std::uint64_t index, std::size_t dimension) const;
  [[nodiscard]] std::vector<double> point(std::uint64_t index) const;

private:
  struct Base {
    std::uint32_t base = 2;
    std::uint32_t digits = 0;          ///< base^-digits is below the resolution of a double
    std::vector<Permutation> digit{};  ///< one a digit when scrambled
  };

  bool scramble_;
  std::vector<Base> bases_;
};

}  // namespace troupe::tune::detail
