#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/space.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <doctest/doctest.h>

namespace troupe::tune {
namespace {

ParamSpace booster() {
  ParamSpace space{{"booster", choice({"tree", "linear", "dart"})},
                   {"depth", when("booster", {"tree", "dart"}, randint(1, 13))},
                   {"dart", when("booster", {"dart"}, {{"rate", uniform(0, 1)}, {"skip", 0.5}})},
                   {"min", uniform(0, 1)},
                   {"max", uniform(0, 1)}};
  space.require(less("min", "max"));
  space.forbid({{"booster", "tree"}, {"depth", 12}});
  return space;
}

std::string error_of(const ParamSpace& space) {
  const Status status = space.check();
  return status ? "" : status.error().message();
}

TEST_CASE("a space with conditions, constraints and forbidden combinations reads back equal") {
  REQUIRE(error_of(booster()) == "");
  const auto text = parse_json(to_json(booster().to_value()));
  CHECK(ParamSpace::from_value(text.value_or_throw()).value_or_throw() == booster());
}

TEST_CASE("conditions of a space around a parameter are conditions of the parameter") {
  const ParamSpace space = booster();
  for (const auto& leaf : space.leaves())
    if (leaf.path == "dart/rate" || leaf.path == "dart/skip") {
      REQUIRE(leaf.conditions.size() == 1);
      CHECK(leaf.conditions[0] == Condition{"booster", {"dart"}});
    }
}

TEST_CASE("constraints say what they rule out") {
  const ParamSpace space = booster();
  const Config good{{"booster", "tree"}, {"depth", 3}, {"min", 0.1}, {"max", 0.2}};
  CHECK(space.allows(good));
  Config bad = good;
  bad["max"] = 0.1;
  CHECK(space.broken_rule(bad) == "min < max");
  bad = good;
  bad["depth"] = 12;
  CHECK(space.broken_rule(bad).value_or("").find("forbidden") == 0);
  bad["booster"] = "dart";
  CHECK(space.allows(bad));
}

TEST_CASE("each kind of constraint compares numbers as numbers") {
  const Config config{{"a", 2}, {"b", 6}, {"c", 2.5}, {"d", "x"}};
  const auto allows = [&](const Constraint& constraint) {
    return ParamSpace{}.require(constraint).allows(config);
  };
  CHECK(allows(less("a", "b")));
  CHECK(!allows(less("b", "a")));
  CHECK(!allows(less("a", "a")));
  CHECK(allows(less_equal("a", "a")));
  CHECK(allows(less("a", "c")));
  CHECK(allows(different({"a", "b", "d"})));
  CHECK(!allows(different({"a", "b", "a"})));
  CHECK(allows(sum_at_most({"a", "b"}, 8)));
  CHECK(!allows(sum_at_most({"a", "b", "c"}, 8)));
  CHECK(allows(product_at_most({"a", "b"}, 12)));
  CHECK(!allows(product_at_most({"a", "b"}, 11)));
  CHECK(allows(multiple_of("b", "a")));
  CHECK(!allows(multiple_of("a", "b")));
  CHECK(allows(less("b", "not there")));
}

TEST_CASE("sums, products and comparisons of real numbers are not off by rounding") {
  const Domain tenths = quniform(0, 1, 0.1);
  ParamSpace space{{"a", tenths}, {"b", tenths}};
  const auto count = [&](const Constraint& constraint) {
    int allowed = 0;
    for (std::uint64_t i = 0; i <= 10; ++i)
      for (std::uint64_t j = 0; j <= 10; ++j)
        allowed += ParamSpace(space)
                       .require(constraint)
                       .allows({{"a", tenths.at(i)}, {"b", tenths.at(j)}});
    return allowed;
  };
  CHECK(count(sum_at_most({"a", "b"}, 0.3)) == 10);
  CHECK(count(sum_at_most({"a", "b"}, 0.7)) == 36);
  CHECK(count(sum_at_most({"a", "b"}, 0.69)) == 28);
  CHECK(count(product_at_most({"a", "b"}, 0.06)) == 35);
  CHECK(count(less("a", "b")) == 55);
  const auto compare = [&](const Constraint& constraint, double a, double b) {
    return ParamSpace{}.require(constraint).allows({{"a", a}, {"b", b}});
  };
  CHECK(compare(less_equal("a", "b"), 3 * 0.1, 0.3));
  CHECK(!compare(less("a", "b"), 0.3, 3 * 0.1));
  CHECK(compare(less("a", "b"), 0.3, 0.3 + 1e-12));
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(!compare(sum_at_most({"a", "b"}, 1), infinity, 0));
}

TEST_CASE("multiple_of is for whole numbers, and says so") {
  ParamSpace space{
      {"a", quniform(0, 1, 0.1)}, {"b", choice({2, 4})}, {"c", choice({1, 2.5})}, {"d", 8}};
  const auto error = [&](const char* first, const char* second) {
    return error_of(ParamSpace(space).require(multiple_of(first, second)));
  };
  CHECK(error("d", "b") == "");
  CHECK(error("a", "b").find("'a' is not always a whole number") != std::string::npos);
  CHECK(error("b", "c").find("'c' is not always a whole number") != std::string::npos);
}

TEST_CASE("a constraint that compares a parameter with itself is refused") {
  const ParamSpace space{{"a", randint(1, 9)}, {"b", randint(1, 9)}};
  for (const Constraint& constraint :
       {less("a", "a"), less_equal("a", "a"), multiple_of("a", "a"), different({"a", "b", "a"})})
    CHECK(error_of(ParamSpace(space).require(constraint)).find("'a' with itself") !=
          std::string::npos);
  CHECK(error_of(ParamSpace(space).require(sum_at_most({"a", "a", "b"}, 9))) == "");
  CHECK(error_of(ParamSpace(space).require(product_at_most({"a", "a"}, 9))) == "");
  CHECK(error_of(ParamSpace(space).require({static_cast<Constraint::Kind>(9), {"a", "b"}}))
            .find("no kind of constraint with the number 9") != std::string::npos);
}

TEST_CASE("a constraint that no values keep is refused with the ranges, as far as they show it") {
  const ParamSpace space{{"low", uniform(0, 1)},
                         {"high", uniform(1, 2)},
                         {"two", 2},
                         {"also two", choice({2})},
                         {"mixed", choice({4, -2, 3})},
                         {"tenth", quniform(0.5, 1, 0.1)},
                         {"big", lograndint(10, 100)},
                         {"real", loguniform(0.5, 2)},
                         {"sign", randint(-5, 6)},
                         {"text", choice({"x", "y"})},
                         {"odd", choice({std::nan(""), 1.0})}};
  const auto refused = [&](const Constraint& constraint) {
    const std::string error = error_of(ParamSpace(space).require(constraint));
    CHECK((error == "" || error.find(constraint.to_string() +
                                     ": no configuration can keep it, "
                                     "with '" +
                                     constraint.paths[0] + "' = ") != std::string::npos));
    return error != "";
  };
  for (const Constraint& never :
       {less("high", "low"), less_equal("big", "two"), less("two", "also two"), less("two", "high"),
        less("big", "mixed"), less("two", "real"), sum_at_most({"high", "tenth"}, 1.4),
        sum_at_most({"mixed", "sign"}, -8), product_at_most({"big", "real"}, 4),
        product_at_most({"two", "also two"}, 3), multiple_of("two", "big"),
        different({"two", "also two"})})
    CHECK_MESSAGE(refused(never), never.to_string());
  for (const Constraint& possible :
       {less("low", "high"), less_equal("two", "also two"), less("two", "mixed"),
        less_equal("tenth", "low"), sum_at_most({"high", "tenth"}, 1.6),
        sum_at_most({"mixed", "sign"}, -7), product_at_most({"big", "real"}, 5),
        product_at_most({"mixed", "big"}, -100), multiple_of("sign", "big"),
        multiple_of("big", "two"), different({"two", "text"}), less("odd", "low")})
    CHECK_MESSAGE(!refused(possible), possible.to_string());
}

TEST_CASE("a constraint that nothing keeps where all exist stands, if one need not exist") {
  ParamSpace space{
      {"k", choice({"a", "b"})}, {"x", when("k", {"a"}, uniform(5, 6))}, {"y", uniform(0, 1)}};
  CHECK(error_of(space.require(less("x", "y"))) == "");
  CHECK(error_of(ParamSpace{{"x", maybe(uniform(5, 6))}, {"y", uniform(0, 1)}}.require(
            less("x", "y"))) == "");
}

TEST_CASE("combinations that forbid everything are refused where they come to that") {
  const ParamSpace space{{"k", choice({"a", "b"})},
                         {"one", choice({1})},
                         {"c", 3},
                         {"n", quniform(0, 0.3, 0.1)},
                         {"m", when("k", {"a"}, choice({1, 2}))}};
  CHECK(error_of(ParamSpace(space).forbid({{"one", 1}, {"c", 3}})).find("forbids everything") !=
        std::string::npos);
  ParamSpace all = space;
  all.forbid({{"k", "a"}}).forbid({{"n", 0.1}, {"m", 1}}).forbid({{"k", "a"}});
  REQUIRE(error_of(all) == "");
  CHECK(error_of(all.forbid({{"k", "b"}, {"one", 1}}))
            .find("{\"k\":\"b\",\"one\":1}: with those before it forbids every value of 'k' = ") !=
        std::string::npos);
  ParamSpace numbers = space;
  for (const double n : {0.0, 0.1, 0.2})
    REQUIRE(error_of(numbers.forbid({{"n", n}})) == "");
  CHECK(error_of(numbers.forbid({{"n", 0.3}})).find("every value of 'n'") != std::string::npos);
  // It need not exist.
  CHECK(error_of(ParamSpace(space).forbid({{"m", 1}}).forbid({{"m", 2}})) == "");
}

TEST_CASE("a parameter that never exists is refused") {
  const ParamSpace inner{{"x", when("k", {"b", "c"}, uniform(0, 1))}};
  const Domain three = choice({"a", "b", "c"});
  CHECK(error_of({{"k", three}, {"net", when("k", {"a"}, inner)}})
            .find("key 'net/x', condition: it never exists, since 'k' would need two values") !=
        std::string::npos);
  CHECK(error_of({{"k", three}, {"net", when("k", {"a", "b"}, inner)}}) == "");
  // Through a parameter between them.
  const auto chain = [&](const char* last) {
    return ParamSpace{{"k", three},
                      {"y", when("k", {"a"}, randint(0, 3))},
                      {"z", when("y", {1}, when("k", {last}, uniform(0, 1)))}};
  };
  CHECK(error_of(chain("a")) == "");
  CHECK(error_of(chain("b")).find("key 'z', condition: it never exists") != std::string::npos);
}

TEST_CASE("each of many parameters may exist only where the one before does") {
  ParamSpace chain{{"k", choice({"a", "b"})}, {"p0", choice({1, 2})}};
  for (int i = 1; i < 3000; ++i)
    chain.add("p" + std::to_string(i),
              when("p" + std::to_string(i - 1), {1}, when("k", {"a"}, choice({1, 2}))));
  CHECK(error_of(chain) == "");
  chain.add("last", when("p2999", {1}, when("k", {"b"}, choice({1, 2}))));
  CHECK(error_of(chain).find("key 'last', condition: it never exists, since 'k'") !=
        std::string::npos);
}

TEST_CASE("forbidden values and those of conditions may have another form") {
  ParamSpace space{{"a", quniform(0, 1, 0.1)},
                   {"f", quniform(2, 2, 1)},
                   {"x", when("a", {0.3, 1}, uniform(0, 1))},
                   {"y", when("f", {2}, uniform(0, 1))}};
  space.forbid({{"a", 0.6}});
  REQUIRE(error_of(space) == "");
  CHECK(!space.allows({{"a", 6 * 0.1}}));
  CHECK(space.allows({{"a", 0.5}}));
  const detail::Design design(space);
  int with_x = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Config config = design.sample(1, i, 0);
    const double a = config.at("a").as_double();
    const bool exists = a == 3 * 0.1 || a == 1;
    with_x += exists;
    CHECK((config.find("x") != nullptr) == exists);
    CHECK(config.find("y") != nullptr);
  }
  CHECK(with_x > 0);
  CHECK(error_of(ParamSpace(space).forbid({{"a", 0.31}})).find("the nearest one is 0.3") !=
        std::string::npos);
  CHECK(error_of({{"n", randint(0, 4)}, {"z", when("n", {4}, choice({1, 2}))}})
            .find("the upper end is not included") != std::string::npos);
}

TEST_CASE("a space can be had without the rules that a configuration breaks") {
  ParamSpace space{{"a", uniform(0, 1)}, {"b", uniform(0, 1)}, {"c", choice({1, 2})}};
  space.require(less("a", "b")).forbid({{"c", 2}});
  const ParamSpace rest = space.without_rules_broken_by({{"a", 0.5}, {"b", 0.25}});
  CHECK(rest.allows({{"a", 0.5}, {"b", 0.25}, {"c", 1}}));
  CHECK(!rest.allows({{"a", 0.5}, {"b", 0.25}, {"c", 2}}));
  CHECK(space.without_rules_broken_by({{"a", 0.5}}) == space);
}

TEST_CASE("relations that name nothing are refused with close matches") {
  CHECK(error_of({{"kind", choice({"a"})}, {"x", when("kidn", {"a"}, uniform(0, 1))}})
            .find("did you mean 'kind'") != std::string::npos);
  CHECK(error_of({{"kind", choice({"a"})}, {"x", when("kind", {"b"}, uniform(0, 1))}})
            .find("'kind' is never \"b\"") != std::string::npos);
  List many;
  for (int i = 0; i < 300; ++i)
    many.emplace_back(i);
  ParamSpace wide{{"kind", choice(many)}};
  many.back() = 299.0;
  for (int i = 0; i < 300; ++i)
    wide.add("x" + std::to_string(i), when("kind", {0, 299}, uniform(0, 1)));
  CHECK(error_of(wide) == "");
  wide.add("y", when("kind", many, uniform(0, 1)));
  CHECK(error_of(wide).find("key 'y', condition: 'kind' is never 299.0: it does not lie in") !=
        std::string::npos);
  CHECK(error_of({{"kind", choice({1})}, {"x", when("kind", {1.0}, uniform(0, 1))}})
            .find("types count") != std::string::npos);
  CHECK(error_of({{"kind", choice({1})}, {"x", when("kind", {}, uniform(0, 1))}})
            .find("at least one") != std::string::npos);
  ParamSpace space{{"rate", uniform(0, 1)}, {"act", choice({"a", "b"})}};
  CHECK(error_of(ParamSpace(space).require(less("rate", "rat"))).find("did you mean 'rate'") !=
        std::string::npos);
  CHECK(error_of(ParamSpace(space).require(less("rate", "act"))).find("not a number") !=
        std::string::npos);
  CHECK(error_of(ParamSpace(space).forbid({})).find("forbids everything") != std::string::npos);
  CHECK(error_of(ParamSpace(space).forbid({{"act", "c"}})).find("never") != std::string::npos);
}

TEST_CASE("conditions that go in a circle are refused") {
  CHECK(error_of({{"a", when("b", {1}, choice({1, 2}))}, {"b", when("a", {1}, choice({1, 2}))}})
            .find("depends on itself") != std::string::npos);
  CHECK(error_of({{"a", when("a", {1}, choice({1, 2}))}}).find("depends on itself") !=
        std::string::npos);
}

TEST_CASE("constraints inside of a nested space are refused") {
  ParamSpace inner{{"x", uniform(0, 1)}, {"y", uniform(0, 1)}};
  inner.require(less("x", "y"));
  CHECK(error_of({{"net", inner}}).find("outermost") != std::string::npos);
}

}  // namespace
}  // namespace troupe::tune
