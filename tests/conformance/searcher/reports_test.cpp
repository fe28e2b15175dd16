#include <troupe/serialization/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/support/instrumented.hpp>
#include <tests/unit/tune_search/ask_tell.hpp>

#include "subjects.hpp"

// What users of other libraries reported, tried with each of Troupe's searchers. The numbers are
// those of the reports.

namespace troupe::tune {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

SearchContext context_of(ParamSpace space, std::uint64_t seed = 1) {
  return {.space = std::move(space), .objectives = {{"loss", Mode::min}}, .seed = seed};
}

std::unique_ptr<Searcher> ready(const Subject& subject, const SearchContext& context) {
  auto searcher = subject.searcher->clone();
  searcher->setup(context).value_or_throw();
  return searcher;
}

double number(const Config& config, const char* name) {
  return config.at(name).as_double();
}

/// Those that suggest according to results.
std::vector<Subject> learners() {
  std::vector<Subject> all = subjects();
  std::erase_if(all, [](const Subject& s) { return !s.from_results || s.wrapper; });
  return all;
}

/// They learn from generation to generation, and nothing about one parameter alone.
bool genetic(const Subject& subject) {
  return subject.name.starts_with("nsga");
}

std::size_t different(const std::vector<Config>& configs) {
  return std::set<Config>(configs.begin(), configs.end()).size();
}

/// The distance of the two closest of them, as the largest difference of a parameter.
double closest(const std::vector<Config>& configs) {
  double least = HUGE_VAL;
  for (std::size_t i = 0; i < configs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      double largest = 0;
      for (const auto& [name, value] : configs[i])
        largest = std::max(largest, std::abs(value.as_double() - number(configs[j], name.c_str())));
      least = std::min(least, largest);
    }
  return least;
}

TEST_CASE("a finite space comes completely and once, and then again only if that is allowed") {
  // optuna #2021, #4237, #5440: repeats; #5683: 1, 1.0 and true were one choice.
  SearchContext context = context_of({{"c", choice({1, 1.0, true, "1"})}, {"n", randint(0, 3)}});
  for (const Subject& subject : subjects()) {
    if (subject.repeats || subject.numbers_only)
      continue;
    CAPTURE(subject.name);
    for (const bool allow_repeats : {false, true}) {
      context.allow_repeats = allow_repeats;
      const auto searcher = ready(subject, context);
      AskTell loop(*searcher, context, [](const Config& c) { return std::vector{number(c, "n")}; });
      loop.run(20);
      CHECK(loop.configs.size() == (allow_repeats ? 20 : 12));
      CHECK(different(loop.configs) == 12);
      if (!allow_repeats)
        CHECK(searcher->suggest(TrialId(12)).value_or_throw().kind == Suggestion::Kind::exhausted);
    }
  }
}

TEST_CASE("a logarithmic whole number takes many values") {
  // nevergrad #1420, #716: the same value 883 times.
  const SearchContext context = context_of({{"n", lograndint(3, 2001)}});
  for (const Subject& subject : subjects()) {
    if (subject.wrapper)
      continue;
    const auto searcher = ready(subject, context);
    AskTell loop(*searcher, context,
                 [](const Config& c) { return std::vector{std::abs(number(c, "n") - 700)}; });
    loop.run(50);
    REQUIRE(loop.configs.size() == 50);
    CHECK_MESSAGE(different(loop.configs) >= (subject.repeats ? 30 : 50), subject.name);
  }
}

TEST_CASE("half of the space fails: few trials go there") {
  // optuna #5664: a region that fails was proposed again and again.
  for (const Subject& subject : learners()) {
    int failing = 0;
    const std::uint64_t seeds =
        std::max<std::uint64_t>(1, (subject.slow ? 2 : 10) / testing::fewer);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Domain side = uniform(-1, 1);
      const auto context = context_of({{"v", side}, {"x", side}, {"y", side}, {"z", side}}, seed);
      const auto searcher = ready(subject, context);
      AskTell loop(*searcher, context, [](const Config& c) {
        const double x = number(c, "x");
        return std::vector{x < 0 ? nan : std::pow(x - 0.3, 2) + std::pow(number(c, "y"), 2)};
      });
      loop.run(80);
      for (auto loss = loop.losses.end() - 20; loss != loop.losses.end(); ++loss)
        failing += std::isnan(loss->at(0)) ? 1 : 0;
    }
    CHECK_MESSAGE(failing <= static_cast<int>(seeds) * 20 / 4, subject.name);
  }
}

TEST_CASE("the search goes on, and finds, when the first trials all fail") {
  // nevergrad #1005, SMAC3 #14, #410, #160.
  for (const Subject& subject : learners()) {
    const auto context = context_of({{"x", uniform(-1, 1)}, {"y", uniform(-1, 1)}});
    const auto searcher = ready(subject, context);
    int count = 0;
    AskTell loop(*searcher, context, [&](const Config& c) {
      return std::vector{++count <= 15 ? nan
                                       : std::hypot(number(c, "x") - 0.3, number(c, "y") + 0.2)};
    });
    loop.run(subject.slow ? 50 : genetic(subject) ? 320 : 200);
    CHECK_MESSAGE(loop.best() < 0.1, subject.name);
  }
}

TEST_CASE("one parameter alone is learnt, real or whole") {
  // optuna #5520, #3316: CMA-ES refused one dimension, and whole numbers fell back to chance.
  for (const Subject& subject : learners())
    for (const Domain& domain : {uniform(0, 1000), randint(0, 1001)}) {
      // Near a minimum that it knows lipo has nothing to find: it explores.
      if (genetic(subject) || subject.name == "lipo")
        continue;
      std::ptrdiff_t near = 0;
      constexpr std::uint64_t seeds = testing::instrumented ? 1 : 3;
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const auto context = context_of({{"x", domain}}, seed);
        const auto searcher = ready(subject, context);
        AskTell loop(*searcher, context,
                     [](const Config& c) { return std::vector{std::abs(number(c, "x") - 300)}; });
        loop.run(60);
        near += std::count_if(loop.configs.end() - 20, loop.configs.end(),
                              [](const Config& c) { return std::abs(number(c, "x") - 300) < 100; });
      }
      // By chance 4 of a seed.
      CHECK_MESSAGE(near >= static_cast<std::ptrdiff_t>(8 * seeds), subject.name, ", ",
                    domain.to_string());
    }
}

/// The share of suggestions, after 20 trials, that follow from results: other results of the same
/// trials would have brought others. What is drawn by chance would be the same.
double from_results(const Subject& subject, std::size_t parameters, const Domain& domain) {
  constexpr std::uint32_t first = 20;
  const std::uint32_t trials = !subject.slow ? 80 : testing::instrumented ? 30 : 40;
  const std::uint64_t seeds = subject.slow ? 1 : 5;
  std::uint32_t different = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SearchContext context = context_of({}, seed);
    for (std::size_t i = 0; i < parameters; ++i)
      context.space.add("x" + std::to_string(i), domain);
    const auto searcher = ready(subject, context);
    const auto other = ready(subject, context);
    for (TrialId id; id.value < trials; id = id.next()) {
      const Suggestion next = searcher->suggest(id).value_or_throw();
      if (id.value >= first)
        different += other->suggest(id).value_or_throw().config != next.config ? 1 : 0;
      double near = 0;
      double far = 0;
      for (const auto& [name, value] : next.config) {
        near += std::abs(value.as_double() - 300);
        far += std::abs(value.as_double() - 700);
      }
      searcher->record(id, next.config, next.note);
      other->record(id, next.config, {});
      const Metrics one{{"loss", near}, {"training_iteration", 1}};
      const Metrics another{{"loss", far}, {"training_iteration", 1}};
      searcher->on_complete(id, Ending::finished, &one);
      other->on_complete(id, Ending::finished, &another);
    }
  }
  return static_cast<double>(different) / static_cast<double>(seeds * (trials - first));
}

TEST_CASE("suggestions follow from results, also of one parameter and of whole numbers") {
  // optuna #5520, #3316: CMA-ES left one dimension, and whole numbers, to chance without a word.
  for (const Subject& subject : learners()) {
    // A third of BOHB's suggestions is random, and the first generation of genetic algorithms; they
    // draw a parameter that is alone anew in each child.
    const double learnt = subject.name == "bohb" ? 2.0 / 3 : genetic(subject) ? 0.5 : 1;
    CHECK_MESSAGE(from_results(subject, 3, randint(0, 1001)) >= 0.95 * learnt, subject.name);
    if (genetic(subject))
      continue;
    CHECK_MESSAGE(from_results(subject, 1, randint(0, 1001)) >= 0.95 * learnt, subject.name);
    CHECK_MESSAGE(from_results(subject, 1, uniform(0, 1000)) >= 0.95 * learnt, subject.name);
  }
}

TEST_CASE("nothing is tried next to what was tried or runs") {
  // Optuna's GP: a dozen exact repeats in 100 trials once it has converged.
  for (const Subject& subject : learners()) {
    const Domain side = uniform(0, 1);
    const auto context = context_of({{"x", side}, {"y", side}, {"z", side}}, 2);
    const auto searcher = ready(subject, context);
    AskTell loop(*searcher, context, [](const Config& c) {
      return std::vector{std::pow(number(c, "x") - 0.3, 2) + std::pow(number(c, "y") - 0.6, 2) +
                         std::pow(number(c, "z") - 0.5, 2)};
    });
    for (int i = 0; i < (subject.slow ? 60 : 200); ++i) {
      REQUIRE(loop.ask());
      if (i >= 3)  // three others run
        loop.tell();
    }
    CHECK_MESSAGE(closest(loop.configs) >= 1e-6, subject.name);
  }
}

/// The least distance between 16 suggestions that are asked for one after the other, after so many
/// results; the mean over seeds.
double spread(const Subject& subject, std::size_t results) {
  double sum = 0;
  constexpr std::uint64_t seeds = 5;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto context = context_of({{"x", uniform(0, 1)}, {"y", uniform(0, 1)}}, seed);
    const auto searcher = ready(subject, context);
    AskTell loop(*searcher, context, [](const Config& c) {
      return std::vector{std::hypot(number(c, "x") - 0.3, number(c, "y") - 0.6)};
    });
    loop.run(results);
    for (int i = 0; i < 16; ++i)
      REQUIRE(loop.ask());
    double least = 2;
    for (std::size_t i = results; i < results + 16; ++i)
      for (std::size_t j = results; j < i; ++j)
        least = std::min(least,
                         std::hypot(number(loop.configs[i], "x") - number(loop.configs[j], "x"),
                                    number(loop.configs[i], "y") - number(loop.configs[j], "y")));
    CHECK_MESSAGE(least > 1e-6, subject.name);
    sum += least;
  }
  return sum / seeds;
}

TEST_CASE("suggestions that are made at once keep apart") {
  // optuna #6189, #6505, #6628: running trials were not seen.
  const auto all = subjects();
  const auto chance =
      std::find_if(all.begin(), all.end(), [](const Subject& s) { return s.name == "random"; });
  const double by_chance = spread(*chance, 0);
  for (const Subject& subject : learners()) {
    CHECK_MESSAGE(spread(subject, 0) > 0.25 * by_chance, subject.name);
    // A model that looks where it is good looks closer, and never twice at one place.
    CHECK_MESSAGE(spread(subject, 12) > 0.02 * by_chance, subject.name);
  }
}

TEST_CASE("trials that run lie apart whatever results come between their suggestions") {
  for (const Subject& subject : learners()) {
    const auto context = context_of({{"x", uniform(0, 1)}, {"y", uniform(0, 1)}}, 4);
    const auto searcher = ready(subject, context);
    AskTell loop(*searcher, context, [](const Config& c) {
      return std::vector{std::hypot(number(c, "x") - 0.3, number(c, "y") - 0.6)};
    });
    Random random(7, 7, RandomPurpose::test);
    std::size_t told = 0;
    while (loop.configs.size() < (subject.slow ? 50 : 150)) {
      const std::size_t running = loop.configs.size() - told;
      if (running < 16 && (running < 4 || random.chance(0.5))) {
        REQUIRE(loop.ask());
        const std::vector<Config> run(loop.configs.begin() + static_cast<std::ptrdiff_t>(told),
                                      loop.configs.end());
        CHECK_MESSAGE(closest(run) > 1e-6, subject.name);
      } else {
        loop.tell();
        ++told;
      }
    }
  }
}

TEST_CASE("values of every type survive the way through JSON and each searcher") {
  // optuna #3567, #4192, hydra #1929: NaN, None and booleans broke, or came back as text.
  const SearchContext context =
      context_of({{"v", choice({Value(), true, 1, 1.0, "1", nan, List{1, "a"}, Map{{"k", 2}}})},
                  {"n", randint(0, 9)}});
  for (const Subject& subject : subjects()) {
    if (subject.numbers_only)
      continue;
    CAPTURE(subject.name);
    const auto searcher = ready(subject, context);
    const auto reader = ready(subject, context);
    for (std::uint32_t i = 0; i < 40; ++i) {
      const Suggestion next = searcher->suggest(TrialId(i)).value_or_throw();
      REQUIRE(next.kind == Suggestion::Kind::config);
      const Value config = parse_json(to_json(next.config)).value_or_throw();
      const Value note = parse_json(to_json(next.note)).value_or_throw();
      REQUIRE(config == Value(next.config));
      CHECK(context.space.find("v")->domain()->contains(*next.config.find("v")));
      const Metrics metrics{{"loss", number(next.config, "n")}, {"training_iteration", 1}};
      searcher->record(TrialId(i), next.config, next.note);
      reader->record(TrialId(i), config.as_map(), note);
      searcher->on_complete(TrialId(i), Ending::finished, &metrics);
      reader->on_complete(TrialId(i), Ending::finished, &metrics);
    }
    CHECK(reader->save() == searcher->save());
  }
}

TEST_CASE("results of an experiment with other ranges are taken where they fit") {
  // optuna #2564, #372, #2199, #2275: other choices under the same name raised, or poisoned.
  SearchContext context = context_of({{"c", choice({"a", "b", "c"})}, {"n", randint(0, 2)}});
  for (const char* c : {"a", "b", "z"})
    for (const int n : {0, 1, 7})
      context.known_results.push_back(
          {.config = {{"c", c}, {"n", n}},
           .metrics = {{"loss", c[0] == 'a' ? 0.0 : 1.0}, {"training_iteration", 1}}});
  for (const Subject& subject : subjects()) {
    if (subject.repeats || subject.numbers_only)
      continue;
    CAPTURE(subject.name);
    const auto searcher = ready(subject, context);
    AskTell loop(*searcher, context, [](const Config& c) { return std::vector{number(c, "n")}; });
    loop.run(9);
    CHECK(loop.configs.size() == 2);  // what fits was tried
    for (const Config& config : loop.configs)
      CHECK(config.at("c") == Value("c"));
  }
}

}  // namespace
}  // namespace troupe::tune
