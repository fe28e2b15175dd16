#include <troupe/tune/search/basic_variant.hpp>
#include <troupe/tune/search/brute_force.hpp>
#include <troupe/tune/search/searcher_suite.hpp>

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/support/instrumented.hpp>

#include "subjects.hpp"

// Each of Troupe's searchers on each kind of space; and searchers that break a rule each, so that
// the suite is known to notice.

namespace troupe::tune {
namespace {

std::vector<SearchContext> contexts() {
  const ParamSpace mixed{{"x", uniform(-1, 1)},
                         {"lr", loguniform(1e-4, 1e-1)},
                         {"n", randint(0, 5)},
                         {"net", {{"act", choice({"relu", 1, 0.5, true})}, {"bias", false}}}};
  ParamSpace conditional{{"kind", choice({"a", "b"})},
                         {"depth", when("kind", {"a"}, randint(1, 40))},
                         {"net", when("kind", {"b"}, {{"rate", quniform(0, 1, 0.05)}, {"c", 3}})},
                         {"low", uniform(0, 1)},
                         {"high", uniform(0, 1)}};
  conditional.require(less("low", "high")).forbid({{"kind", "a"}, {"depth", 7}});
  ParamSpace numbers{{"n", randint(0, 9)},
                     {"q", when("n", {1, 2, 3}, quniform(0, 1, 0.25))},
                     {"x", uniform(-1, 1)},
                     {"size", lograndint(1, 400)}};
  numbers.require(less("n", "size"));
  const ParamSpace grid{{"a", grid_search({1, 2, 3})}, {"b", {{"c", grid_search({"x", "y"})}}}};
  ParamSpace ruled = grid;
  ruled.add("d", choice({1, 2, 3, 4}));
  ruled.require(less("a", "d")).forbid({{"a", 1}, {"d", 2}});
  std::vector<SearchContext> all;
  for (const ParamSpace& space : {mixed, conditional, numbers, grid, ParamSpace{}})
    for (const auto samples : {std::optional<std::uint64_t>(5), std::optional<std::uint64_t>()})
      all.push_back(
          {.space = space, .objectives = {{"loss", Mode::min}}, .seed = 7, .num_samples = samples});
  // Points that leave out much, break a rule by themselves, and are drawn again soon.
  all.push_back({.space = conditional,
                 .objectives = {{"loss", Mode::min}},
                 .seed = 9,
                 .points_to_evaluate = {{{"low", 0.9}},
                                        {{"low", 0.9}, {"high", 0.1}},
                                        {{"kind", "a"}, {"depth", 7}, {"high", 0.2}}}});
  all.push_back({.space = ruled,
                 .objectives = {{"loss", Mode::min}},
                 .seed = 10,
                 .points_to_evaluate = {{{"d", 3}}, {{"a", 2}}, {{"a", 3}, {"d", 1}}}});
  all.push_back({.space = mixed,
                 .objectives = {{"loss", Mode::min}},
                 .constraints = {"memory"},
                 .seed = 8,
                 .points_to_evaluate = {{{"n", 2}}},
                 .known_results = {{.config = {{"x", 0.5},
                                               {"lr", 1e-3},
                                               {"n", 3},
                                               {"net", Map{{"act", "relu"}, {"bias", false}}}},
                                    .metrics = {{"loss", 0.5}, {"memory", -1}}}}});
  return all;
}

/// Of those that it serves.
std::string all_broken(const Searcher& searcher, bool may_repeat = false,
                       std::uint32_t steps = SearcherSuiteOptions{}.steps) {
  std::string broken;
  for (const SearchContext& context : contexts()) {
    if ((searcher.name() == "brute_force" || searcher.name() == "lipo") &&
        !searcher.clone()->setup(context))
      continue;
    const bool repeats = may_repeat || draws_blindly(searcher, context);
    for (std::uint64_t seed = 1; seed <= 5 / testing::fewer; ++seed)
      for (const std::string& rule :
           check_searcher(searcher, context, {.seed = seed, .steps = steps, .may_repeat = repeats}))
        broken += rule + '\n';
  }
  return broken;
}

/// Draws from the space; breaks the rule that it is told to.
class Careless final : public Searcher {
public:
  enum class Rule { none, suggest_changes, forgets_on_restore, leaves_the_space, no_end, shares };
  explicit Careless(Rule rule) : rule_(rule) {}

  std::string name() const override { return "careless"; }
  std::unique_ptr<Searcher> clone() const override {
    auto copy = std::make_unique<Careless>(*this);
    if (rule_ != Rule::shares)
      copy->count_ = std::make_shared<std::int64_t>(*count_);
    return copy;
  }
  Status setup(const SearchContext& context) override {
    context_ = context;
    *count_ = 0;
    if (rule_ != Rule::shares)
      count_ = std::make_shared<std::int64_t>(0);
    inner_ = BasicVariant();
    return inner_.setup(context);
  }
  Result<Suggestion> suggest(TrialId trial) const override {
    if (rule_ == Rule::suggest_changes)
      ++*count_;
    TROUPE_TRY(suggestion, inner_.suggest(trial));
    if (rule_ == Rule::leaves_the_space && suggestion.kind == Suggestion::Kind::config)
      suggestion.config["extra"] = 1;
    if (rule_ == Rule::no_end && suggestion.kind == Suggestion::Kind::exhausted)
      return Suggestion::of(inner_.variant(0).value_or_throw(), 0);
    return suggestion;
  }
  std::optional<std::uint64_t> planned(const SearchContext& context) const override {
    return inner_.planned(context);
  }
  void record(TrialId trial, const Config& config, const Value& note) override {
    ++*count_;
    inner_.record(trial, config, note);
  }
  Value save() const override { return Map{{"count", *count_}, {"inner", inner_.save()}}; }
  Status restore(const Value& state) override {
    const Map* map = state.get_if<Map>();
    if (map == nullptr || !map->contains("inner"))
      return Error(ErrorCode::corrupt, "not a state");
    if (rule_ != Rule::forgets_on_restore)
      *count_ = map->at("count").as_int();
    return inner_.restore(map->at("inner"));
  }

private:
  Rule rule_;
  SearchContext context_;
  std::shared_ptr<std::int64_t> count_ = std::make_shared<std::int64_t>(0);
  BasicVariant inner_;
};

TEST_CASE("every searcher keeps the contract") {
  for (const Subject& subject : subjects())
    // Models that take long to fit do so from the tenth trial on.
    CHECK(all_broken(*subject.searcher, subject.repeats, subject.slow ? 80 : 300) == "");
}

TEST_CASE("points to evaluate come first of what a searcher suggests, whatever else is tried") {
  const SearchContext context{
      .space = {{"n", randint(0, 3)}, {"c", choice({"a", "b"})}},
      .objectives = {{"loss", Mode::min}},
      .seed = 3,
      .points_to_evaluate = {{{"n", 1}, {"c", "a"}}, {{"n", 2}, {"c", "b"}}}};
  for (const Subject& subject : subjects()) {
    if (!serves(subject, context))
      continue;
    for (std::uint64_t seed = 1; seed <= 30; ++seed)
      CHECK(check_searcher(
                *subject.searcher, context,
                {.seed = seed, .steps = 40, .may_repeat = subject.repeats, .foreign = 0.5}) ==
            std::vector<std::string>{});
  }
}

TEST_CASE("brute force serves the finite ones of these spaces") {
  int finite = 0;
  for (const SearchContext& context : contexts())
    finite += brute_force()->setup(context).has_value() ? 1 : 0;
  CHECK(finite == 5);
}

TEST_CASE("every searcher refuses an objective whose mode is none") {
  for (const Subject& subject : subjects()) {
    const SearchContext wrong{.space = {{"n", randint(0, 9)}},
                              .objectives = {{"loss", static_cast<Mode>(2)}}};
    const auto searcher = subject.searcher->clone();
    CAPTURE(subject.name);
    const Status status = searcher->setup(wrong);
    REQUIRE(!status);
    CHECK(status.error().message().find(
              "SearchContext.objectives: the mode of the metric 'loss'") != std::string::npos);
  }
}

TEST_CASE("the suite notices each broken rule") {
  CHECK(all_broken(Careless(Careless::Rule::none), true) == "");
  CHECK(all_broken(Careless(Careless::Rule::none)).find("comes twice") != std::string::npos);
  CHECK(all_broken(Careless(Careless::Rule::suggest_changes), true) != "");
  CHECK(all_broken(Careless(Careless::Rule::forgets_on_restore), true) != "");
  CHECK(all_broken(Careless(Careless::Rule::leaves_the_space), true) != "");
  CHECK(all_broken(Careless(Careless::Rule::no_end), true) != "");
  CHECK(all_broken(Careless(Careless::Rule::shares), true) != "");
}

}  // namespace
}  // namespace troupe::tune
