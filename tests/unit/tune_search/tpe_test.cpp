#include <troupe/base/random.hpp>
#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/detail/pareto.hpp>
#include <troupe/tune/search/random_search.hpp>
#include <troupe/tune/search/tpe.hpp>

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

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

SearchContext context(ParamSpace space, std::uint64_t seed = 1) {
  return {.space = std::move(space), .objectives = {{"loss", Mode::min}}, .seed = seed};
}

ParamSpace box(std::size_t dimensions) {
  ParamSpace space;
  for (std::size_t i = 0; i < dimensions; ++i)
    space.add("x" + std::to_string(i), uniform(-1, 1));
  return space;
}

double at(const Config& config, const std::string& name) {
  return config.at(name).as_double();
}

/// Squared distance from (0.3, 0.3, ...), with a constant trial each.
std::vector<double> sphere(const Config& config) {
  double sum = 0;
  for (const auto& [name, value] : config)
    sum += std::pow(value.as_double() - 0.3, 2);
  return {sum};
}

/// The median of `best` over seeds.
double median_best(const std::shared_ptr<Searcher>& searcher, const ParamSpace& space,
                   const AskTell::Losses& losses, std::size_t trials) {
  std::vector<double> all;
  for (std::uint64_t seed = 0; seed < 9; ++seed) {
    searcher->setup(context(space, seed)).value_or_throw();
    AskTell search(*searcher, context(space, seed), losses);
    search.run(trials);
    all.push_back(search.best());
  }
  std::nth_element(all.begin(), all.begin() + 4, all.end());
  return all[4];
}

TEST_CASE("tpe converges where random search does not") {
  const double random = median_best(random_search(), box(4), sphere, 120);
  CHECK(median_best(tpe(), box(4), sphere, 120) < random / 20);
  CHECK(median_best(tpe(TpeOptions::optuna()), box(4), sphere, 120) < random / 4);
  CHECK(median_best(tpe({.model = TpeOptions::Model::independent}), box(4), sphere, 120) <
        random / 4);
}

TEST_CASE("it learns categories, numbers on grids and logarithms at once") {
  const ParamSpace space{{"kind", choice({"a", "b", "c", "d"})},
                         {"n", randint(0, 30)},
                         {"units", lograndint(1, 5000)},
                         {"rate", quniform(0, 1, 0.05)}};
  const auto loss = [](const Config& config) -> std::vector<double> {
    return {(config.at("kind").as_string() == "c" ? 0 : 1) + std::abs(at(config, "n") - 17) / 10 +
            std::abs(std::log(at(config, "units") / 200)) + std::abs(at(config, "rate") - 0.35)};
  };
  CHECK(median_best(tpe(), space, loss, 100) <
        0.5 * median_best(random_search(), space, loss, 100));
}

TEST_CASE("parameters under conditions are learned from the trials that have them") {
  const ParamSpace space{{"kind", choice({"a", "b"})},
                         {"x", when("kind", {"a"}, uniform(0, 1))},
                         {"y", when("kind", {"a"}, uniform(0, 1))},
                         {"z", when("kind", {"b"}, uniform(0, 1))},
                         {"w", uniform(0, 1)}};
  const auto loss = [](const Config& config) -> std::vector<double> {
    const double w = std::pow(at(config, "w") - 0.9, 2);
    if (config.at("kind").as_string() == "b")
      return {0.1 + w + std::pow(at(config, "z") - 0.5, 2)};
    return {w + 3 * std::pow(at(config, "x") - 0.2, 2) + 3 * std::pow(at(config, "y") - 0.7, 2)};
  };
  const double random = median_best(random_search(), space, loss, 150);
  CHECK(median_best(tpe(), space, loss, 150) < random / 5);
  CHECK(median_best(tpe({.group = false}), space, loss, 150) < random / 2);
}

TEST_CASE("the first suggestions are random, until enough trials have a result") {
  const auto searcher = tpe({.startup_trials = 5});
  const auto random = random_search();
  searcher->setup(context(box(2))).value_or_throw();
  random->setup(context(box(2))).value_or_throw();
  AskTell search(*searcher, context(box(2)), sphere);
  AskTell baseline(*random, context(box(2)), sphere);
  for (int i = 0; i < 8; ++i) {
    search.ask();
    baseline.ask();
  }
  CHECK(search.configs == baseline.configs);
  for (int i = 0; i < 5; ++i)
    search.tell();
  search.ask();
  baseline.ask();
  CHECK(search.configs.back() != baseline.configs.back());
}

TEST_CASE("a space of one or of no free parameter works, and integers alone are modelled") {
  for (const ParamSpace& space :
       {ParamSpace{{"x", uniform(0, 1)}}, ParamSpace{{"x", randint(0, 1000)}, {"c", 3}}}) {
    const auto searcher = tpe();
    searcher->setup(context(space)).value_or_throw();
    AskTell search(*searcher, context(space), [](const Config& config) -> std::vector<double> {
      return {std::abs(at(config, "x") - 0.25)};
    });
    search.run(100);
    CHECK(search.configs.size() == 100);
    CHECK(search.best() < 0.3);
  }
  const auto searcher = tpe();
  const ParamSpace constant{{"x", choice({5})}, {"y", randint(2, 3)}};
  searcher->setup(context(constant)).value_or_throw();
  AskTell search(*searcher, context(constant), sphere);
  CHECK(search.ask());
  CHECK(!search.ask());
}

TEST_CASE("a finite space is given out completely, whatever the model prefers") {
  const ParamSpace space{{"a", choice({"x", "y", "z"})}, {"b", randint(0, 30)}};
  const auto searcher = tpe();
  searcher->setup(context(space)).value_or_throw();
  AskTell search(*searcher, context(space),
                 [](const Config& config) -> std::vector<double> { return {at(config, "b")}; });
  search.run(1000);
  CHECK(std::set<Config>(search.configs.begin(), search.configs.end()).size() == 90);
  CHECK(search.configs.size() == 90);
}

TEST_CASE("a logarithmic integer takes many values, and none twice") {
  const ParamSpace space{{"n", lograndint(3, 2001)}};
  const auto searcher = tpe();
  searcher->setup(context(space)).value_or_throw();
  AskTell search(*searcher, context(space), [](const Config& config) -> std::vector<double> {
    return {std::abs(at(config, "n") - 700)};
  });
  search.run(50);
  CHECK(std::set<Config>(search.configs.begin(), search.configs.end()).size() == 50);
}

TEST_CASE("regions where trials fail are left") {
  const auto searcher = tpe();
  int failing = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    searcher->setup(context(box(2), seed)).value_or_throw();
    AskTell search(*searcher, context(box(2), seed), [](const Config& config) {
      const double x = at(config, "x0");
      return std::vector<double>{x < 0 ? nan : std::abs(x - 0.3) + std::abs(at(config, "x1"))};
    });
    search.run(100);
    for (std::size_t i = 60; i < 100; ++i)
      failing += std::isnan(search.losses[i][0]);
  }
  CHECK(failing <= 5 * 40 / 4);
}

TEST_CASE("the search goes on when the first trials all fail") {
  const auto searcher = tpe();
  searcher->setup(context(box(2))).value_or_throw();
  int count = 0;
  AskTell search(*searcher, context(box(2)), [&](const Config& config) {
    return ++count <= 15 ? std::vector<double>{nan} : sphere(config);
  });
  search.run(80);
  CHECK(search.best() < 0.02);
}

TEST_CASE("extreme values, with one objective and with three, leave suggestions in bounds") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double extremes[] = {inf, -inf, 1e308, -1e308, 5e-324, nan, 0};
  for (const std::size_t objectives : {1U, 2U, 3U}) {
    SearchContext several = context(box(3));
    several.objectives = {{"a", Mode::min}, {"b", Mode::min}, {"c", Mode::min}};
    several.objectives.resize(objectives);
    const auto searcher = tpe();
    searcher->setup(several).value_or_throw();
    Random random(5, objectives, RandomPurpose::test);
    AskTell search(*searcher, several, [&](const Config&) {
      std::vector<double> losses(objectives);
      for (double& loss : losses)
        loss = random.chance(0.3) ? extremes[random.below(7)] : random.normal();
      return losses;
    });
    search.run(100);
    CHECK(search.configs.size() == 100);
    for (const Config& config : search.configs)
      for (const auto& [name, value] : config)
        CHECK(uniform(-1, 1).contains(value));
  }
}

TEST_CASE("suggestions made at once keep apart") {
  const auto spread = [](const std::shared_ptr<Searcher>& searcher, std::uint64_t seed) {
    searcher->setup(context(box(2), seed)).value_or_throw();
    AskTell search(*searcher, context(box(2), seed), sphere);
    search.run(40);
    for (int i = 0; i < 16; ++i)
      search.ask();
    double least = HUGE_VAL;
    for (std::size_t i = 40; i < 56; ++i)
      for (std::size_t j = 40; j < i; ++j)
        least =
            std::min(least, std::hypot(at(search.configs[i], "x0") - at(search.configs[j], "x0"),
                                       at(search.configs[i], "x1") - at(search.configs[j], "x1")));
    return least;
  };
  double with = 0;
  double without = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    with += spread(tpe(), seed);
    without += spread(tpe({.constant_liar = false}), seed);
    CHECK(spread(tpe(), seed) > 1e-4);
  }
  CHECK(with > without);
}

TEST_CASE("eight at a time converge faster with a local liar") {
  const auto reached = [](const TpeOptions& options, std::size_t parallel) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const auto searcher = tpe(options);
      searcher->setup(context(box(8), seed)).value_or_throw();
      AskTell search(*searcher, context(box(8), seed), sphere);
      while (search.configs.size() < 160) {
        for (std::size_t i = 0; i < parallel; ++i)
          search.ask();
        for (std::size_t i = 0; i < parallel; ++i)
          search.tell();
      }
      sum += std::log(search.best());
    }
    return std::exp(sum / 12);
  };
  const double local = reached({}, 8);
  CHECK(local < 0.5 * reached({.local_liar = false}, 8));
  CHECK(local < 20 * reached({}, 1));
}

TEST_CASE("stopped trials teach, those that came furthest most") {
  const auto searcher = tpe();
  searcher->setup(context(box(3))).value_or_throw();
  AskTell search(*searcher, context(box(3)), sphere);
  for (std::size_t i = 0; i < 100; ++i) {
    search.ask();
    // A scheduler lets the better ones run longer.
    search.tell(Ending::stopped, sphere(search.configs.back())[0] < 0.3 ? 9 : 3);
  }
  CHECK(search.best() < 0.02);
}

TEST_CASE("feasible trials are preferred to better ones that are not") {
  int feasible = 0;
  double best = HUGE_VAL;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SearchContext constrained = context(box(2), seed);
    constrained.constraints = {"limit"};
    const auto searcher = tpe();
    searcher->setup(constrained).value_or_throw();
    // A quarter of the space is feasible, and the best point is not.
    AskTell search(*searcher, constrained, [](const Config& config) {
      return std::vector{sphere(config)[0], 0.5 - at(config, "x0")};
    });
    search.run(100);
    for (std::size_t i = 0; i < 100; ++i) {
      if (search.losses[i][1] > 0)
        continue;
      best = std::min(best, search.losses[i][0]);
      feasible += i >= 60;
    }
  }
  CHECK(feasible > 70);  // of 200; 50 by chance
  CHECK(best < 0.05);
}

TEST_CASE("with two objectives it covers more of the front than random search") {
  SearchContext several = context(box(4));
  several.objectives = {{"a", Mode::min}, {"b", Mode::min}};
  const auto losses = [](const Config& config) -> std::vector<double> {
    double rest = 0;
    for (int i = 1; i < 4; ++i)
      rest += std::pow(at(config, "x" + std::to_string(i)) - 0.2, 2);
    const double x = at(config, "x0");
    return {std::pow(x + 0.5, 2) + rest, std::pow(x - 0.5, 2) + rest};
  };
  const auto covered = [&](const std::shared_ptr<Searcher>& searcher) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      several.seed = seed;
      searcher->setup(several).value_or_throw();
      AskTell search(*searcher, several, losses);
      search.run(150);
      sum += detail::hypervolume(search.losses, std::vector<double>{1, 1}) / 5;
    }
    return sum;
  };
  const double random = covered(random_search());
  CHECK(covered(tpe()) > random + 0.05);
  CHECK(covered(tpe({.model = TpeOptions::Model::joint})) > random + 0.05);
}

TEST_CASE("a search that is saved and restored anywhere goes on alike") {
  const ParamSpace space{{"kind", choice({"a", "b"})},
                         {"x", when("kind", {"a"}, uniform(-1, 1))},
                         {"n", randint(-3, 9)},
                         {"y", uniform(-1, 1)}};
  const auto loss = [](const Config& config) -> std::vector<double> {
    return {at(config, "y") * at(config, "n")};
  };
  for (std::uint64_t seed = 0; seed < 100 / testing::fewer; ++seed) {
    const auto whole = tpe();
    whole->setup(context(space, seed)).value_or_throw();
    AskTell search(*whole, context(space, seed), loss);
    const auto before = static_cast<std::uint32_t>(Random(seed, 0, RandomPurpose::test).below(40));
    search.run(before);
    const auto restored = tpe();
    restored->setup(context(space, seed)).value_or_throw();
    restored->restore(whole->save()).value_or_throw();
    AskTell again(*restored, search);
    search.run(8);
    again.run(8);
    REQUIRE(again.configs == search.configs);
  }
}

TEST_CASE("a thousand categorical parameters are no obstacle") {
  ParamSpace space;
  for (int i = 0; i < 1000; ++i)
    space.add("c" + std::to_string(i), choice({"a", "b", "c"}));
  const auto searcher = tpe();
  searcher->setup(context(space)).value_or_throw();
  AskTell search(*searcher, context(space), [](const Config& config) -> std::vector<double> {
    double wrong = 0;
    for (const auto& [name, value] : config)
      wrong += value.as_string() != "b";
    return {wrong};
  });
  search.run(60);
  double early = 0;
  double late = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    early += search.losses[i][0];
    late += search.losses[50 + i][0];
  }
  CHECK(late < early);
}

TEST_CASE("a trial counts where it was tried, also after a suggestion that knew it elsewhere") {
  const SearchContext c = context({{"kind", choice({"a", "b"})},
                                   {"x", when("kind", {"a"}, uniform(0, 1))},
                                   {"n", randint(0, 9)},
                                   {"y", uniform(0, 1)}});
  const detail::Design design(c.space);
  const auto searcher = tpe({.startup_trials = 5})->clone();
  searcher->setup(c).value_or_throw();
  std::vector<Config> tried;
  for (std::uint32_t trial = 0; trial < 40; ++trial) {
    const Suggestion next = searcher->suggest(TrialId(trial)).value_or_throw();
    searcher->record(TrialId(trial), next.config, next.note);
    tried.push_back(next.config);
    if (trial < 3)
      continue;
    const std::uint32_t over = trial - 3;
    Config& config = tried[over];
    if (over % 2 == 0)
      config = design.sample(2, over, 0);
    if (over % 4 == 1)
      config.set("n", tried[0].at("n"));  // where another one lies
    if (over % 4 != 3)
      searcher->amend(TrialId(over), config);
    const double loss = at(config, "y") + at(config, "n");
    const Metrics metrics{{"loss", loss}, {"training_iteration", 1}};
    searcher->on_complete(TrialId(over), Ending::finished, &metrics);
    const auto restored = searcher->clone();
    restored->restore(searcher->save()).value_or_throw();
    REQUIRE(restored->suggest(TrialId(trial + 1)).value_or_throw().config ==
            searcher->suggest(TrialId(trial + 1)).value_or_throw().config);
  }
}

TEST_CASE("options survive as data, and bad ones are refused by name") {
  const auto searcher =
      tpe({.candidates = 50, .model = TpeOptions::Model::independent, .sharpness = 2});
  const Result<TpeOptions> read = tpe_options(searcher->options());
  REQUIRE(read.has_value());
  CHECK(read->candidates == 50);
  CHECK(read->model == TpeOptions::Model::independent);
  CHECK(make_searcher("tpe", searcher->options()).value_or_throw()->options() ==
        searcher->options());
  const Status status = tpe({.candidates = 0})->setup(context(box(1)));
  REQUIRE(!status.has_value());
  CHECK(status.error().message().find("candidates = 0") != std::string::npos);
  CHECK(!tpe_options(Map{{"model", "both"}}).has_value());
  CHECK(!tpe_options(Map{{"candidate", 5}}).has_value());
}

}  // namespace
}  // namespace troupe::tune
