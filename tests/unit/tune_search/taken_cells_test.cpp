#include <troupe/tune/search/detail/taken_cells.hpp>

#include <cstdint>
#include <optional>
#include <set>

#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

TEST_CASE("free cells are found from any start, around the end, until there is none") {
  for (const std::uint64_t cells : {1U, 63U, 64U, 65U, 200U}) {
    std::set<std::uint64_t> free;
    for (std::uint64_t cell = 0; cell < cells; cell += 7)
      free.insert(cell);
    const auto is_free = [&](std::uint64_t cell) { return free.contains(cell); };
    TakenCells taken;
    for (std::uint64_t start = cells / 2; !free.empty(); start = (start + 37) % cells) {
      const auto next = free.lower_bound(start);
      const auto found = taken.find_free(cells, start, is_free);
      REQUIRE(found == (next != free.end() ? *next : *free.begin()));
      free.erase(*found);
    }
    CHECK(!taken.all());
    CHECK(taken.find_free(cells, cells - 1, is_free) == std::nullopt);
    CHECK(taken.all());
  }
}

TEST_CASE("what is taken is not looked at again, until all is forgotten") {
  TakenCells taken;
  std::uint64_t looks = 0;
  const auto last = [&](std::uint64_t cell) {
    ++looks;
    return cell == 999;
  };
  CHECK(taken.find_free(1000, 0, last) == 999U);
  CHECK(looks == 1000);
  CHECK(taken.find_free(1000, 500, last) == 999U);
  CHECK(taken.find_free(1000, 0, last) == 999U);
  CHECK(looks == 1002);
  taken.clear();
  CHECK(taken.find_free(1000, 500, last) == 999U);
  CHECK(looks == 1502);
}

}  // namespace
}  // namespace troupe::tune::detail
