#include <troupe/tune/search/detail/allowed_cells.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

std::vector<std::uint64_t> places(const AllowedCells& cells, const Design& design) {
  std::vector<std::uint64_t> found;
  for (;;) {
    const auto next = cells.from(design, found.empty() ? 0 : found.back() + 1).value_or_throw();
    if (!next)
      return found;
    found.push_back(*next);
  }
}

/// Every kind of rule, conditions and a constant.
Design with_rules() {
  ParamSpace space{{"kind", choice({"none", "some"})},
                   {"depth", when("kind", {"some"}, randint(0, 4))},
                   {"low", randint(-2, 3)},
                   {"high", randint(0, 4)},
                   {"size", choice({8, 2, 4})},
                   {"fixed", 3}};
  space.require(less("low", "high"));
  space.require(sum_at_most({"depth", "low"}, 3));
  space.require(sum_at_most({"fixed", "high"}, 5));
  space.require(product_at_most({"size", "high"}, 12));
  space.require(multiple_of("size", "high"));
  space.require(different({"size", "high"}));
  space.forbid({{"kind", "some"}, {"size", 8}});
  return Design(space);
}

TEST_CASE("a list has what one finds by looking at each cell, in the same order") {
  const Design design = with_rules();
  const std::uint64_t all = *design.cells();
  for (const auto& order : {std::optional<Permutation>(), std::optional(Permutation(all, 7, 1))}) {
    const AllowedCells looking(order, {.patience = all + 1});
    const AllowedCells listing(order, {.patience = 1});
    const std::vector<std::uint64_t> found = places(looking, design);
    CHECK(found.size() > 10);
    CHECK(places(listing, design) == found);
    for (const std::uint64_t place : found)
      CHECK(design.allowed(listing.at(design, place)));
  }
}

TEST_CASE("few configurations in a huge space are found") {
  ParamSpace space;
  std::vector<std::string> names;
  for (char name = 'a'; name <= 'j'; ++name)
    space.add(names.emplace_back(1, name), randint(0, 16));
  space.require(sum_at_most(names, 3));
  const Design design(space);
  CHECK(*design.cells() == std::uint64_t{1} << 40);
  const AllowedCells cells(Permutation(*design.cells(), 7, 1), {.patience = 100});
  CHECK(places(cells, design).size() == 286);  // 13 choose 3
}

TEST_CASE("conditions leave few configurations, too") {
  ParamSpace space{{"a", randint(0, 1000)}};
  for (char name = 'b'; name <= 'e'; ++name)
    space.add(std::string(1, name),
              when(std::string(1, static_cast<char>(name - 1)), {0}, randint(0, 1000)));
  const Design design(space);
  const AllowedCells cells(Permutation(*design.cells(), 7, 1), {.patience = 100});
  CHECK(places(cells, design).size() == 4 * 999 + 1000);
}

TEST_CASE("what would take for ever is an error that names a rule, at each call the same") {
  ParamSpace space;
  std::vector<std::string> names;
  for (char name = 'a'; name <= 'j'; ++name)
    space.add(names.emplace_back(1, name), randint(0, 9));
  space.require(different(names));  // ten of nine
  const Design design(space);
  const AllowedCells cells(Permutation(*design.cells(), 7, 1),
                           {.patience = 10, .parts = 100, .looks = 1'000});
  for (int i = 0; i < 2; ++i) {
    const auto found = cells.from(design, 5);
    REQUIRE(!found.has_value());
    CHECK(found.error().code() == ErrorCode::invalid_argument);
    CHECK(found.error().message() ==
          "1000 cells of param_space in a row are no configuration, the last one breaks 'a != b != "
          "c != d != e != f != g != h != i != j'; narrow the ranges to where the rules hold, or "
          "loosen the rules");
  }
}

}  // namespace
}  // namespace troupe::tune::detail
