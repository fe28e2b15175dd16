#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "benchmarks/suite_parts.hpp"

namespace troupe::bench {
namespace {

constexpr std::size_t dimensions = 5;
constexpr double pi = std::numbers::pi;

tune::ParamSpace box() {
  tune::ParamSpace space;
  for (std::size_t i = 0; i < dimensions; ++i)
    space.add("x" + std::to_string(i), tune::uniform(-5, 5));
  return space;
}

/// base^(exponent * i / (dimensions - 1)): how differently the axes are scaled.
Vector conditioning(double base, double exponent) {
  Vector scales(dimensions);
  for (std::size_t i = 0; i < dimensions; ++i)
    scales[i] = std::pow(base, exponent * static_cast<double>(i) / (dimensions - 1));
  return scales;
}

}  // namespace

TestFunction ellipsoid5r() {
  return {.name = "ellipsoid5r",
          .space = box(),
          .value =
              [data = make_instance(111, dimensions),
               scales = conditioning(10, 6)](const Config& config) {
                const Vector z = product(data.rotation,
                                         difference(coordinates(config, dimensions), data.optimum));
                double sum = 0;
                for (std::size_t i = 0; i < dimensions; ++i)
                  sum += scales[i] * z[i] * z[i];
                return sum;
              },
          .scale = 5.4e6};
}

TestFunction rosenbrock5r() {
  return {.name = "rosenbrock5r",
          .space = box(),
          .value =
              [data = make_instance(112, dimensions)](const Config& config) {
                Vector z = product(data.rotation,
                                   difference(coordinates(config, dimensions), data.optimum));
                for (double& value : z)
                  value += 1;
                double sum = 0;
                for (std::size_t i = 0; i + 1 < dimensions; ++i)
                  sum += 100 * square(z[i] * z[i] - z[i + 1]) + square(z[i] - 1);
                return sum;
              },
          .scale = 5.9e4};
}

TestFunction rastrigin5r() {
  return {.name = "rastrigin5r",
          .space = box(),
          .value =
              [data = make_instance(113, dimensions),
               scales = conditioning(10, 0.5)](const Config& config) {
                Vector z = product(data.second_rotation,
                                   difference(coordinates(config, dimensions), data.optimum));
                for (std::size_t i = 0; i < dimensions; ++i)
                  z[i] *= scales[i];
                z = product(data.rotation, z);
                double sum = 0;
                for (const double value : z)
                  sum += value * value - 10 * std::cos(2 * pi * value) + 10;
                return sum;
              },
          .scale = 235};
}

TestFunction schaffers5r() {
  return {
      .name = "schaffers5r",
      .space = box(),
      .value =
          [data = make_instance(114, dimensions),
           scales = conditioning(10, 0.5)](const Config& config) {
            Vector z = product(
                data.second_rotation,
                product(data.rotation, difference(coordinates(config, dimensions), data.optimum)));
            for (std::size_t i = 0; i < dimensions; ++i)
              z[i] *= scales[i];
            double sum = 0;
            for (std::size_t i = 0; i + 1 < dimensions; ++i) {
              const double s = std::sqrt(square(z[i]) + square(z[i + 1]));
              sum += std::sqrt(s) + std::sqrt(s) * square(std::sin(50 * std::pow(s, 0.2)));
            }
            return square(sum / (dimensions - 1));
          },
      .scale = 16.2};
}

TestFunction gallagher5r() {
  constexpr std::size_t peaks = 21;
  SplitMix random(115);
  const Matrix rotation = random.rotation(dimensions);
  Matrix centres;
  Vector heights{10.0};
  Matrix scales;
  for (std::size_t peak = 0; peak < peaks; ++peak) {
    centres.push_back(random.vector(dimensions, -4, 4));
    const auto number = static_cast<double>(peak);
    if (peak > 0)
      heights.push_back(1.1 + 8 * (number - 1) / 19);
    const double alpha = peak == 0 ? 1000.0 : std::pow(1000.0, 2 * (number - 1) / 19);
    scales.push_back(conditioning(alpha, 0.5));
    for (double& scale : scales.back())
      scale /= std::pow(alpha, 0.25);
  }
  return {.name = "gallagher5r",
          .space = box(),
          .value =
              [=](const Config& config) {
                const Vector x = coordinates(config, dimensions);
                double highest = -1e300;
                for (std::size_t peak = 0; peak < peaks; ++peak) {
                  const Vector z = product(rotation, difference(x, centres[peak]));
                  double distance = 0;
                  for (std::size_t i = 0; i < dimensions; ++i)
                    distance += scales[peak][i] * z[i] * z[i];
                  highest = std::max(highest, heights[peak] * std::exp(-distance / 10));
                }
                return square(10 - highest);
              },
          .scale = 87};
}

}  // namespace troupe::bench
