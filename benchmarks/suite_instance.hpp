#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// The made-up data of test functions: shifts, rotations, peaks. They come from splitmix64, so that
/// the C++ functions and the Python ones (benchmarks/peers/suite.py) are the same to the last bit.
namespace troupe::bench {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;  ///< rows

/// splitmix64 (Steele, Lea, Flood 2014). Not `Random`: its numbers must be easy to have elsewhere.
class SplitMix {
public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() noexcept;
  /// In [0, 1), a multiple of 2^-53.
  double uniform() noexcept;
  /// Standard normal (Box-Muller, two draws).
  double normal() noexcept;
  /// Each number in [low, high).
  Vector vector(std::size_t size, double low, double high);
  /// A random rotation: normal numbers, made orthonormal row by row.
  Matrix rotation(std::size_t size);

private:
  std::uint64_t state_;
};

/// Where the optimum of a shifted and rotated function lies, and its two rotations.
struct Instance {
  Vector optimum;
  Matrix rotation;
  Matrix second_rotation;
};

/// Optimum in [-4, 4), in this order: optimum, rotation, second rotation.
[[nodiscard]] Instance make_instance(std::uint64_t seed, std::size_t size);

[[nodiscard]] Vector product(const Matrix& matrix, const Vector& vector);
[[nodiscard]] Vector difference(const Vector& a, const Vector& b);

}  // namespace troupe::bench
