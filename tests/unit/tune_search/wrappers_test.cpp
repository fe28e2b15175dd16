#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/model_searcher.hpp>
#include <troupe/tune/search/quasi_random.hpp>
#include <troupe/tune/search/random_search.hpp>
#include <troupe/tune/search/wrappers.hpp>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "ask_tell.hpp"

namespace troupe::tune {
namespace {

using Losses = std::vector<double>;

/// Random search that writes down what it hears.
class Listener final : public ModelSearcher {
public:
  std::string name() const override { return "listener"; }
  std::unique_ptr<Searcher> clone() const override { return std::make_unique<Listener>(*this); }
  std::shared_ptr<std::vector<std::string>> heard = std::make_shared<std::vector<std::string>>();

protected:
  Result<Proposal> propose(TrialId, std::uint32_t) const override { return Proposal{}; }
  void observed(const detail::Observation& o) override {
    if (o.over())
      heard->push_back(std::to_string(o.trial.value) + ":" +
                       (o.losses.empty() ? "failed" : std::to_string(o.losses[0])));
  }
};

const SearchContext context{.space = {{"x", uniform(-5, 5)}, {"y", uniform(-5, 5)}},
                            .objectives = {{"loss", Mode::min}},
                            .seed = 5};

Losses bowl(const Config& config) {
  return {std::pow(config.at("x").as_double() - 1, 2) + std::pow(config.at("y").as_double(), 2)};
}

void over(Searcher& searcher, std::uint32_t trial, double loss) {
  const Metrics metrics{{"loss", loss}, {"training_iteration", 1}};
  searcher.on_complete(TrialId(trial), Ending::finished, &metrics);
}

Suggestion::Kind ask(Searcher& searcher, std::uint32_t trial) {
  const Suggestion next = searcher.suggest(TrialId(trial)).value_or_throw();
  if (next.kind == Suggestion::Kind::config)
    searcher.record(TrialId(trial), next.config, next.note);
  return next.kind;
}

TEST_CASE("a wrapper around no searcher is refused") {
  const auto refused = [](auto make) {
    try {
      (void)make();
      return std::string("made");
    } catch (const Exception& error) {
      CHECK(error.code() == ErrorCode::invalid_argument);
      return error.error().message();
    }
  };
  CHECK(refused([] {
          return concurrency_limiter(nullptr, {.max_concurrent = 1});
        }).starts_with("concurrency_limiter: a searcher to wrap is null"));
  CHECK(refused([] { return repeater(nullptr, 2); }).starts_with("repeater: "));
  CHECK(refused([] {
          return switch_searcher(random_search(), nullptr, 2);
        }).starts_with("switch_searcher: "));
}

/// Gives a copy once; then null, or what throws.
class Fragile final : public Searcher {
public:
  explicit Fragile(bool throws) : throws_(throws) {}

  std::string name() const override { return "fragile"; }
  std::unique_ptr<Searcher> clone() const override {
    return copies_ > 0 && !throws_ ? nullptr : std::make_unique<Fragile>(*this, copies_ + 1);
  }
  Fragile(const Fragile& other, int copies) : throws_(other.throws_), copies_(copies) {}
  Status setup(const SearchContext&) override { return ok(); }
  Result<Suggestion> suggest(TrialId) const override { return Suggestion::nothing_now(); }
  void record(TrialId, const Config&, const Value&) override { throw std::runtime_error("oops"); }
  Value save() const override { return {}; }
  Status restore(const Value&) override { return ok(); }

private:
  bool throws_;
  int copies_ = 0;
};

TEST_CASE("what a wrapped searcher does wrong names that searcher") {
  using Wrap = std::shared_ptr<Searcher> (*)(std::shared_ptr<Searcher>);
  for (const Wrap wrap :
       {+[](std::shared_ptr<Searcher> inner) {
          return concurrency_limiter(std::move(inner), {.max_concurrent = 1});
        },
        +[](std::shared_ptr<Searcher> inner) { return repeater(std::move(inner), 2); },
        +[](std::shared_ptr<Searcher> inner) {
          return switch_searcher(random_search(), std::move(inner), 2);
        }}) {
    CHECK_THROWS_WITH_AS((void)wrap(std::make_shared<Fragile>(false))->clone(),
                         doctest::Contains("the searcher fragile failed: its clone() gives null"),
                         Exception);
    const auto searcher = wrap(std::make_shared<Fragile>(true));
    searcher->setup(context).value_or_throw();
    CHECK_THROWS_WITH_AS(
        searcher->record(TrialId(0), {{"x", 0.5}}, {}),
        "user_code: the searcher fragile failed: its record() throws: oops; mend it there, or "
        "catch it",
        Exception);
  }
}

TEST_CASE("no more than the limit run at a time") {
  const auto searcher = concurrency_limiter(random_search(), {.max_concurrent = 2});
  searcher->setup(context).value_or_throw();
  CHECK(ask(*searcher, 0) == Suggestion::Kind::config);
  CHECK(ask(*searcher, 1) == Suggestion::Kind::config);
  CHECK(ask(*searcher, 2) == Suggestion::Kind::nothing_now);
  over(*searcher, 1, 3);
  CHECK(ask(*searcher, 2) == Suggestion::Kind::config);
  CHECK(ask(*searcher, 3) == Suggestion::Kind::nothing_now);
}

TEST_CASE("the results of a batch are told together when it is over") {
  const auto listener = std::make_shared<Listener>();
  const auto searcher = concurrency_limiter(listener, {.max_concurrent = 3, .batch = true});
  searcher->setup(context).value_or_throw();
  for (std::uint32_t i = 0; i < 3; ++i)
    REQUIRE(ask(*searcher, i) == Suggestion::Kind::config);
  over(*searcher, 2, 0.5);
  over(*searcher, 0, 0.25);
  CHECK(ask(*searcher, 3) == Suggestion::Kind::nothing_now);
  CHECK(listener->heard->empty());
  searcher->on_complete(TrialId(1), Ending::failed, nullptr);
  CHECK(*listener->heard == std::vector<std::string>{"2:0.500000", "0:0.250000", "1:failed"});
  CHECK(ask(*searcher, 3) == Suggestion::Kind::config);
}

TEST_CASE("a batch that nobody fills is over when nothing runs") {
  const auto listener = std::make_shared<Listener>();
  const auto searcher = concurrency_limiter(listener, {.max_concurrent = 8, .batch = true});
  searcher->setup(context).value_or_throw();
  for (std::uint32_t i = 0; i < 5; ++i) {  // one worker only
    REQUIRE(ask(*searcher, i) == Suggestion::Kind::config);
    over(*searcher, i, 1);
    CHECK(listener->heard->size() == i + 1);
  }
}

TEST_CASE("a batch that is saved in its middle goes on alike") {
  const ConcurrencyLimit limit{.max_concurrent = 3, .batch = true};
  const auto searcher = concurrency_limiter(cmaes(), limit);
  searcher->setup(context).value_or_throw();
  for (std::uint32_t i = 0; i < 3; ++i)
    REQUIRE(ask(*searcher, i) == Suggestion::Kind::config);
  over(*searcher, 1, 2);
  const auto other = concurrency_limiter(cmaes(), limit);
  other->setup(context).value_or_throw();
  other->restore(searcher->save()).value_or_throw();
  for (Searcher* each : {searcher.get(), other.get()}) {
    CHECK(each->suggest(TrialId(3)).value_or_throw().kind == Suggestion::Kind::nothing_now);
    over(*each, 0, 1);
    over(*each, 2, 3);
  }
  CHECK(searcher->save() == other->save());
  CHECK(searcher->suggest(TrialId(3)).value_or_throw().config ==
        other->suggest(TrialId(3)).value_or_throw().config);
}

TEST_CASE("each configuration is tried several times, and the mean is told") {
  const auto listener = std::make_shared<Listener>();
  const auto searcher = repeater(listener, 3);
  SearchContext c = context;
  c.num_samples = 7;
  searcher->setup(c).value_or_throw();
  std::vector<Config> configs;
  for (std::uint32_t i = 0; i < 7; ++i) {
    const Suggestion next = searcher->suggest(TrialId(i)).value_or_throw();
    REQUIRE(next.kind == Suggestion::Kind::config);
    searcher->record(TrialId(i), next.config, next.note);
    configs.push_back(next.config);
  }
  CHECK(ask(*searcher, 7) == Suggestion::Kind::exhausted);
  CHECK(configs[0] == configs[2]);
  CHECK(configs[3] == configs[5]);
  CHECK(configs[0] != configs[3]);
  over(*searcher, 0, 1);
  over(*searcher, 3, 5);
  over(*searcher, 2, 3);
  CHECK(listener->heard->empty());
  over(*searcher, 1, 8);
  searcher->on_complete(TrialId(4), Ending::failed, nullptr);
  over(*searcher, 5, 6);
  CHECK(*listener->heard == std::vector<std::string>{"0:4.000000", "1:5.500000"});
}

TEST_CASE("a configuration of which all trials failed has failed") {
  const auto listener = std::make_shared<Listener>();
  const auto searcher = repeater(listener, 2);
  searcher->setup(context).value_or_throw();
  for (std::uint32_t i = 0; i < 2; ++i) {
    REQUIRE(ask(*searcher, i) == Suggestion::Kind::config);
    searcher->on_complete(TrialId(i), Ending::failed, nullptr);
  }
  CHECK(*listener->heard == std::vector<std::string>{"0:failed"});
}

TEST_CASE("repeats that are saved half way go on alike") {
  const auto searcher = repeater(cmaes(), 3);
  searcher->setup(context).value_or_throw();
  for (std::uint32_t i = 0; i < 5; ++i)
    REQUIRE(ask(*searcher, i) == Suggestion::Kind::config);
  over(*searcher, 0, 1);
  over(*searcher, 4, 2);
  const auto other = repeater(cmaes(), 3);
  other->setup(context).value_or_throw();
  other->restore(searcher->save()).value_or_throw();
  CHECK(other->save() == searcher->save());
  for (Searcher* each : {searcher.get(), other.get()}) {
    over(*each, 1, 4);
    over(*each, 2, 3);
    REQUIRE(ask(*each, 5) == Suggestion::Kind::config);
    REQUIRE(ask(*each, 6) == Suggestion::Kind::config);
  }
  CHECK(other->save() == searcher->save());
}

TEST_CASE("the second searcher goes on from what the first one found") {
  const auto searcher = switch_searcher(quasi_random(), cmaes(), 30);
  searcher->setup(context).value_or_throw();
  AskTell search(*searcher, context, bowl);
  search.run(30);
  const auto alone = quasi_random();
  alone->setup(context).value_or_throw();
  AskTell first(*alone, context, bowl);
  first.run(30);
  CHECK(search.configs == first.configs);
  search.run(70);
  CHECK(search.configs.size() == 100);
  CHECK(search.best() < 1e-3);
}

TEST_CASE("a switch restored on either side of its point goes on alike") {
  for (const std::size_t before : {5U, 10U, 25U}) {
    const auto searcher = switch_searcher(random_search(), cmaes(), 10);
    searcher->setup(context).value_or_throw();
    AskTell search(*searcher, context, bowl);
    search.run(before);
    const auto other = switch_searcher(random_search(), cmaes(), 10);
    other->setup(context).value_or_throw();
    other->restore(searcher->save()).value_or_throw();
    for (std::uint32_t i = 0; i < 12; ++i) {
      const TrialId trial(static_cast<std::uint32_t>(before) + i);
      const Suggestion next = other->suggest(trial).value_or_throw();
      other->record(trial, next.config, next.note);
      over(*other, trial.value, bowl(next.config)[0]);
      search.run(1);
      REQUIRE(search.configs.back() == next.config);
    }
  }
}

TEST_CASE("wrappers are made again from their options, what is inside included") {
  const auto wrapped = concurrency_limiter(
      repeater(switch_searcher(quasi_random({.scramble = false}), cmaes({.sigma = 0.3}), 12), 2),
      {.max_concurrent = 4, .batch = true});
  const auto again = make_searcher(wrapped->name(), wrapped->options()).value_or_throw();
  CHECK(again->options() == wrapped->options());
  for (const Value& bad : {Value(Map{{"max_concurrent", 0}}), Value(Map{{"most", 3}}), Value(3),
                           Value(Map{{"searcher", Map{{"name", "nobody"}}}})})
    CHECK(!make_searcher("concurrency_limiter", bad).has_value());
  CHECK(!repeater(random_search(), 0)->setup(context).has_value());
  CHECK(!concurrency_limiter(random_search(), {.max_concurrent = 0})->setup(context).has_value());
}

}  // namespace
}  // namespace troupe::tune
