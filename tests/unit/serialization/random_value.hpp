#pragma once

#include <troupe/base/random.hpp>
#include <troupe/serialization/value.hpp>

#include <cstddef>
#include <string>

/// Random values with a taste for the corners, and random damage, for property tests.
namespace troupe::test {

[[nodiscard]] Value random_value(Random& random, std::size_t depth = 4);
[[nodiscard]] Map random_map(Random& random, std::size_t depth = 4);

/// One to four bytes changed, or a part cut off, doubled or put in.
[[nodiscard]] std::string damage(Random& random, std::string bytes);

}  // namespace troupe::test
