#include <troupe/base/random.hpp>
#include <troupe/tune/search/lipo.hpp>
#include <troupe/tune/search/random_search.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "ask_tell.hpp"

namespace troupe::tune {
namespace {

SearchContext context_of(ParamSpace space, std::uint64_t seed = 1) {
  return {.space = std::move(space), .objectives = {{"loss", Mode::min}}, .seed = seed};
}

std::unique_ptr<Searcher> ready(const SearchContext& context, LipoOptions options = {}) {
  auto searcher = lipo(options)->clone();
  searcher->setup(context).value_or_throw();
  return searcher;
}

double number(const Config& config, const char* name) {
  return config.at(name).as_double();
}

TEST_CASE("lipo finds the minimum of a smooth function to a millionth of the ranges") {
  const SearchContext context =
      context_of({{"x", uniform(-5, 5)}, {"y", uniform(-5, 5)}, {"lr", loguniform(1e-6, 1)}});
  const auto searcher = ready(context);
  AskTell loop(*searcher, context, [](const Config& c) {
    return std::vector{std::pow(number(c, "x") - 1, 2) + std::pow(number(c, "y") + 2, 2) +
                       std::pow(std::log10(number(c, "lr")) + 3, 2)};
  });
  loop.run(80);
  CHECK(loop.best() < 1e-12);
}

TEST_CASE("trials keep their distance also in spaces with conditions and with rounded numbers") {
  const auto close = [](const Config& a, const Config& b) {
    if (a.size() != b.size())
      return false;
    for (const auto& [name, value] : a) {
      const Value* other = b.find(name);
      if (other == nullptr || std::abs(value.as_double() - other->as_double()) >= 1e-6)
        return false;
    }
    return true;
  };
  const std::vector<ParamSpace> spaces{
      {{"x", uniform(0, 1)}, {"n", randint(0, 3)}, {"z", when("n", {1}, uniform(0, 1))}},
      {{"x", uniform(0, 1)}, {"n", lograndint(1, 1'001)}}};
  for (const ParamSpace& space : spaces)
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const SearchContext context = context_of(space, seed);
      const auto searcher = ready(context);
      AskTell loop(*searcher, context, [](const Config& c) {
        const Value* z = c.find("z");
        return std::vector{std::pow(number(c, "x") - 0.3, 2) + std::abs(number(c, "n") - 1) +
                           (z != nullptr ? std::pow(z->as_double() - 0.6, 2) : 0)};
      });
      loop.run(120);
      for (std::size_t i = 0; i < loop.configs.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          CHECK(!close(loop.configs[i], loop.configs[j]));
    }
}

TEST_CASE("whole and stepped numbers are searched beside real ones, and better than by chance") {
  const auto best = [](const std::shared_ptr<Searcher>& searcher, std::uint64_t seed) {
    const SearchContext context = context_of(
        {{"x", uniform(0, 10)}, {"n", randint(0, 50)}, {"q", quniform(0, 10, 0.5)}}, seed);
    searcher->setup(context).value_or_throw();
    AskTell loop(*searcher, context, [](const Config& c) {
      return std::vector{std::pow(number(c, "x") - 4, 2) + std::pow(number(c, "n") - 20, 2) +
                         std::pow(number(c, "q") - 7.5, 2)};
    });
    loop.run(100);
    return loop.best();
  };
  double ours = 0;
  double by_chance = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    ours += best(lipo(), seed);
    by_chance += best(random_search(), seed);
  }
  CHECK(ours < 0.5 * by_chance);
}

TEST_CASE("a whole range of numbers is given out once, at last by chance") {
  const SearchContext context = context_of({{"n", randint(0, 7)}, {"q", quniform(0, 1, 0.25)}});
  const auto searcher = ready(context);
  AskTell loop(*searcher, context, [](const Config& c) { return std::vector{number(c, "n")}; });
  loop.run(100);
  CHECK(loop.configs.size() == 35);
  CHECK(std::set<Config>(loop.configs.begin(), loop.configs.end()).size() == 35);
}

/// Trials of all kinds; every now and then what was suggested is recorded only after other events.
class Story {
public:
  Story(Searcher& searcher, std::uint64_t seed)
      : searcher_(searcher), random_(seed, 0, RandomPurpose::test) {}

  void step() {
    const TrialId trial(static_cast<TrialId::rep>(configs_.size()));
    if (running_.size() < 5 && random_.chance(0.6)) {
      const Suggestion next = searcher_.suggest(trial).value_or_throw();
      if (random_.chance(0.3))
        end_one();
      if (random_.chance(0.1))
        create(trial, {{"x", random_.uniform(-5, 5)}, {"n", random_.uniform_int(0, 9)}}, {});
      else
        create(trial, next.config, next.note);
    } else {
      end_one();
    }
  }

private:
  void create(TrialId trial, const Config& config, const Value& note) {
    searcher_.record(trial, config, note);
    configs_.push_back(config);
    running_.push_back(trial);
  }

  void end_one() {
    if (running_.empty())
      return;
    const std::size_t place = random_.below(running_.size());
    const TrialId trial = running_[place];
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(place));
    const Config& config = configs_[trial.value];
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double awkward[] = {infinity, -infinity, 1e308, -1e308, 5e-324, std::nan("")};
    double loss = std::pow(number(config, "x") - 1, 2) + std::abs(number(config, "n") - 3);
    if (random_.chance(0.1))
      loss = awkward[random_.below(6)];
    const Metrics metrics{{"loss", loss}, {"training_iteration", 1}};
    const auto ending =
        random_.chance(0.2) ? static_cast<Ending>(random_.below(3)) : Ending::finished;
    searcher_.on_complete(trial, ending, &metrics);
  }

  Searcher& searcher_;
  Random random_;
  std::vector<Config> configs_;
  std::vector<TrialId> running_;
};

TEST_CASE("what dlib's object knows is made again from the calls, whatever happened") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const SearchContext context = context_of({{"x", uniform(-5, 5)}, {"n", randint(0, 10)}}, seed);
    const LipoOptions options{.max_observations = seed % 2 == 0 ? 20U : 400U};
    const auto searcher = ready(context, options);
    Story story(*searcher, seed);
    for (int step = 0; step < 100; ++step) {
      story.step();
      if (step % 9 != 0)
        continue;
      const auto copy = ready(context, options);
      REQUIRE(copy->restore(searcher->save()));
      CHECK(copy->save() == searcher->save());
      const TrialId next(1000);
      REQUIRE(copy->suggest(next).value_or_throw().config ==
              searcher->suggest(next).value_or_throw().config);
      REQUIRE(searcher->clone()->suggest(next).value_or_throw().config ==
              searcher->suggest(next).value_or_throw().config);
    }
  }
}

TEST_CASE("lipo learns from what was tried instead of what it suggested, also after a restart") {
  const SearchContext context = context_of({{"x", uniform(0, 1)}});
  const auto searcher = ready(context);
  // Two trials are open at a time.
  std::vector<double> tried;
  for (std::uint32_t trial = 0; trial < 20; ++trial) {
    const Suggestion next = searcher->suggest(TrialId(trial)).value_or_throw();
    searcher->record(TrialId(trial), next.config, next.note);
    tried.push_back(1 - number(next.config, "x"));
    if (trial == 0)
      continue;
    const double x = tried[trial - 1];
    searcher->amend(TrialId(trial - 1), {{"x", x}});
    const auto amended = ready(context);
    amended->restore(searcher->save()).value_or_throw();
    REQUIRE(amended->suggest(TrialId(trial + 1)).value_or_throw().config ==
            searcher->suggest(TrialId(trial + 1)).value_or_throw().config);
    const Metrics metrics{{"loss", std::pow(x - 0.1, 2)}, {"training_iteration", 1}};
    searcher->on_complete(TrialId(trial - 1), Ending::finished, &metrics);
    const auto over = ready(context);
    over->restore(searcher->save()).value_or_throw();
    REQUIRE(over->suggest(TrialId(trial + 1)).value_or_throw().config ==
            searcher->suggest(TrialId(trial + 1)).value_or_throw().config);
  }
  double nearest = 1;
  for (std::uint32_t trial = 20; trial < 24; ++trial) {
    const Suggestion next = searcher->suggest(TrialId(trial)).value_or_throw();
    searcher->record(TrialId(trial), next.config, next.note);
    nearest = std::min(nearest, std::abs(number(next.config, "x") - 0.1));
  }
  CHECK(nearest < 0.05);
}

TEST_CASE("sixty-four workers get different points, and equal results are survived") {
  const SearchContext context = context_of({{"x", uniform(0, 1)}, {"n", randint(0, 1000)}});
  const auto searcher = ready(context);
  AskTell loop(*searcher, context, [](const Config&) { return std::vector{0.25}; });
  for (int i = 0; i < 64; ++i)
    REQUIRE(loop.ask());
  for (int i = 0; i < 64; ++i)
    loop.tell();
  loop.run(40);
  CHECK(std::set<Config>(loop.configs.begin(), loop.configs.end()).size() == 104);
}

TEST_CASE("lipo learns from results known before") {
  SearchContext context = context_of({{"x", uniform(-5, 5)}});
  for (const double x : {-4.0, -1.0, 0.5, 2.0, 4.0})
    context.known_results.push_back(
        {.config = {{"x", x}},
         .metrics = {{"loss", (x - 1) * (x - 1)}, {"training_iteration", 1}}});
  const auto searcher = ready(context);
  AskTell loop(*searcher, context,
               [](const Config& c) { return std::vector{std::pow(number(c, "x") - 1, 2)}; });
  loop.run(4);
  CHECK(loop.best() < 1e-6);
}

TEST_CASE("choices, damaged states and bad options are refused by name") {
  const auto searcher = lipo()->clone();
  const Status status =
      searcher->setup(context_of({{"x", uniform(0, 1)}, {"act", choice({"a", "b"})}}));
  REQUIRE(!status);
  CHECK(status.error().message().find("'act' = choice") != std::string::npos);

  const SearchContext context = context_of({{"x", uniform(0, 1)}});
  const auto one = ready(context);
  AskTell loop(*one, context, [](const Config& c) { return std::vector{number(c, "x")}; });
  loop.run(5);
  Value state = one->save();
  REQUIRE(ready(context)->restore(state));
  Map& model = state.as_map()["model"].as_map();
  for (const auto& [key, wrong] : {std::pair<std::string, Value>{"calls", List{List{77, true, 0}}},
                                   {"calls", List{List{0, false, 0}}},
                                   {"calls", List{List{0, true, 0}, List{0, true, 0}}},
                                   {"known", List{99}},
                                   {"epoch", 0}}) {
    const Value kept = std::exchange(model[key], wrong);
    CHECK(ready(context)->restore(state).error().code() == ErrorCode::corrupt);
    model[key] = kept;
  }

  const LipoOptions options{.noise = 0.01, .max_observations = 50};
  CHECK(lipo_options(lipo(options)->options()).value_or_throw() == options);
  CHECK(make_searcher("lipo", Map{{"noise", 0.01}}).has_value());
  CHECK(lipo_options(Map{{"noise", 2}}).error().message().find("noise") != std::string::npos);
  CHECK(lipo_options(Map{{"radius", 2}}).error().message().find("radius") != std::string::npos);
}

}  // namespace
}  // namespace troupe::tune
