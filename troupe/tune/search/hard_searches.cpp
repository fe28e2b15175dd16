#include <troupe/tune/search/searcher_suite.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace troupe::tune {
namespace {

HardSearch search(std::string name, ParamSpace space, SearcherSuiteOptions options = {}) {
  return {std::move(name),
          {.space = std::move(space), .objectives = {{"loss", Mode::min}}, .seed = 11},
          options};
}

ParamSpace mixed() {
  return {{"x", uniform(-1, 1)},
          {"lr", loguniform(1e-4, 1e-1)},
          {"n", randint(0, 1001)},
          {"kind", choice({"a", "b", "c"})},
          {"depth", when("kind", {"a"}, lograndint(3, 2001))}};
}

ParamSpace single_point() {
  return {{"a", choice({"only"})},
          {"n", randint(3, 4)},
          {"q", quniform(2, 2, 1)},
          {"x", uniform(2.5, 2.5)},
          {"c", 7}};
}

/// As wide as domains may be.
ParamSpace wide() {
  constexpr double half = std::numeric_limits<double>::max() / 2;
  return {{"any", Domain(RandInt{INT64_MIN, INT64_MAX})},
          {"positive", Domain(RandInt{1, INT64_MAX, 1, true})},
          {"size", loguniform(1e-300, 1e300)},
          {"real", uniform(-half, half)}};
}

ParamSpace every_type() {
  return {{"v", choice({Value(), true, 1, 1.0, "1", std::numeric_limits<double>::quiet_NaN(),
                        List{1, "a"}, Map{{"k", 2}}, Value(List{})})},
          {"i", choice({INT64_MIN, INT64_MAX})}};
}

ParamSpace many_choices() {
  ParamSpace space;
  for (int i = 0; i < 1000; ++i)
    space.add("c" + std::to_string(i), choice({"a", "b", "c"}));
  return space;
}

}  // namespace

std::vector<HardSearch> hard_searches() {
  std::vector<HardSearch> all;
  all.push_back(search("every result is the same", mixed(), {.constant = true}));
  all.push_back(search("a space with a single point", single_point(), {.steps = 60}));
  all.push_back(
      search("a single point again and again", single_point(), {.steps = 60, .may_repeat = true}));
  all.back().context.allow_repeats = true;
  all.push_back(search("one real number", {{"x", uniform(0, 1)}}, {.steps = 100}));
  all.push_back(search("one logarithm", {{"x", loguniform(1e-6, 1)}}, {.steps = 100}));
  all.push_back(search("one whole number", {{"n", randint(-500, 501)}}, {.steps = 100}));
  all.push_back(search("one choice", {{"c", choice({"a", "b", "c", "d", "e"})}}, {.steps = 60}));
  all.push_back(search("ranges as wide as numbers go", wide(), {.steps = 100}));
  all.push_back(search("values of every type", every_type(), {.steps = 100}));
  // Long enough for models to begin, and for genetic algorithms to have children.
  all.push_back(search("1,000 choices", many_choices(), {.steps = 240, .look_every = 40}));
  all.push_back(search("two objectives", mixed(), {.steps = 300, .look_every = 3}));
  all.back().context.objectives.push_back({"size", Mode::max});
  all.push_back(search("64 workers", mixed(), {.steps = 300, .concurrent = 64, .look_every = 4}));
  all.push_back(search("10,000 trials", {{"n", randint(0, 1000)}, {"q", quniform(0, 1, 0.001)}},
                       {.steps = 35'000, .concurrent = 16, .look_every = 5'000}));
  return all;
}

}  // namespace troupe::tune
