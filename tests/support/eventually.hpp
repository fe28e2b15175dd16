#pragma once

#include <troupe/base/clock.hpp>

#include <chrono>
#include <thread>

namespace troupe::testing {

/// How long tests wait for what must happen. Only a defect makes them wait that long.
inline constexpr Duration long_enough = std::chrono::seconds(60);

/// Waits until `holds()`; false: it never did.
template <class Condition>
bool eventually(Condition holds) {
  const TimePoint deadline = real_clock().now() + long_enough;
  while (!holds()) {
    if (real_clock().now() > deadline)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace troupe::testing
