#include <troupe/tune/search/cmaes.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <tests/support/instrumented.hpp>

#include "ask_tell.hpp"

namespace troupe::tune {
namespace {

using Losses = std::vector<double>;

SearchContext context(ParamSpace space, std::uint64_t seed = 1) {
  return {.space = std::move(space), .objectives = {{"loss", Mode::min}}, .seed = seed};
}

ParamSpace box(std::size_t size) {
  ParamSpace space;
  for (std::size_t i = 0; i < size; ++i)
    space.add("x" + std::to_string(i), uniform(-5, 5));
  return space;
}

Losses rosenbrock(const Config& config) {
  double sum = 0;
  for (std::size_t i = 0; config.contains("x" + std::to_string(i + 1)); ++i) {
    const double x = config.at("x" + std::to_string(i)).as_double();
    const double y = config.at("x" + std::to_string(i + 1)).as_double();
    sum += 100 * (y - x * x) * (y - x * x) + (1 - x) * (1 - x);
  }
  return {sum};
}

ParamSpace mixed() {
  return {{"lr", loguniform(1e-6, 1)},
          {"layers", randint(1, 7)},
          {"units", lograndint(16, 1025)},
          {"drop", quniform(0, 0.5, 0.05)},
          {"opt", choice({"sgd", "adam", "rmsprop"})},
          {"momentum", when("opt", {"sgd", "rmsprop"}, uniform(0, 1))}};
}

Losses mixed_loss(const Config& c) {
  const double a = std::log10(c.at("lr").as_double()) + 3;
  const double b = std::log2(c.at("units").as_double()) - 8;
  const double l = c.at("layers").as_double() - 3;
  const double d = (c.at("drop").as_double() - 0.2) / 0.1;
  const double m = c.contains("momentum") ? c.at("momentum").as_double() - 0.9 : 0;
  const double o = c.at("opt") == Value("adam") ? 0.2 : c.at("opt") == Value("sgd") ? 0 : 0.6;
  return {0.3 * a * a + 0.1 * b * b + 0.05 * l * l + 0.08 * (b + 0.5 * l) * (b + 0.5 * l) +
          0.04 * d * d + m * m + o};
}

std::unique_ptr<Searcher> made(const SearchContext& context, CmaEsOptions options = {}) {
  auto searcher = cmaes(options)->clone();
  searcher->setup(context).value_or_throw();
  return searcher;
}

double reached(const SearchContext& c, const AskTell::Losses& losses, std::size_t trials,
               CmaEsOptions options = {}) {
  const auto searcher = made(c, options);
  AskTell search(*searcher, c, losses);
  search.run(trials);
  return search.best();
}

TEST_CASE("a smooth valley is followed to its end, with and without the regression") {
  CHECK(reached(context(box(4)), rosenbrock, 600) < 1e-6);
  CHECK(reached(context(box(4)), rosenbrock, 3000, {.surrogate = false}) < 1e-6);
}

TEST_CASE("the regression saves most of the trials on a quadratic") {
  const auto bowl = [](const Config& c) {
    double sum = 0;
    for (std::size_t i = 0; i < 5; ++i)
      sum += std::pow(10, static_cast<double>(i)) *
             std::pow(c.at("x" + std::to_string(i)).as_double() - 1.5, 2);
    return Losses{sum};
  };
  CHECK(reached(context(box(5)), bowl, 120) < 1e-8);
  CHECK(reached(context(box(5)), bowl, 120, {.surrogate = false}) > 1e-3);
}

TEST_CASE("no two suggestions are closer than 1e-6, also long after convergence") {
  // optuna's Gaussian process repeated itself, and so did this: half of the trials were copies.
  const auto bowl = [](const Config& c) {
    double sum = 0;
    for (const auto& [name, x] : c)
      sum += std::pow(x.as_double() - 1.5, 2);
    return Losses{sum};
  };
  const auto corner = [](const Config& c) {
    double sum = 0;
    for (const auto& [name, x] : c)
      sum += x.as_double() + 5;
    return Losses{sum};
  };
  const auto wave = [](const Config& c) {
    const double x = c.at("x0").as_double();
    return Losses{x * x / 10 - std::cos(2 * x)};
  };
  const std::vector<std::pair<std::size_t, AskTell::Losses>> searches{
      {1, wave}, {2, bowl}, {2, rosenbrock}, {2, corner}, {3, rosenbrock}, {5, bowl}};
  for (const auto& [size, losses] : searches)
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      CAPTURE(size);
      CAPTURE(seed);
      const auto c = context(box(size), seed);
      const auto searcher = made(c);
      AskTell search(*searcher, c, losses);
      const bool eight_at_once = seed % 2 == 0;
      for (std::size_t i = 1; eight_at_once && i < 8; ++i)
        REQUIRE(search.ask());
      search.run(200);
      CHECK((eight_at_once || search.best() < 1e-3));
      double nearest = 1;
      for (std::size_t i = 0; i < search.configs.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
          double largest = 0;
          for (const auto& [name, x] : search.configs[i])
            largest = std::max(
                largest, std::fabs(x.as_double() - search.configs[j].at(name).as_double()) / 10);
          nearest = std::min(nearest, largest);
        }
      CHECK(nearest >= 0.99e-6);
    }
}

TEST_CASE("numbers with steps, logarithms, choices and conditions are learnt together") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    CHECK(reached(context(mixed(), seed), mixed_loss, 300) < 0.02);
}

TEST_CASE("eight workers at a time come to the same end") {
  const auto c = context(box(3));
  const auto searcher = made(c);
  AskTell search(*searcher, c, rosenbrock);
  for (int i = 0; i < 8; ++i)
    REQUIRE(search.ask());
  for (int i = 0; i < 1000; ++i) {
    search.tell();
    REQUIRE(search.ask());
  }
  CHECK(search.best() < 1e-3);
}

TEST_CASE(
    "eight at a time need hardly more trials than one after the other on a smooth objective") {
  const auto bowl = [](const Config& c) {
    double sum = 0;
    for (std::size_t i = 0; i < 5; ++i)
      sum += std::pow(10, static_cast<double>(i)) *
             std::pow(c.at("x" + std::to_string(i)).as_double() - 1.5, 2);
    return Losses{sum};
  };
  const auto c = context(box(5));
  const auto searcher = made(c);
  AskTell search(*searcher, c, bowl);
  for (int batch = 0; batch < 15; ++batch) {
    for (int i = 0; i < 8; ++i)
      REQUIRE(search.ask());
    for (int i = 0; i < 8; ++i)
      search.tell();
  }
  CHECK(search.best() < 1e-8);
}

TEST_CASE("sixty-four workers get different points before any result") {
  const auto c = context(box(2));
  const auto searcher = made(c);
  AskTell search(*searcher, c, rosenbrock);
  std::set<double> different;
  for (int i = 0; i < 64; ++i) {
    REQUIRE(search.ask());
    different.insert(search.configs.back().at("x0").as_double());
  }
  CHECK(different.size() == 64);
  for (int i = 0; i < 64; ++i)
    search.tell();
  search.run(100);
  CHECK(search.best() < 5);
}

TEST_CASE("a small space of whole numbers is tried completely, each point once") {
  const auto c = context({{"a", randint(0, 6)}, {"b", randint(0, 5)}});
  const auto searcher = made(c);
  AskTell search(*searcher, c, [](const Config& config) {
    return Losses{std::fabs(config.at("a").as_double() - 4) + config.at("b").as_double()};
  });
  search.run(100);
  CHECK(search.configs.size() == 30);
  CHECK(std::set<Config>(search.configs.begin(), search.configs.end()).size() == 30);
}

TEST_CASE("a large space of whole numbers is searched near the best ones") {
  ParamSpace space;
  for (int i = 0; i < 6; ++i)
    space.add("n" + std::to_string(i), randint(0, 21));
  const auto loss = [](const Config& config) {
    double sum = 0;
    for (int i = 0; i < 6; ++i)
      sum += (i + 1) * std::pow(config.at("n" + std::to_string(i)).as_double() - 3 * i, 2);
    return Losses{sum};
  };
  CHECK(reached(context(space), loss, 200) == 0);
  CHECK(reached(context(space), loss, 400, {.surrogate = false}) < 10);
}

TEST_CASE("one parameter, one value, no value") {
  CHECK(reached(
            context({{"x", uniform(0, 1)}}),
            [](const Config& c) { return Losses{std::pow(c.at("x").as_double() - 0.7, 2)}; },
            60) < 1e-6);
  CHECK(reached(
            context({{"x", choice({3})}}), [](const Config&) { return Losses{1}; }, 9) == 1);
  CHECK(reached(
            context({}), [](const Config&) { return Losses{2}; }, 9) == 2);
}

TEST_CASE("a thousand choices are a space too") {
  ParamSpace space;
  for (int i = 0; i < 1000; ++i)
    space.add("c" + std::to_string(i), choice({"a", "b", "c"}));
  const auto matches = [](const Config& config) {
    double wrong = 0;
    for (int i = 0; i < 1000; ++i)
      wrong += config.at("c" + std::to_string(i)) == Value("b") ? 0 : 1;
    return Losses{wrong};
  };
  CHECK(reached(context(space), matches, 60) < 660);
}

TEST_CASE("losses of any size are survived, and constant ones") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> awkward{inf, -inf, 1e308, -1e308, 5e-324, std::nan("")};
  for (const bool surrogate : {true, false}) {
    std::size_t calls = 0;
    const auto searcher = made(context(mixed()), {.surrogate = surrogate});
    AskTell search(*searcher, context(mixed()), [&](const Config& config) {
      ++calls;
      return calls % 3 == 0 ? Losses{awkward[calls / 3 % awkward.size()]} : mixed_loss(config);
    });
    search.run(300);
    CHECK(search.configs.size() == 300);
    CHECK(reached(context(box(3)), [](const Config&) { return Losses{7}; }, 300,
                  {.surrogate = surrogate}) == 7);
  }
}

TEST_CASE("where trials fail is not searched for long") {
  const auto searcher = made(context(box(2)));
  AskTell search(*searcher, context(box(2)), [](const Config& config) {
    const double x = config.at("x0").as_double();
    const double y = config.at("x1").as_double();
    return Losses{x < 0 ? std::nan("") : (x - 2) * (x - 2) + y * y};
  });
  search.run(90);
  int failing = 0;
  for (std::size_t i = 60; i < 90; ++i)
    failing += search.configs[i].at("x0").as_double() < 0 ? 1 : 0;
  CHECK(failing <= 8);
}

TEST_CASE("ten times as many workers as a generation has trials still find the minimum") {
  const auto bowl = [](const Config& config) {
    return Losses{std::pow(config.at("x0").as_double() - 1.5, 2) +
                  std::pow(config.at("x1").as_double() + 2, 2)};
  };
  const auto c = context(box(2));
  const auto searcher = made(c);
  AskTell search(*searcher, c, bowl);
  for (int batch = 0; batch < 3; ++batch) {
    for (int i = 0; i < 64; ++i)
      REQUIRE(search.ask());
    for (int i = 0; i < 64; ++i)
      search.tell();
  }
  std::set<double> different;
  for (const Config& config : search.configs)
    different.insert(config.at("x0").as_double());
  CHECK(different.size() == 3 * 64);
  CHECK(search.best() < 1e-6);
}

TEST_CASE("infeasible configurations are left for feasible ones") {
  SearchContext c = context(box(2));
  c.constraints = {"excess"};
  const auto searcher = made(c);
  AskTell search(*searcher, c, [](const Config& config) {
    const double sum = config.at("x0").as_double() + config.at("x1").as_double();
    return Losses{sum, 1 - sum};
  });
  search.run(200);
  double best = 1e9;
  for (const Losses& losses : search.losses)
    if (losses[1] <= 0)
      best = std::min(best, losses[0]);
  CHECK(best < 1.3);
}

TEST_CASE("results known before set the place where the search begins") {
  SearchContext c = context(box(3));
  for (int i = 0; i < 30; ++i) {
    const double x = 3 + 0.02 * i;
    c.known_results.push_back(
        {.config = {{"x0", x}, {"x1", x}, {"x2", -x}}, .metrics = {{"loss", 1.0 * i}}});
  }
  const auto searcher = made(c);
  AskTell search(*searcher, c, rosenbrock);
  for (int i = 0; i < 6; ++i)
    REQUIRE(search.ask());
  double mean = 0;
  for (const Config& config : search.configs)
    mean += config.at("x0").as_double() / 6;
  CHECK(mean == doctest::Approx(3).epsilon(0.35));
}

TEST_CASE("restarts find what a single run misses") {
  // A wide bowl, and a narrow one that is deeper, in a corner.
  const auto bowls = [](const Config& c) {
    const double x = c.at("x0").as_double();
    const double y = c.at("x1").as_double();
    const double wide = 0.05 * (x * x + y * y);
    const double deep = 0.4 * ((x - 4) * (x - 4) + (y - 4) * (y - 4)) - 1;
    return Losses{std::min(wide, deep)};
  };
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    for (const auto restarts : {CmaEsOptions::Restarts::ipop, CmaEsOptions::Restarts::bipop})
      found +=
          reached(context(box(2), seed), bowls, 1200, {.restarts = restarts, .sigma = 0.05}) < -0.99
              ? 1
              : 0;
  CHECK(found >= 2);
  // Without restarts it ends in the wide one, and random points follow.
  CHECK(reached(context(box(2)), bowls, 1200,
                {.restarts = CmaEsOptions::Restarts::none, .sigma = 0.05}) > -0.999);
}

TEST_CASE("saved and restored anywhere, the same suggestions follow") {
  for (std::uint64_t seed = 0; seed < 100 / testing::fewer; ++seed) {
    SearchContext c = context(seed % 3 == 0 ? box(3) : mixed(), seed);
    if (seed % 3 == 2)
      c.space = {{"a", randint(0, 30)}, {"b", randint(0, 30)}, {"c", choice({1, 2})}};
    const auto losses = [&](const Config& config) {
      if (seed % 3 == 0)
        return rosenbrock(config);
      if (seed % 3 == 1)
        return mixed_loss(config);
      return Losses{std::pow(config.at("a").as_double() - 7, 2) +
                    config.at("b").as_double() * config.at("c").as_double()};
    };
    const CmaEsOptions options{.adapt_learning_rate = seed % 5 == 0, .surrogate = seed % 4 != 0};
    const auto whole = made(c, options);
    AskTell search(*whole, c, losses);
    Random random(seed, 0, RandomPurpose::test);
    const std::size_t before = 1 + random.below(70);
    for (std::size_t i = 0; i < before; ++i) {
      REQUIRE(search.ask());
      if (i >= seed % 5)
        search.tell();
    }
    const auto restored = made(c, options);
    REQUIRE(restored->restore(whole->save()).has_value());
    REQUIRE(restored->save() == whole->save());
    AskTell again(*restored, search);
    search.run(25);
    again.run(25);
    REQUIRE(again.configs == search.configs);
  }
}

TEST_CASE("who asks a copy comes to the same state as who is asked") {
  // As the trial loop does it: a copy hears all calls and suggests, and the original only hears
  // them; results arrive while the question is out.
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const bool whole_numbers = seed % 4 == 3;
    const auto c = whole_numbers ? context({{"a", randint(0, 12)}, {"b", randint(0, 12)}}, seed)
                                 : context(seed % 2 == 0 ? box(3) : mixed(), seed);
    const auto losses = [&](const Config& config) {
      return whole_numbers   ? config.at("a").as_double() * 3 + config.at("b").as_double()
             : seed % 2 == 0 ? rosenbrock(config)[0]
                             : mixed_loss(config)[0];
    };
    const auto original = made(c);
    const auto copy = original->clone();
    std::vector<Config> configs;
    std::uint32_t told = 0;
    const auto tell = [&] {
      const TrialId trial(told);
      const Metrics metrics{{"loss", losses(configs[told++])}, {"training_iteration", 1}};
      original->on_complete(trial, Ending::finished, &metrics);
      copy->on_complete(trial, Ending::finished, &metrics);
    };
    for (std::uint32_t i = 0; i < 100; ++i) {
      const TrialId trial(i);
      const Suggestion next = copy->suggest(trial).value_or_throw();
      for (std::uint32_t late = 0; i % 7 == 0 && late < 3 && told < i; ++late)
        tell();
      original->record(trial, next.config, next.note);
      copy->record(trial, next.config, next.note);
      configs.push_back(next.config);
      while (i + 1 > told + seed % 6)
        tell();
      REQUIRE(original->save() == copy->save());
      REQUIRE(original->clone()->suggest(TrialId(i + 1)).value_or_throw().config ==
              copy->suggest(TrialId(i + 1)).value_or_throw().config);
    }
  }
}

TEST_CASE("notes that it cannot have written make a trial like one from elsewhere") {
  const auto c = context(box(3));
  const auto searcher = made(c);
  const List predictions{1.0, std::nan(""), 0.5};
  const std::vector<Value> notes{Value(),
                                 List{0, 0, 0},
                                 List{0, 0, -2, List{}},
                                 List{0, 0, std::int64_t{1} << 40, List{}},
                                 List{0, 0, 1, predictions},
                                 List{0, 0, 1, List{0.5}},
                                 List{9, 9, 1, List{}},
                                 "note"};
  std::uint32_t trial = 0;
  for (const Value& note : notes) {
    const Suggestion next = searcher->suggest(TrialId(trial)).value_or_throw();
    searcher->record(TrialId(trial++), next.config, Map{{"model", note}});
  }
  for (std::uint32_t i = 0; i < trial; ++i) {
    const Metrics metrics{{"loss", 1.0 * i}, {"training_iteration", 1}};
    searcher->on_complete(TrialId(i), Ending::finished, &metrics);
  }
  const auto restored = made(c);
  REQUIRE(restored->restore(searcher->save()).has_value());
  CHECK(restored->suggest(TrialId(trial)).value_or_throw().config ==
        searcher->suggest(TrialId(trial)).value_or_throw().config);
}

TEST_CASE("a trial that tried something else is known by that, before a restart and after it") {
  const auto c =
      context({{"a", randint(0, 6)}, {"b", randint(0, 6)}, {"k", choice({"x", "y"})}}, 4);
  const auto searcher = made(c);
  Random random(1, 9, RandomPurpose::test);
  std::vector<Config> tried;
  for (std::uint32_t trial = 0; trial < 60; ++trial) {
    Suggestion next = searcher->suggest(TrialId(trial)).value_or_throw();
    searcher->record(TrialId(trial), next.config, next.note);
    if (trial % 3 == 0) {
      next.config.set("a", random.uniform_int(0, 5));
      searcher->amend(TrialId(trial), next.config);
    }
    const auto restored = made(c);
    restored->restore(searcher->save()).value_or_throw();
    const TrialId after(trial + 1);
    REQUIRE(restored->suggest(after).value_or_throw().config ==
            searcher->suggest(after).value_or_throw().config);
    tried.push_back(next.config);
    if (trial < 3)
      continue;
    const double loss = tried[trial - 3].at("a").as_double() + tried[trial - 3].at("b").as_double();
    const Metrics metrics{{"loss", loss}, {"training_iteration", 1}};
    searcher->on_complete(TrialId(trial - 3), Ending::finished, &metrics);
  }
}

TEST_CASE("damaged states are refused, and nothing has changed") {
  const auto c = context(mixed());
  const auto searcher = made(c);
  AskTell search(*searcher, c, mixed_loss);
  search.run(40);
  for (int i = 0; i < 4; ++i)
    REQUIRE(search.ask());
  const Value good = searcher->save();
  const auto refused = [&](const char* part, const Value& damage) {
    Value state = good;
    state.as_map()["model"].as_map()["generations"].as_map()[part] = damage;
    const auto other = made(c);
    const Status status = other->restore(state);
    REQUIRE(!status.has_value());
    CHECK(status.error().code() == ErrorCode::corrupt);
    CHECK(other->save() == made(c)->save());
  };
  const List no_trial{5'000'000, 0, List{0.1, 0.1, 0.1, 0.1, 0.1}};
  for (const Value& damage : {Value(), Value(List{1}), Value(List{no_trial})})
    for (const char* part : {"running", "results", "asked"})
      refused(part, damage);
  refused("schedule", List{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  const Value schedule =
      good.as_map().at("model").as_map().at("generations").as_map().at("schedule");
  constexpr std::pair<std::size_t, std::int64_t> impossible[] = {
      {1, INT64_MAX}, {2, 1}, {3, 1000},    {4, 1000}, {5, 2},
      {6, 2},         {7, 1}, {7, 1 << 24}, {8, 1000}, {9, 1000}};
  for (const auto& [place, number] : impossible) {
    Value damaged = schedule;
    damaged.as_list().at(place) = number;
    refused("schedule", damaged);
  }
  refused("schedule", Value());
  refused("distribution", Value());
  refused("categories", List{});
}

TEST_CASE("options survive as data, and bad ones are refused by name") {
  const CmaEsOptions options{.restarts = CmaEsOptions::Restarts::ipop,
                             .covariance = CmaEsOptions::Covariance::diagonal,
                             .population = 12,
                             .sigma = 0.3,
                             .adapt_learning_rate = true,
                             .surrogate = false};
  CHECK(cmaes_options(cmaes(options)->options()).value_or_throw() == options);
  for (const CmaEsOptions& bad : {CmaEsOptions{.population = 1}, CmaEsOptions{.sigma = 0},
                                  CmaEsOptions{.sigma = std::nan("")}})
    CHECK(!cmaes(bad)->setup(context(box(2))).has_value());
  const Status status = cmaes({.population = 1})->setup(context(box(2)));
  CHECK(status.error().message().find("population = 1") != std::string::npos);
  CHECK(!cmaes_options(Map{{"restart", "ipop"}}).has_value());
}

}  // namespace
}  // namespace troupe::tune
