#include <troupe/base/random.hpp>
#include <troupe/tune/search/importance.hpp>

#include <cmath>
#include <map>
#include <string>

#include <doctest/doctest.h>

namespace troupe::tune {
namespace {

template <class F>
std::map<std::string, double> importance(const ParamSpace& space, F loss, int count = 400) {
  std::vector<KnownResult> results;
  for (int i = 0; i < count; ++i) {
    Config config;
    for (const auto& leaf : space.leaves()) {
      Random random(3, static_cast<std::uint64_t>(i), RandomPurpose::test,
                    static_cast<std::uint32_t>(std::hash<std::string>()(leaf.path)));
      bool there = true;
      for (const Condition& condition : leaf.conditions)
        there = there && config.at(condition.parent) == condition.values[0];
      if (there)
        config.set(leaf.path, leaf.entry->domain()->sample(random));
    }
    results.push_back({config, {{"loss", loss(config)}}});
  }
  std::map<std::string, double> shares;
  for (const auto& [name, share] :
       parameter_importance(space, results, {"loss", Mode::min}).value_or_throw())
    shares[name] = share;
  return shares;
}

TEST_CASE("what decides about the loss is important, what does not is not") {
  const ParamSpace space{{"big", uniform(0, 1)}, {"small", uniform(0, 1)}, {"none", uniform(0, 1)}};
  const auto shares = importance(space, [](const Config& c) {
    return 10 * std::abs(c.at("big").as_double() - 0.3) + 2 * c.at("small").as_double();
  });
  CHECK(shares.at("big") > 2 * shares.at("small"));
  CHECK(shares.at("small") > 2 * shares.at("none"));
  CHECK(shares.at("none") < 0.1);
  CHECK(shares.at("big") + shares.at("small") + shares.at("none") == doctest::Approx(1));
}

TEST_CASE("which of equal results came first does not matter") {
  const ParamSpace space{{"a", uniform(0, 1)}, {"b", uniform(0, 1)}};
  for (const auto& [name, share] : importance(space, [](const Config&) { return 1.0; }))
    CHECK_MESSAGE(share == 0, name);
  // More than a tenth are as good as the best: those decide, wherever they stand.
  const auto shares =
      importance(space, [](const Config& c) { return c.at("a").as_double() < 0.5 ? 0.0 : 1.0; });
  CHECK(shares.at("a") > 50 * shares.at("b"));
}

TEST_CASE("categories, whole numbers and logarithms are weighed alike") {
  const ParamSpace space{{"act", choice({"a", "b", "c"})},
                         {"lr", loguniform(1e-6, 1)},
                         {"n", lograndint(1, 1000)},
                         {"none", choice({1, 2, 3})}};
  const auto shares = importance(space, [](const Config& c) {
    return (c.at("act") == Value("b") ? 0.0 : 5.0) +
           std::abs(std::log10(c.at("lr").as_double()) + 3) +
           std::abs(std::log10(c.at("n").as_double()) - 1);
  });
  for (const char* name : {"act", "lr", "n"})
    CHECK(shares.at(name) > 3 * shares.at("none"));
}

TEST_CASE("each of few whole numbers counts by itself, also on a logarithmic axis") {
  // With one cell a step of the axis 3 and 4 would share one, and what tells them apart be nothing.
  const ParamSpace space{{"n", lograndint(1, 5)}, {"none", lograndint(1, 5)}};
  const auto shares =
      importance(space, [](const Config& c) { return c.at("n").as_int() == 3 ? 0.0 : 1.0; });
  CHECK(shares.at("n") > 0.9);
  const ParamSpace even{{"linear", randint(1, 5)}, {"log", lograndint(1, 5)}};
  const auto equal = importance(even, [](const Config& c) {
    return (c.at("linear").as_int() == 3 ? 0.0 : 1.0) + (c.at("log").as_int() == 3 ? 0.0 : 1.0);
  });
  CHECK(equal.at("log") == doctest::Approx(0.5).epsilon(0.25));
}

TEST_CASE("a parameter that exists only sometimes counts where it exists") {
  const ParamSpace space{{"kind", choice({"x", "y"})},
                         {"of_x", when("kind", {"x"}, uniform(0, 1))},
                         {"rest", uniform(0, 1)}};
  const auto shares = importance(
      space, [](const Config& c) { return c.contains("of_x") ? c.at("of_x").as_double() : 2.0; });
  CHECK(shares.at("of_x") > 3 * shares.at("rest"));
  CHECK(shares.at("kind") > 3 * shares.at("rest"));
}

TEST_CASE("results that say nothing give shares of nothing, too few are an error") {
  const ParamSpace space{{"x", uniform(0, 1)}, {"one", choice({1})}};
  std::vector<KnownResult> results;
  CHECK(!parameter_importance(space, results, {"loss", Mode::min}).has_value());
  for (const double loss : {1.0, std::nan(""), 2.0})
    results.push_back({{{"x", 0.5}}, {{"loss", loss}}});
  results.push_back({{{"y", 0.5}}, {{"loss", 0}}});
  const auto shares = parameter_importance(space, results, {"loss", Mode::min}).value_or_throw();
  REQUIRE(shares.size() == 1);
  CHECK(shares[0].parameter == "x");
  CHECK(!parameter_importance(space, results, {"los", Mode::min}).has_value());
  CHECK(!parameter_importance(space, results, {"loss", Mode::min}, {.top_share = 0}).has_value());
}

}  // namespace
}  // namespace troupe::tune
