#pragma once

#include <troupe/tune/search/detail/history.hpp>

#include <tuple>

namespace troupe::tune::detail {

/// How a searcher with one objective that only ranks orders trials, less is better: complete ones
/// by loss; then those that were stopped early, the longest first; then infeasible ones by how much
/// they violate; then failed ones and those that still run.
using OrderKey = std::tuple<int, double, double>;

[[nodiscard]] OrderKey order_key(const Observation& o);

/// Is `a` to be preferred to `b`? A strict weak order.
[[nodiscard]] inline bool better(const Observation& a, const Observation& b) {
  return order_key(a) < order_key(b);
}

}  // namespace troupe::tune::detail
