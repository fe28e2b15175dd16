#include <troupe/base/random.hpp>
#include <troupe/tune/search/bohb.hpp>
#include <troupe/tune/search/detail/kernel_density.hpp>
#include <troupe/tune/search/detail/rung_results.hpp>
#include <troupe/tune/search/random_search.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include <doctest/doctest.h>
#include <tests/support/instrumented.hpp>

#include "ask_tell.hpp"

namespace troupe::tune {
namespace {

using detail::Axis;
using detail::KernelDensity;
using detail::Point;
using detail::RungResults;

constexpr double inf = std::numeric_limits<double>::infinity();

std::vector<double> losses_at(const RungResults& results, std::size_t rung) {
  std::vector<double> losses;
  if (rung < results.rungs().size())
    for (const auto& entry : results.rungs()[rung])
      losses.push_back(entry.loss);
  return losses;
}

TEST_CASE("the first result at or beyond a rung counts there, once a trial") {
  RungResults results(1, 3);  // 1, 3, 9, 27, ...
  for (const std::uint64_t step : {1U, 2U, 4U, 5U, 8U, 9U, 10U, 26U})
    results.add(TrialId(7), step, static_cast<double>(step), 0);
  results.add(TrialId(8), 9, 0.5, 0);  // reports seldom: the shorter rungs are skipped
  CHECK(losses_at(results, 0) == std::vector<double>{1});
  CHECK(losses_at(results, 1) == std::vector<double>{4});
  CHECK(losses_at(results, 2) == std::vector<double>{0.5, 9});
  CHECK(results.rungs().size() == 3);
}

TEST_CASE("rungs lie at whole products, to the last iteration") {
  for (const std::uint64_t factor : {2U, 3U, 4U}) {
    RungResults results(5, static_cast<double>(factor));
    results.add(TrialId(0), 4, -1, 0);
    CHECK(results.rungs().empty());
    std::uint64_t step = 5;
    for (std::size_t rung = 0; rung < 12; ++rung, step *= factor) {
      results.add(TrialId(1), step * factor - 1, 1, 0);  // still the same rung
      results.add(TrialId(2), step, 2, 0);
      REQUIRE(losses_at(results, rung) == std::vector<double>{1, 2});
    }
  }
}

TEST_CASE("a trial that fails is the worst at every rung it had reached") {
  RungResults results(1, 2);
  results.add(TrialId(1), 1, 0.1, 0);
  results.add(TrialId(1), 2, 0.1, 0);
  results.add(TrialId(2), 1, 0.2, 0);
  results.fail(TrialId(1));
  results.fail(TrialId(3));
  CHECK(losses_at(results, 0) == std::vector<double>{0.2, inf, inf});
  CHECK(losses_at(results, 1) == std::vector<double>{inf});
}

TEST_CASE("results at rungs survive saving, and damaged ones are refused") {
  RungResults results(1, 4);
  for (std::uint32_t i = 0; i < 20; ++i)
    results.add(TrialId(i), 1 + i, i * 0.5, i % 3);
  results.fail(TrialId(4));
  detail::History history;
  for (std::uint32_t i = 0; i < 20; ++i)
    history.begin(TrialId(i), {}, i);
  RungResults restored(1, 4);
  restored.restore(results.save(), history).value_or_throw();
  CHECK(restored.save() == results.save());
  restored.add(TrialId(19), 20, 7, 0);  // it knows which rungs are done
  CHECK(restored.save() == results.save());
  for (const Value& bad :
       {Value(5), Value(List{List{List{1, 2}}}), Value(List{List{List{20, 0.0, 1.0}}}),
        Value(List{List{List{1, 0.0, 1.0}, List{1, 0.0, 2.0}}}),
        Value(List{List{List{1, -1.0, 1.0}}}), Value(List{List{List{1, 0.0, std::nan("")}}})})
    CHECK(!restored.restore(bad, history).has_value());
  CHECK(restored.save() == results.save());
}

TEST_CASE("densities add up to 1, with bandwidths by the normal reference rule") {
  std::vector<Axis> axes;
  axes.emplace_back("x", uniform(0, 1));
  axes.emplace_back("c", choice({"a", "b", "c"}));
  const KernelDensity density(axes, {{0.4, 0}, {0.5, 0}, {0.6, 1}}, 1e-3);
  const double shrink = std::pow(3, -1.0 / 6);
  CHECK(density.bandwidths()[0] == doctest::Approx(1.06 * std::sqrt(0.02 / 3) * shrink));
  CHECK(density.bandwidths()[1] == doctest::Approx(1.06 * std::sqrt(4.0 / 9) * shrink));
  double sum = 0;
  for (double x = -0.9995; x < 2; x += 0.001)
    for (double c = 0; c < 3; ++c)
      sum += 0.001 * std::exp(density.log_density({x, c}));
  CHECK(sum == doctest::Approx(1).epsilon(1e-6));
}

TEST_CASE("samples lie around the points, and drawn from all axes where a point has none") {
  std::vector<Axis> axes;
  axes.emplace_back("x", uniform(0, 1));
  axes.emplace_back("c", choice({"a", "b"}));
  const double nowhere = std::numeric_limits<double>::quiet_NaN();
  const KernelDensity density(axes, {{0.21, nowhere}, {0.2, nowhere}, {0.19, nowhere}}, 1e-3);
  Random random(1, 1, RandomPurpose::test);
  int second = 0;
  for (int i = 0; i < 1000; ++i) {
    const Point point = density.sample(random, 3);
    CHECK(std::abs(point[0] - 0.2) < 0.2);
    second += point[1] == 1;
  }
  CHECK(std::abs(second - 500) < 100);
}

/// A learning curve: the final loss plus what iterations still take away.
double curve(const Config& config, std::uint64_t step) {
  double loss = 0;
  for (const auto& [name, value] : config)
    loss += std::pow(value.as_double() - 0.3, 2);
  return loss + 1 / static_cast<double>(step);
}

/// 150 trials of which a third goes on at each rung of 1, 4 and 16; the least loss without the
/// part that iterations take away.
double best_of_halving(Searcher& searcher, const ParamSpace& space, std::uint64_t seed) {
  searcher.setup({.space = space, .objectives = {{"loss", Mode::min}}, .seed = seed})
      .value_or_throw();
  std::vector<std::vector<double>> seen(3);
  double best = HUGE_VAL;
  for (TrialId id; id.value < 150; id = id.next()) {
    const Suggestion next = searcher.suggest(id).value_or_throw();
    searcher.record(id, next.config, next.note);
    best = std::min(best, curve(next.config, 1) - 1);
    Metrics metrics;
    for (std::size_t rung = 0; rung < 3; ++rung) {
      const std::uint64_t step = std::uint64_t{1} << (2 * rung);
      const double loss = curve(next.config, step);
      metrics = {{"loss", loss}, {"training_iteration", static_cast<std::int64_t>(step)}};
      searcher.on_result(id, metrics);
      seen[rung].push_back(loss);
      std::sort(seen[rung].begin(), seen[rung].end());
      if (loss > seen[rung][seen[rung].size() / 3])
        break;
    }
    searcher.on_complete(id, Ending::stopped, &metrics);
  }
  return best;
}

TEST_CASE("under a halving scheduler bohb finds better configurations than random search") {
  ParamSpace space;
  for (int i = 0; i < 4; ++i)
    space.add("x" + std::to_string(i), uniform(-1, 1));
  double model = 0;
  double random = 0;
  for (std::uint64_t seed = 0; seed < 7; ++seed) {
    model += std::log(best_of_halving(*bohb(), space, seed));
    random += std::log(best_of_halving(*random_search(), space, seed));
  }
  CHECK(model < random - 7 * std::log(2));
}

TEST_CASE("the model is of the longest rung that has enough results") {
  // Short and long runs prefer opposite ends; the first ten trials run long.
  const ParamSpace space{{"x", uniform(0, 1)}};
  const auto searcher = bohb({.random_fraction = 0});
  searcher->setup({.space = space, .objectives = {{"loss", Mode::min}}, .seed = 2})
      .value_or_throw();
  double sum = 0;
  for (TrialId id; id.value < 60; id = id.next()) {
    const Suggestion next = searcher->suggest(id).value_or_throw();
    searcher->record(id, next.config, next.note);
    const double x = next.config.at("x").as_double();
    Metrics metrics{{"loss", x}, {"training_iteration", 1}};
    searcher->on_result(id, metrics);
    if (id.value < 10) {
      metrics = {{"loss", -x}, {"training_iteration", 4}};
      searcher->on_result(id, metrics);
    }
    searcher->on_complete(id, Ending::stopped, &metrics);
    if (id.value >= 40)
      sum += x;
  }
  CHECK(sum / 20 > 0.6);
}

TEST_CASE("a bohb search that is saved and restored anywhere goes on alike") {
  const ParamSpace space{{"kind", choice({"a", "b"})},
                         {"x", when("kind", {"a"}, uniform(-1, 1))},
                         {"n", lograndint(1, 300)}};
  for (std::uint64_t seed = 0; seed < 100 / testing::fewer; ++seed) {
    const SearchContext context{.space = space, .objectives = {{"loss", Mode::max}}, .seed = seed};
    std::vector<std::shared_ptr<Searcher>> searchers = {bohb()};
    searchers[0]->setup(context).value_or_throw();
    Random random(seed, 1, RandomPurpose::test);
    const std::uint64_t when = random.below(50);
    for (TrialId id; id.value < when + 8; id = id.next()) {
      if (id.value == when) {
        searchers.push_back(bohb());
        searchers[1]->setup(context).value_or_throw();
        searchers[1]->restore(searchers[0]->save()).value_or_throw();
      }
      const Suggestion next = searchers[0]->suggest(id).value_or_throw();
      Metrics metrics{{"loss", random.normal()}, {"training_iteration", random.uniform_int(1, 20)}};
      const bool over = random.chance(0.8);
      for (const auto& searcher : searchers) {
        REQUIRE(searcher->suggest(id).value_or_throw().config == next.config);
        searcher->record(id, next.config, next.note);
        searcher->on_result(id, metrics);
        if (over)
          searcher->on_complete(id, Ending::stopped, &metrics);
      }
    }
  }
}

TEST_CASE("options of bohb survive as data, and bad ones are refused by name") {
  const auto searcher = bohb({.reduction_factor = 3, .candidates = 10});
  CHECK(bohb_options(searcher->options()).value_or_throw() ==
        BohbOptions{.reduction_factor = 3, .candidates = 10});
  CHECK(make_searcher("bohb", searcher->options()).value_or_throw()->options() ==
        searcher->options());
  const SearchContext context{.space = {{"x", uniform(0, 1)}}, .objectives = {{"loss", Mode::min}}};
  const Status status = bohb({.reduction_factor = 1})->setup(context);
  REQUIRE(!status.has_value());
  CHECK(status.error().message().find("reduction_factor = 1") != std::string::npos);
}

}  // namespace
}  // namespace troupe::tune
