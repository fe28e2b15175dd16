#pragma once

#include <cstddef>

#include "benchmarks/suite.hpp"
#include "benchmarks/suite_instance.hpp"

/// The groups that the suite is put together from, for suite*.cpp alone.
namespace troupe::bench {

/// "x0", "x1", ... of a configuration.
[[nodiscard]] Vector coordinates(const Config& config, std::size_t size);
/// The square of a number.
[[nodiscard]] inline double square(double value) {
  return value * value;
}

/// Integer, categorical and conditional functions (suite_mixed.cpp).
[[nodiscard]] TestFunction mixed6();
[[nodiscard]] TestFunction intquad6();
[[nodiscard]] TestFunction cat8();
[[nodiscard]] TestFunction cond();

/// Shifted and rotated functions in the manner of BBOB (suite_rotated.cpp).
[[nodiscard]] TestFunction ellipsoid5r();
[[nodiscard]] TestFunction rosenbrock5r();
[[nodiscard]] TestFunction rastrigin5r();
[[nodiscard]] TestFunction schaffers5r();
[[nodiscard]] TestFunction gallagher5r();

}  // namespace troupe::bench
