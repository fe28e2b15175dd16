#include <troupe/tune/search/detail/permutation.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

TEST_CASE("a permutation of any size gives each number once") {
  for (const std::uint64_t size :
       {1ULL, 2ULL, 3ULL, 255ULL, 256ULL, 257ULL, 258ULL, 1000ULL, 65536ULL, 65537ULL, 100003ULL}) {
    const Permutation order(size, 4, 2);
    std::vector<bool> seen(size);
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::uint64_t number = order(i);
      REQUIRE(number < size);
      REQUIRE(!seen[number]);
      seen[number] = true;
    }
  }
}

TEST_CASE("a permutation knows where each number is") {
  for (const std::uint64_t size : {1ULL, 256ULL, 257ULL, 100003ULL, 1ULL << 40, 1ULL << 63}) {
    const Permutation order(size, 4, 2);
    const std::uint64_t step = size / 300 + 1;
    for (std::uint64_t i = 0; i < size; i += step)
      REQUIRE(order.place_of(order(i)) == i);
  }
}

TEST_CASE("all orders of four numbers are as likely") {
  std::map<std::array<std::uint64_t, 4>, int> counts;
  for (std::uint64_t seed = 0; seed < 24000; ++seed) {
    const Permutation order(4, seed, 0);
    ++counts[{order(0), order(1), order(2), order(3)}];
  }
  CHECK(counts.size() == 24);
  double chi2 = 0;
  for (const auto& [order, count] : counts)
    chi2 += (count - 1000.0) * (count - 1000.0) / 1000.0;
  CHECK(chi2 < 49.7);  // p = 0.001 at 23 degrees of freedom
}

TEST_CASE("each number of a computed permutation is as likely at each place, for itself") {
  constexpr std::uint64_t size = 300;
  for (const std::uint64_t place : {0ULL, 1ULL, 17ULL, 299ULL}) {
    std::vector<int> counts(size);
    for (std::uint64_t seed = 0; seed < 30000; ++seed)
      ++counts[Permutation(size, seed, 1)(place)];
    double chi2 = 0;
    for (const int count : counts)
      chi2 += (count - 100.0) * (count - 100.0) / 100.0;
    CHECK(chi2 < 380);  // p = 0.001 at 299 degrees of freedom
  }
}

TEST_CASE("neighbouring places of a computed permutation do not hold neighbouring numbers") {
  const Permutation order(1'000'000, 8, 0);
  int close = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const auto a = static_cast<std::int64_t>(order(i));
    const auto b = static_cast<std::int64_t>(order(i + 1));
    close += std::abs(a - b) < 10'000 ? 1 : 0;
  }
  CHECK(close < 80);  // 40 expected
}

TEST_CASE("the largest permutation has 2^64 - 1 numbers") {
  const Permutation order(std::numeric_limits<std::uint64_t>::max(), 1, 0);
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 1000; ++i)
    seen.insert(order(std::numeric_limits<std::uint64_t>::max() - 1 - i));
  CHECK(seen.size() == 1000);
  CHECK(*seen.rbegin() > std::numeric_limits<std::uint64_t>::max() / 100 * 95);
  CHECK(*seen.begin() < std::numeric_limits<std::uint64_t>::max() / 20);
}

}  // namespace
}  // namespace troupe::tune::detail
