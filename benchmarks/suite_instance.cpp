#include "benchmarks/suite_instance.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace troupe::bench {

std::uint64_t SplitMix::next() noexcept {
  state_ += 0x9E3779B97F4A7C15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

double SplitMix::uniform() noexcept {
  return static_cast<double>(next() >> 11) * 0x1p-53;
}

double SplitMix::normal() noexcept {
  const double a = 1.0 - uniform();
  const double b = uniform();
  return std::sqrt(-2 * std::log(a)) * std::cos(2 * std::numbers::pi * b);
}

Vector SplitMix::vector(std::size_t size, double low, double high) {
  Vector result(size);
  for (double& value : result)
    value = low + (high - low) * uniform();
  return result;
}

Matrix SplitMix::rotation(std::size_t size) {
  Matrix rows(size, Vector(size));
  for (Vector& row : rows)
    for (double& value : row)
      value = normal();
  // Gram-Schmidt in this very order of operations: the Python definition rounds alike.
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      double projection = 0;
      for (std::size_t k = 0; k < size; ++k)
        projection += rows[i][k] * rows[j][k];
      for (std::size_t k = 0; k < size; ++k)
        rows[i][k] = rows[i][k] - projection * rows[j][k];
    }
    double square = 0;
    for (const double value : rows[i])
      square += value * value;
    const double norm = std::sqrt(square);
    for (double& value : rows[i])
      value /= norm;
  }
  return rows;
}

Instance make_instance(std::uint64_t seed, std::size_t size) {
  SplitMix random(seed);
  Instance instance;
  instance.optimum = random.vector(size, -4, 4);
  instance.rotation = random.rotation(size);
  instance.second_rotation = random.rotation(size);
  return instance;
}

Vector product(const Matrix& matrix, const Vector& vector) {
  Vector result(matrix.size());
  for (std::size_t i = 0; i < matrix.size(); ++i)
    for (std::size_t k = 0; k < vector.size(); ++k)
      result[i] += matrix[i][k] * vector[k];
  return result;
}

Vector difference(const Vector& a, const Vector& b) {
  Vector result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    result[i] = a[i] - b[i];
  return result;
}

}  // namespace troupe::bench
