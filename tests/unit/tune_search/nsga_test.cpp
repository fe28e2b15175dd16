#include <troupe/tune/search/detail/evolution.hpp>
#include <troupe/tune/search/nsga.hpp>
#include <troupe/tune/search/random_search.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/support/instrumented.hpp>

#include "ask_tell.hpp"

namespace troupe::tune {
namespace {

using Crossover = NsgaOptions::Crossover;
using Losses = std::vector<double>;

constexpr Crossover all_crossovers[] = {Crossover::uniform, Crossover::blx_alpha, Crossover::sbx,
                                        Crossover::vsbx,    Crossover::spx,       Crossover::undx};

ParamSpace box(std::size_t size) {
  ParamSpace space;
  for (std::size_t i = 0; i < size; ++i)
    space.add("x" + std::to_string(i), uniform(0, 1));
  return space;
}

double at(const Config& config, std::size_t i) {
  return config.at("x" + std::to_string(i)).as_double();
}

/// ZDT1 (Zitzler, Deb and Thiele 2000) of five parameters: the front is y = 1 - sqrt(x).
Losses zdt1(const Config& config) {
  double g = 1;
  for (std::size_t i = 1; i < 5; ++i)
    g += 9 * at(config, i) / 4;
  return {at(config, 0), g * (1 - std::sqrt(at(config, 0) / g))};
}

/// DTLZ2 of three objectives and six parameters: the front is an eighth of a sphere.
Losses dtlz2(const Config& config) {
  double g = 1;
  for (std::size_t i = 2; i < 6; ++i)
    g += (at(config, i) - 0.5) * (at(config, i) - 0.5);
  const double a = at(config, 0) * std::acos(0.0);
  const double b = at(config, 1) * std::acos(0.0);
  return {g * std::cos(a) * std::cos(b), g * std::cos(a) * std::sin(b), g * std::sin(a)};
}

SearchContext context(ParamSpace space, std::size_t objectives, std::uint64_t seed = 1) {
  SearchContext c{.space = std::move(space), .seed = seed};
  for (std::size_t i = 0; i < objectives; ++i)
    c.objectives.push_back({"loss" + std::to_string(i), Mode::min});
  return c;
}

double volume(const Searcher& prototype, const SearchContext& c, const AskTell::Losses& losses,
              std::size_t trials, const Losses& reference) {
  const auto searcher = prototype.clone();
  searcher->setup(c).value_or_throw();
  AskTell search(*searcher, c, losses);
  search.run(trials);
  return detail::hypervolume(search.losses, reference);
}

TEST_CASE("reference points cover the unit simplex") {
  CHECK(detail::reference_points(3, 3).size() == 10);
  CHECK(detail::reference_points(2, 4) ==
        std::vector<Losses>{{0, 1}, {0.25, 0.75}, {0.5, 0.5}, {0.75, 0.25}, {1, 0}});
  CHECK(detail::reference_count(3, 3) == 10);
  CHECK(detail::reference_count(4, 1000) > 1e8);
}

TEST_CASE("of the last rank those survive that are far from others") {
  const std::vector<Losses> points{{0, 4}, {1, 3}, {1.1, 2.9}, {2, 2}, {4, 0}, {5, 5}};
  const auto kept = detail::survivors_by_crowding(points, {}, 3);
  CHECK(std::set<std::size_t>(kept.begin(), kept.end()) == std::set<std::size_t>{0, 3, 4});
  const auto all = detail::survivors_by_crowding(points, {}, 10);
  CHECK(all.size() == 6);
  CHECK(all.back() == 5);
}

TEST_CASE("of the last rank those survive that fill empty directions") {
  // Three directions with divisions = 2; many points lie near the middle one.
  const std::vector<Losses> points{{0.5, 0.5}, {0.49, 0.51}, {0.51, 0.49}, {0, 1}, {1, 0}};
  Random random(1, 1, RandomPurpose::test);
  const auto kept = detail::survivors_by_niche(points, {}, 3, 2, random);
  CHECK(std::set<std::size_t>(kept.begin(), kept.end()) == std::set<std::size_t>{0, 3, 4});
}

TEST_CASE("feasible ones survive, then those that violate least") {
  const std::vector<Losses> points{{0, 0}, {1, 1}, {2, 2}, {0, 0}};
  const std::vector<double> violations{3, 0, 0, 1};
  CHECK(detail::survivors_by_crowding(points, violations, 3) == std::vector<std::size_t>{1, 2, 3});
}

TEST_CASE("children stay inside, and on average between their parents") {
  const detail::Design design(
      ParamSpace{{"x", uniform(0, 1)}, {"y", uniform(0, 1)}, {"c", choice({"a", "b", "c"})}});
  std::size_t category = 0;
  while (!design.axes()[category].categorical())
    ++category;
  const std::vector<detail::Point> parents(3, detail::Point(3, 0.0));
  std::vector<detail::Point> points = parents;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < 3; ++i)
      points[k][i] = i == category ? static_cast<double>(k) : 0.45 + 0.05 * static_cast<double>(k);
  const detail::Point* pointers[] = {&points[0], &points[1], &points[2]};
  for (const Crossover crossover : all_crossovers) {
    const std::size_t count = detail::parents_of(crossover);
    double mean = 0;
    std::set<double> different;
    for (std::uint32_t i = 0; i < 3000; ++i) {
      Random random(2, 2, RandomPurpose::test, i);
      const detail::Point child =
          detail::crossed(design, {pointers, count}, {.crossover = crossover}, 1, random);
      for (std::size_t k = 0; k < 3; ++k) {
        if (k == category) {
          REQUIRE((child[k] == 0 || child[k] == 1));
          continue;
        }
        REQUIRE((child[k] >= 0 && child[k] <= 1));
        mean += child[k] / 6000;
        different.insert(child[k]);
      }
    }
    const double middle = crossover == Crossover::spx ? 0.5 : 0.475;
    CHECK(std::fabs(mean - middle) < 0.01);
    CHECK(different.size() >= 2);
  }
}

TEST_CASE("parents at the border of the box have children in it") {
  const detail::Design design(box(4));
  const detail::Point low(4, 0.0);
  const detail::Point high(4, 1.0);
  const detail::Point* pointers[] = {&low, &high, &low};
  for (const Crossover crossover : all_crossovers)
    for (std::uint32_t i = 0; i < 300; ++i) {
      Random random(3, 3, RandomPurpose::test, i);
      const auto child = detail::crossed(design, {pointers, detail::parents_of(crossover)},
                                         {.crossover = crossover}, 2, random);
      REQUIRE(*std::min_element(child.begin(), child.end()) >= 0);
      REQUIRE(*std::max_element(child.begin(), child.end()) <= 1);
    }
}

TEST_CASE("polynomial mutation stays near, resampling goes anywhere") {
  const detail::Design design(box(1));
  double near = 0;
  double far = 0;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    for (const auto mutation :
         {NsgaOptions::Mutation::polynomial, NsgaOptions::Mutation::resample}) {
      Random random(4, 4, RandomPurpose::test, i);
      detail::Point point{0.3};
      detail::mutate(design, point, {.mutation = mutation, .mutation_probability = 1}, random);
      REQUIRE((point[0] >= 0 && point[0] <= 1));
      (mutation == NsgaOptions::Mutation::polynomial ? near : far) +=
          std::fabs(point[0] - 0.3) / 2000;
    }
  }
  CHECK(near < 0.06);
  CHECK(far > 0.25);
}

TEST_CASE("two objectives: the front is approached by every crossover") {
  const auto c = context(box(5), 2);
  const Losses reference{1.1, 1.1};
  const double chance = volume(*random_search(), c, zdt1, 600, reference);
  for (const Crossover crossover : all_crossovers)
    CHECK(volume(*nsga2({.population = 30, .crossover = crossover}), c, zdt1, 600, reference) >
          chance + 0.15);
  // The whole front would give 0.87.
  CHECK(volume(*nsga2({.population = 30}), c, zdt1, 1500, reference) > 0.75);
}

TEST_CASE("three objectives: reference directions spread over the front") {
  const auto c = context(box(6), 3);
  const Losses reference{1.2, 1.2, 1.2};
  const double chance = volume(*random_search(), c, dtlz2, 800, reference);
  const NsgaOptions options{.population = 40, .crossover = Crossover::sbx, .divisions = 6};
  CHECK(volume(*nsga3(options), c, dtlz2, 800, reference) > chance + 0.05);
  CHECK(volume(*nsga2(options), c, dtlz2, 800, reference) > chance + 0.05);
}

TEST_CASE("one objective, choices and conditions are served as well") {
  const ParamSpace space{{"kind", choice({"a", "b", "c"})},
                         {"depth", when("kind", {"a", "b"}, randint(1, 30))},
                         {"rate", when("kind", {"c"}, loguniform(1e-5, 1))}};
  const auto loss = [](const Config& c) {
    if (c.at("kind") == Value("c"))
      return Losses{1 + std::fabs(std::log10(c.at("rate").as_double()) + 2)};
    return Losses{std::fabs(c.at("depth").as_double() - 17) + (c.at("kind") == Value("a") ? 0 : 2)};
  };
  const auto searcher = nsga2({.population = 10});
  searcher->setup(context(space, 1)).value_or_throw();
  AskTell search(*searcher, context(space, 1), loss);
  search.run(300);
  CHECK(search.best() == 0);
}

TEST_CASE("infinite losses, failures and workers that are slow are taken") {
  const double inf = std::numeric_limits<double>::infinity();
  const Losses awkward{inf, -inf, 1e308, -1e308, std::nan("")};
  for (const bool niches : {false, true}) {
    const auto searcher = niches ? nsga3({.population = 8}) : nsga2({.population = 8});
    const auto c = context(box(5), 2);
    searcher->setup(c).value_or_throw();
    std::size_t calls = 0;
    AskTell search(*searcher, c, [&](const Config& config) {
      ++calls;
      Losses losses = zdt1(config);
      if (calls % 3 == 0)
        losses[calls % 5 == 0 ? 0 : 1] = awkward[calls / 3 % awkward.size()];
      if (std::isnan(losses[1]))
        losses[0] = losses[1];
      return losses;
    });
    for (int i = 0; i < 64; ++i)
      REQUIRE(search.ask());
    for (int i = 0; i < 300; ++i) {
      search.tell();
      REQUIRE(search.ask());
    }
  }
}

TEST_CASE("a genetic search that is saved anywhere goes on alike") {
  for (std::uint64_t seed = 0; seed < 100 / testing::fewer; ++seed) {
    const auto c = context(box(5), 2, seed);
    NsgaOptions options{.population = 6, .crossover = all_crossovers[seed % 6]};
    if (seed % 2 == 0)
      options.mutation = NsgaOptions::Mutation::polynomial;
    const auto make = [&] { return seed % 3 == 0 ? nsga3(options) : nsga2(options); };
    const auto whole = make();
    whole->setup(c).value_or_throw();
    AskTell search(*whole, c, zdt1);
    const auto before = static_cast<std::uint32_t>(1 + seed % 23);
    search.run(before);
    const auto other = make();
    other->setup(c).value_or_throw();
    other->restore(whole->save()).value_or_throw();
    for (std::uint32_t i = before; i < before + 15; ++i) {
      const Suggestion next = other->suggest(TrialId(i)).value_or_throw();
      other->record(TrialId(i), next.config, next.note);
      const Losses losses = zdt1(next.config);
      const Metrics metrics{{"loss0", losses[0]}, {"loss1", losses[1]}, {"training_iteration", 1}};
      other->on_complete(TrialId(i), Ending::finished, &metrics);
      search.run(1);
      REQUIRE(search.configs.back() == next.config);
    }
    CHECK(other->save() == whole->save());
  }
}

TEST_CASE("options of a genetic search survive as data, and bad ones are refused by name") {
  const NsgaOptions options{.population = 20,
                            .crossover = Crossover::undx,
                            .crossover_probability = 0.8,
                            .swap_probability = 0.4,
                            .mutation = NsgaOptions::Mutation::polynomial,
                            .mutation_probability = 0.2,
                            .divisions = 5};
  CHECK(nsga_options("nsga3", nsga3(options)->options()).value_or_throw() == options);
  const Status status = nsga2({.population = 1})->setup(context(box(2), 1));
  REQUIRE(!status.has_value());
  CHECK(status.error().message().find("population = 1") != std::string::npos);
}

TEST_CASE("more reference directions than can be looked at are refused with what is possible") {
  const auto refusal = [](std::size_t objectives, std::uint32_t divisions) {
    const Status status = nsga3({.divisions = divisions})->setup(context(box(2), objectives));
    return status ? std::string() : status.error().message();
  };
  CHECK(refusal(4, 1000) ==
        "the searcher nsga3, option divisions = 1000: with 4 objectives there are more than 10000 "
        "reference directions; it is at most 37 here");
  CHECK(refusal(4, 38) != "");
  CHECK(refusal(4, 37) == "");
  CHECK(refusal(1, 1000) == "");
  CHECK(refusal(38, 3) == "");
  CHECK(refusal(39, 3).find("at most 2 here") != std::string::npos);
  CHECK(refusal(10'001, 3).find("use nsga2") != std::string::npos);
  CHECK(nsga2({.divisions = 1000})->setup(context(box(2), 4)).has_value());
}

}  // namespace
}  // namespace troupe::tune
