#include <troupe/tune/search/basic_variant.hpp>
#include <troupe/tune/search/model_searcher.hpp>
#include <troupe/tune/search/random_search.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <tests/support/instrumented.hpp>

namespace troupe::tune {
namespace {

using detail::Observation;
using detail::Point;

/// Proposes the same point always, and remembers what it heard.
class Stubborn final : public ModelSearcher {
public:
  std::string name() const override { return "stubborn"; }
  std::unique_ptr<Searcher> clone() const override { return std::make_unique<Stubborn>(*this); }
  const detail::History& seen() const { return history(); }
  std::int64_t notes = 0;

protected:
  Result<Proposal> propose(TrialId, std::uint32_t attempt) const override {
    return Proposal{.point = Point(design().size(), 0.5), .note = attempt + 1};
  }
  void proposed(const Observation&, const Value& note) override {
    notes += note.is_int() ? note.as_int() : 0;
  }
  Value save_model() const override { return notes; }
  Status restore_model(const Value& state) override {
    if (!state.is_int())
      return Error(ErrorCode::corrupt, "no number");
    notes = state.as_int();
    return ok();
  }
};

SearchContext context(ParamSpace space) {
  return {.space = std::move(space), .objectives = {{"loss", Mode::min}}, .seed = 3};
}

std::set<Config> ask_all(Searcher& searcher, std::size_t limit = 1000) {
  std::set<Config> all;
  for (TrialId id; id.value < limit; id = id.next()) {
    const Suggestion next = searcher.suggest(id).value_or_throw();
    if (next.kind != Suggestion::Kind::config)
      break;
    CHECK(all.insert(next.config).second);
    searcher.record(id, next.config, next.note);
  }
  return all;
}

TEST_CASE("a proposal that was tried before is replaced by one near it that was not") {
  Stubborn searcher;
  searcher.setup(context({{"n", randint(0, 1001)}, {"x", uniform(0, 1)}})).value_or_throw();
  const auto real = ask_all(searcher, 50);
  CHECK(real.size() == 50);
  CHECK(searcher.notes == 1);  // the first proposal alone was taken
  searcher.setup(context({{"n", randint(0, 1001)}})).value_or_throw();
  const auto whole = ask_all(searcher, 50);
  CHECK(whole.size() == 50);
  const auto [low, high] = std::minmax_element(whole.begin(), whole.end());
  CHECK(high->at("n").as_int() - low->at("n").as_int() < 200);
}

TEST_CASE("a proposal that breaks a rule is replaced by one near it that does not") {
  Stubborn searcher;
  ParamSpace space{{"a", randint(0, 1001)}, {"b", randint(0, 1001)}};
  space.require(less("a", "b"));
  searcher.setup(context(space)).value_or_throw();
  for (const Config& config : ask_all(searcher, 50))
    CHECK(config.at("b").as_int() - config.at("a").as_int() < 400);
}

TEST_CASE("a finite space is given out completely, each configuration once, and is exhausted") {
  ParamSpace space{{"a", choice({1, 1.0, true, "1"})}, {"b", randint(0, 10)}};
  for (const std::shared_ptr<Searcher>& searcher :
       {random_search(), std::shared_ptr<Searcher>(std::make_shared<Stubborn>())}) {
    searcher->setup(context(space)).value_or_throw();
    CHECK(ask_all(*searcher).size() == 40);
    CHECK(searcher->suggest(TrialId(40)).value_or_throw().kind == Suggestion::Kind::exhausted);
  }
}

TEST_CASE("repeats come only when they are allowed and everything was tried") {
  SearchContext repeats = context({{"a", choice({1, 2, 3})}});
  repeats.allow_repeats = true;
  const auto searcher = random_search();
  searcher->setup(repeats).value_or_throw();
  std::set<Config> all;
  for (TrialId id; id.value < 6; id = id.next()) {
    const Suggestion next = searcher->suggest(id).value_or_throw();
    REQUIRE(next.kind == Suggestion::Kind::config);
    searcher->record(id, next.config, next.note);
    CHECK(all.insert(next.config).second == (id.value < 3));
  }
}

TEST_CASE("a space that conditions and constraints make small is exhausted when all was tried") {
  ParamSpace space{{"kind", choice({"a", "b"})},
                   {"n", when("kind", {"a"}, randint(0, 5))},
                   {"m", randint(0, 5)}};
  space.require(less("n", "m"));
  const auto searcher = random_search();
  searcher->setup(context(space)).value_or_throw();
  CHECK(ask_all(*searcher).size() == 10 + 5);
}

TEST_CASE("a large finite space of which rules leave little is exhausted, not given up") {
  ParamSpace space;
  for (const char* name : {"a", "b", "c"})
    space.add(name, randint(0, 110));
  space.require(sum_at_most({"a", "b", "c"}, 2));
  SearchContext c = context(space);
  const auto searcher = random_search();
  searcher->setup(c).value_or_throw();
  CHECK(ask_all(*searcher).size() == 10);
  CHECK(searcher->suggest(TrialId(10)).value_or_throw().kind == Suggestion::Kind::exhausted);
  // A copy without what the original remembers of its looking answers alike, before and at the end.
  c.allow_repeats = true;
  searcher->setup(c).value_or_throw();
  for (TrialId id; id.value < 25 / testing::fewer; id = id.next()) {
    const Suggestion next = searcher->suggest(id).value_or_throw();
    const auto restored = random_search();
    restored->setup(c).value_or_throw();
    if (id.value % 5 == 4) {
      restored->restore(searcher->save()).value_or_throw();
      CHECK(restored->suggest(id).value_or_throw().config == next.config);
    }
    searcher->record(id, next.config, next.note);
  }
}

TEST_CASE("constraints that nothing satisfies end the search with their name") {
  ParamSpace space{{"x", uniform(0, 1)}, {"y", uniform(0, 1)}};
  space.require(less("y", "x")).require(less("x", "y"));
  const auto searcher = random_search();
  searcher->setup(context(space)).value_or_throw();
  const auto suggestion = searcher->suggest(TrialId(0));
  REQUIRE(!suggestion.has_value());
  const std::string message = suggestion.error().message();
  CHECK((message.find("y < x") != std::string::npos || message.find("x < y") != std::string::npos));
}

TEST_CASE("points to evaluate come first, completed, and are learned from") {
  SearchContext points = context({{"x", uniform(0, 1)}, {"n", randint(0, 9)}});
  points.points_to_evaluate = {{{"x", 0.25}, {"n", 4}}, {{"n", 3}}};
  Stubborn searcher;
  searcher.setup(points).value_or_throw();
  for (TrialId id; id.value < 3; id = id.next()) {
    const Suggestion next = searcher.suggest(id).value_or_throw();
    if (id.value == 0)
      CHECK(next.config == Config{{"x", 0.25}, {"n", 4}});
    if (id.value == 1)
      CHECK(next.config.at("n") == Value(3));
    searcher.record(id, next.config, next.note);
  }
  CHECK(searcher.notes == 1);
  CHECK(searcher.seen().size() == 3);
}

TEST_CASE("what points leave out is drawn until the rules hold that they do not break themselves") {
  ParamSpace space{{"a", uniform(0, 1)}, {"b", uniform(0, 1)}, {"n", randint(0, 4)}, {"c", 2}};
  space.require(less("a", "b")).require(less("c", "n"));
  for (const std::shared_ptr<Searcher>& searcher : {random_search(), basic_variant()})
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      SearchContext points = context(space);
      points.seed = seed;
      points.points_to_evaluate = {{{"a", 0.9}}, {{"a", 0.9}, {"b", 0.1}}, {{"n", 1}}};
      searcher->setup(points).value_or_throw();
      for (TrialId id; id.value < 3; id = id.next()) {
        const Suggestion next = searcher->suggest(id).value_or_throw();
        const double a = next.config.at("a").as_double();
        const double b = next.config.at("b").as_double();
        if (id.value != 1)
          CHECK(a < b);
        else
          CHECK((a == 0.9 && b == 0.1));
        CHECK(next.config.at("n") == Value(id.value == 2 ? 1 : 3));
        searcher->record(id, next.config, next.note);
      }
    }
}

TEST_CASE("a point whose missing parameters can not keep the rules is refused by its number") {
  ParamSpace space{{"a", uniform(0, 1)}, {"b", uniform(0, 1)}};
  space.require(less("a", "b"));
  SearchContext points = context(space);
  points.points_to_evaluate = {{{"a", 0.5}}, {{"a", 1}}};
  for (const std::shared_ptr<Searcher>& searcher : {random_search(), basic_variant()}) {
    const Status status = searcher->setup(points);
    REQUIRE(!status.has_value());
    CHECK(status.error().message().find("points_to_evaluate[1]") == 0);
    CHECK(status.error().message().find("a < b") != std::string::npos);
  }
}

TEST_CASE("known results and points in another form are the values that they mean") {
  SearchContext given =
      context({{"x", uniform(0, 10)}, {"y", quniform(0, 1, 0.1)}, {"c", "const"}});
  given.points_to_evaluate = {{{"x", 4}, {"y", 0.6}}};
  given.known_results = {{.config = {{"x", 3}, {"y", 0.3}}, .metrics = {{"loss", 1}}},
                         {.config = {{"x", 10.0}, {"y", 1}}, .metrics = {{"loss", 2}}},
                         {.config = {{"x", 10.5}, {"y", 1}}, .metrics = {{"loss", 2}}}};
  Stubborn searcher;
  searcher.setup(given).value_or_throw();
  CHECK(searcher.seen().size() == 2);
  CHECK(searcher.seen().seen(detail::fingerprint({{"c", "const"}, {"x", 3.0}, {"y", 3 * 0.1}})));
  const Suggestion point = searcher.suggest(TrialId(0)).value_or_throw();
  CHECK(point.config == Config{{"c", "const"}, {"x", 4.0}, {"y", 6 * 0.1}});
}

TEST_CASE("results known before are learned from and not tried again") {
  SearchContext known = context({{"a", choice({1, 2, 3})}});
  known.known_results = {{.config = {{"a", 2}}, .metrics = {{"loss", 0.5}}},
                         {.config = {{"a", 9}}, .metrics = {{"loss", 0.1}}},
                         {.config = {{"a", 3}}, .metrics = {}, .ending = Ending::failed}};
  Stubborn searcher;
  searcher.setup(known).value_or_throw();
  REQUIRE(searcher.seen().size() == 2);
  CHECK(searcher.seen().best()->losses[0] == 0.5);
  CHECK(searcher.seen().all()[1].state == Observation::State::failed);
  CHECK(ask_all(searcher) == std::set<Config>{{{"a", 1}}});
}

TEST_CASE("losses are turned so that less is better, NaN is a failure, a missing metric too") {
  SearchContext two = context({{"x", uniform(0, 1)}});
  two.objectives = {{"accuracy", Mode::max}};
  two.constraints = {"memory"};
  Stubborn searcher;
  searcher.setup(two).value_or_throw();
  for (std::uint32_t i = 0; i < 4; ++i)
    searcher.record(TrialId(i), {{"x", i / 10.0}}, Value());
  const Metrics good{{"accuracy", 0.75}, {"memory", 2}, {"training_iteration", 4}};
  const Metrics nan{{"accuracy", std::nan("")}, {"memory", 0}};
  searcher.on_complete(TrialId(0), Ending::finished, &good);
  searcher.on_complete(TrialId(1), Ending::finished, &nan);
  searcher.on_complete(TrialId(2), Ending::stopped, &good);
  searcher.on_complete(TrialId(3), Ending::finished, nullptr);
  const auto& all = searcher.seen().all();
  CHECK(all[0].state == Observation::State::complete);
  CHECK(all[0].losses == std::vector<double>{-0.75});
  CHECK(all[0].violation == 2);
  CHECK(all[0].step == 4);
  CHECK(all[1].state == Observation::State::failed);
  CHECK(all[2].state == Observation::State::pruned);
  CHECK(all[3].state == Observation::State::failed);
}

TEST_CASE("a searcher that learns asks for a metric, and for no more than it can serve") {
  Stubborn searcher;
  SearchContext none = context({{"x", uniform(0, 1)}});
  none.objectives.clear();
  CHECK(searcher.setup(none).error().message().find("TuneConfig.metric") != std::string::npos);
  none.objectives = {{"a", Mode::min}, {"b", Mode::max}};
  CHECK(searcher.setup(none).error().message().find("at most 1") != std::string::npos);
  CHECK(random_search()->setup(none).has_value());
}

TEST_CASE("a state whose model does not read is refused as a whole") {
  Stubborn searcher;
  searcher.setup(context({{"x", uniform(0, 1)}})).value_or_throw();
  const Value fresh = searcher.save();
  searcher.record(TrialId(0), {{"x", 0.5}}, Value());
  Value state = searcher.save();
  state.as_map()["model"] = "nonsense";
  CHECK(!searcher.restore(state).has_value());
  CHECK(searcher.save() == fresh);
}

}  // namespace
}  // namespace troupe::tune
