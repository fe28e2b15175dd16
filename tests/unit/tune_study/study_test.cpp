#include <troupe/serialization/json.hpp>
#include <troupe/tune/schedule/asha.hpp>
#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/random_search.hpp>
#include <troupe/tune/search/tpe.hpp>
#include <troupe/tune/study/study.hpp>

#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::tune {
namespace {

/// A space that only running it tells.
double booster(StudyTrial& trial) {
  const Value kind = trial.suggest_categorical("booster", {"tree", "linear"});
  if (kind == Value("linear"))
    return 1 + std::abs(std::log10(trial.suggest_float("lambda", 1e-8, 1, {.log = true})) + 3);
  const auto depth = trial.suggest_int("depth", 1, 12);
  const double eta = trial.suggest_float("eta", 0, 1, {.step = 0.125});
  return 0.1 * std::abs(static_cast<double>(depth) - 7) + std::abs(eta - 0.25);
}

TEST_CASE("a study finds the good part of a space that it learns by running") {
  Study study({.seed = 3});
  study.optimize(booster, 120);
  const auto best = study.best_trial();
  REQUIRE(best.has_value());
  CHECK(best->params.at("booster") == Value("tree"));
  CHECK(*best->value < 0.15);
  for (const auto& trial : study.trials())
    CHECK(trial.params.contains("lambda") == (trial.params.at("booster") == Value("linear")));
}

TEST_CASE("half, saved, and the other half equal the whole") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Study whole({.seed = seed});
    whole.optimize(booster, 50);
    Study first({.seed = seed});
    first.optimize(booster, 25);
    Study second({.seed = seed});
    REQUIRE(second.restore(parse_json(to_json(first.save())).value_or_throw()).has_value());
    second.optimize(booster, 25);
    const bool equal = second.save() == whole.save();
    CHECK(equal);
  }
}

/// Counts how often a search is begun anew, and what it hears of unused parameters.
class Counting final : public Searcher {
public:
  struct Counts {
    int setups = 0;
    int amended = 0;
    std::string throws{};  ///< the name of a call
    void called(const char* call) const {
      if (throws == call)
        throw std::runtime_error("out of luck");
    }
  };
  explicit Counting(std::shared_ptr<Counts> counts) : counts_(std::move(counts)) {}
  std::string name() const override { return "counting"; }
  std::unique_ptr<Searcher> clone() const override {
    counts_->called("clone");
    return std::unique_ptr<Counting>(new Counting(*this));
  }
  Status setup(const SearchContext& context) override {
    ++counts_->setups;
    counts_->called("setup");
    return inner_->setup(context);
  }
  Result<Suggestion> suggest(TrialId trial) const override {
    counts_->called("suggest");
    return inner_->suggest(trial);
  }
  void record(TrialId trial, const Config& config, const Value& note) override {
    counts_->called("record");
    inner_->record(trial, config, note);
  }
  void amend(TrialId trial, const Config& config) override {
    ++counts_->amended;
    counts_->called("amend");
    inner_->amend(trial, config);
  }
  void on_result(TrialId trial, const Metrics& metrics) override {
    counts_->called("on_result");
    inner_->on_result(trial, metrics);
  }
  void on_complete(TrialId trial, Ending ending, const Metrics* last) override {
    counts_->called("on_complete");
    inner_->on_complete(trial, ending, last);
  }
  Value save() const override { return inner_->save(); }
  Status restore(const Value& state) override { return inner_->restore(state); }

private:
  Counting(const Counting& other) : counts_(other.counts_), inner_(other.inner_->clone()) {}

  std::shared_ptr<Counts> counts_;
  std::unique_ptr<Searcher> inner_ = tpe()->clone();
};

TEST_CASE(
    "the searcher keeps its model while the space stays as it is, and hears what was unused") {
  const auto counts = std::make_shared<Counting::Counts>();
  Study study({.searcher = std::make_shared<Counting>(counts), .seed = 3});
  study.optimize(booster, 60);
  const int at_first = counts->setups;
  CHECK(at_first <= 5);
  study.optimize(booster, 60);
  CHECK(counts->setups == at_first);
  CHECK(counts->amended > 60);
}

TEST_CASE("what a searcher throws is an error that names it and the call, and changes nothing") {
  const auto counts = std::make_shared<Counting::Counts>();
  Study study({.searcher = std::make_shared<Counting>(counts), .seed = 3});
  study.optimize(booster, 10);
  StudyTrial open = study.ask();
  open.report(1.0, 1);
  const Value before = study.save();
  const Study::Trial known{.params = {{"x", 0.5}}, .domains = {{"x", uniform(0, 1)}}, .value = 1};
  using Use = std::function<void()>;
  const std::vector<std::pair<const char*, Use>> uses{
      {"suggest", [&] { (void)study.ask(); }},
      {"record", [&] { (void)study.ask(); }},
      {"record", [&] { study.add_trial(known); }},
      {"on_complete", [&] { study.add_trial(known); }},
      {"on_result", [&] { open.report(1.0, 2); }},
      {"amend", [&] { study.tell(open, 1.0); }},
      {"on_complete", [&] { study.tell(open, 1.0); }},
      {"on_complete", [&] { study.tell_failed(open); }},
      {"on_complete", [&] { study.optimize([](StudyTrial&) { return 1.0; }, 1); }}};
  for (const auto& [call, use] : uses) {
    CAPTURE(call);
    counts->throws = call;
    const bool asks = &use == &uses.back().second;
    CHECK_THROWS_WITH_AS(use(),
                         ("user_code: the searcher counting failed: its " + std::string(call) +
                          "() throws: out of luck; mend it there, or catch it")
                             .c_str(),
                         Exception);
    counts->throws = "";
    if (!asks)
      CHECK(study.save() == before);
  }
  study.tell(open, 1.0);
}

TEST_CASE("what a searcher throws while a study is restored is an error, and nothing has changed") {
  const auto counts = std::make_shared<Counting::Counts>();
  Study study({.searcher = std::make_shared<Counting>(counts), .seed = 3});
  study.optimize(booster, 10);
  const Value state = study.save();
  for (const char* call : {"clone", "setup", "record", "amend", "on_complete"}) {
    CAPTURE(call);
    counts->throws = call;
    const Status status = study.restore(state);
    REQUIRE(!status);
    CHECK(status.error().code() == ErrorCode::user_code);
    CHECK(status.error().message().find(std::string("the searcher counting failed: its ") + call +
                                        "() throws: out of luck") != std::string::npos);
    CHECK(study.save() == state);
  }
  CHECK_THROWS_WITH_AS(Study({.searcher = std::make_shared<Counting>([] {
                                auto broken = std::make_shared<Counting::Counts>();
                                broken->throws = "clone";
                                return broken;
                              }())}),
                       doctest::Contains("its clone() throws"), Exception);
}

/// Throws in the call that it is told.
class Unlucky final : public Scheduler {
public:
  explicit Unlucky(std::shared_ptr<std::string> throws) : throws_(std::move(throws)) {}

  std::string name() const override { return "unlucky"; }
  std::unique_ptr<Scheduler> clone() const override {
    return *throws_ == "null" ? nullptr : std::make_unique<Unlucky>(*this);
  }
  Status setup(const ScheduleContext&) override { return ok(); }
  void on_trial_add(TrialId, const Config&) override { may_throw("on_trial_add"); }
  Result<ScheduleDecision> decide(TrialId, const Metrics&) const override {
    may_throw("decide");
    return ScheduleDecision{};
  }
  void record(TrialId, const Metrics&, const ScheduleDecision&) override {}
  Value save() const override { return {}; }
  Status restore(const Value&) override { return ok(); }

private:
  void may_throw(const char* call) const {
    if (*throws_ == call)
      throw 7;
  }

  std::shared_ptr<std::string> throws_;
};

TEST_CASE("what a scheduler throws is an error that names the call, and changes nothing") {
  const auto throws = std::make_shared<std::string>("decide");
  Study study({.scheduler = std::make_shared<Unlucky>(throws)});
  StudyTrial trial = study.ask();
  const Value before = study.save();
  CHECK_THROWS_WITH_AS(trial.report(1, 1),
                       doctest::Contains("the scheduler of the study failed: its decide() throws: "
                                         "something that is no std::exception"),
                       Exception);
  CHECK(study.save() == before);
  *throws = "null";
  CHECK_THROWS_WITH_AS(Study({.scheduler = std::make_shared<Unlucky>(throws)}),
                       doctest::Contains("its clone() gives null"), Exception);
}

TEST_CASE("what a scheduler throws when a trial begins leaves no trace in the searcher") {
  const auto suggestions = [](bool unlucky) {
    const auto throws = std::make_shared<std::string>();
    StudyOptions options{.seed = 3};
    options.searcher = cmaes();
    options.scheduler = std::make_shared<Unlucky>(throws);
    Study study(std::move(options));
    std::vector<double> all;
    for (int i = 0; i < 40; ++i) {
      if (unlucky && i % 3 == 2) {
        *throws = "on_trial_add";
        CHECK_THROWS_AS((void)study.ask(), Exception);
        throws->clear();
      }
      StudyTrial trial = study.ask();
      const double x = trial.suggest_float("x", -1, 1);
      all.push_back(x);
      study.tell(trial, x * x);
    }
    return all;
  };
  CHECK(suggestions(true) == suggestions(false));
}

TEST_CASE("the same name with another range takes what fits of the old results") {
  Study study({.seed = 1});
  for (int i = 0; i < 20; ++i) {
    StudyTrial trial = study.ask();
    const double x = trial.suggest_float("x", 0, i < 10 ? 10 : 1);
    CHECK(x < (i < 10 ? 10 : 1));
    study.tell(trial, x);
  }
  CHECK(study.trials().size() == 20);
}

TEST_CASE("ranges of a single number and up to the largest one are served") {
  Study study;
  study.optimize(
      [](StudyTrial& trial) {
        CHECK(trial.suggest_float("one", 1, 1) == 1);
        CHECK(trial.suggest_float("two", 2, 2, {.log = true}) == 2);
        CHECK(trial.suggest_int("three", 3, 3) == 3);
        const std::int64_t any = trial.suggest_int("any", 1, INT64_MAX, {.log = true});
        CHECK(any >= 1);
        return std::log(static_cast<double>(any)) + trial.suggest_float("x", 0, 1);
      },
      15);
  CHECK(study.trials().size() == 15);
}

TEST_CASE("asked twice for a parameter a trial answers the same, asked otherwise it refuses") {
  Study study;
  StudyTrial trial = study.ask();
  const double x = trial.suggest_float("x", 0, 1);
  CHECK(trial.suggest_float("x", 0, 1) == x);
  CHECK_THROWS_WITH_AS(trial.suggest_float("x", 0, 2), doctest::Contains("uniform(0, 1)"),
                       Exception);
  CHECK_THROWS_WITH_AS(trial.suggest_float("y", 2, 1), doctest::Contains("parameter 'y'"),
                       Exception);
  CHECK_THROWS_WITH_AS(trial.suggest_float("y", 1, 2, {.step = 0.1, .log = true}),
                       doctest::Contains("exclude"), Exception);
  CHECK_THROWS_WITH_AS(trial.suggest_int("n", 9, 1),
                       doctest::Contains("suggest_int from 9 to 1: the lower bound must not be"),
                       Exception);
  CHECK_THROWS_WITH_AS(trial.suggest_int("n", 1, 9, {.step = 0.5}), doctest::Contains("whole"),
                       Exception);
}

TEST_CASE("a scheduler prunes, and pruned trials are never the best") {
  Study study(
      {.searcher = random_search(), .scheduler = asha({.max_t = 100, .reduction_factor = 3})});
  study.optimize(
      [](StudyTrial& trial) {
        const double x = trial.suggest_float("x", 0, 1);
        for (std::uint64_t step = 1; step <= 9; ++step) {
          trial.report(x + 1.0 / static_cast<double>(step), step);
          if (trial.should_prune())
            throw TrialPruned();
        }
        return x;
      },
      60);
  std::size_t pruned = 0;
  for (const auto& trial : study.trials())
    pruned += trial.ending == Ending::stopped;
  CHECK(pruned > 20);
  CHECK(pruned < 60);
  CHECK(study.best_trial()->ending == Ending::finished);
}

TEST_CASE("an exception fails its trial, leaves optimize, and the study goes on") {
  Study study;
  CHECK_THROWS_AS(study.optimize(
                      [](StudyTrial& trial) -> double {
                        (void)trial.suggest_float("x", 0, 1);
                        throw std::runtime_error("no such file");
                      },
                      3),
                  std::runtime_error);
  CHECK(study.trials().size() == 1);
  CHECK(study.trials()[0].ending == Ending::failed);
  CHECK(!study.best_trial().has_value());
  study.optimize(booster, 3);
  CHECK(study.best_trial().has_value());
}

TEST_CASE("trials may run beside each other, and are told once") {
  Study study({.seed = 4});
  study.optimize(booster, 15);
  StudyTrial one = study.ask();
  StudyTrial two = study.ask();
  const double value = booster(two);
  study.tell(two, value);
  CHECK_THROWS_AS(study.tell(two, value), Exception);
  study.tell(one, booster(one));
  CHECK(study.trials().size() == 17);
}

TEST_CASE("data that is no study is refused and changes nothing") {
  Study study({.seed = 2});
  study.optimize(booster, 5);
  const Value before = study.save();
  Value told_twice = before;
  told_twice.as_map()["study"].as_list().push_back(before.as_map().at("study").as_list().back());
  const Value& options = before.as_map().at("options");
  const auto with = [&](List entry) {
    return Value(Map{{"options", options}, {"study", List{Value(std::move(entry))}}});
  };
  for (const Value& bad :
       {Value(), Value(Map{{"options", options}, {"study", 3}}),
        Value(Map{{"study", before.as_map().at("study")}}), with({"fly", 1}),
        with({"tell", 7, 0, List{0.5}}), with({"ask", 3, 4}), with({"enqueue", 1}),
        with({"add", Map{}, Map{}, Value(), List{}, 0, Map{}, 0}),
        with({"add", Map{}, Map{}, 0.5, List{}, 0, Map{}, 17}), told_twice}) {
    const Status status = study.restore(bad);
    REQUIRE(!status.has_value());
    CHECK(status.error().code() == ErrorCode::corrupt);
  }
  CHECK(study.save() == before);
}

TEST_CASE("a study is restored with the options that it was saved with, or refuses") {
  Study study({.constraints = {"memory"}, .seed = 2});
  const Value saved = study.save();
  const auto restored = [&](StudyOptions options) {
    return Study(std::move(options)).restore(saved);
  };
  CHECK(restored({.constraints = {"memory"}, .seed = 2}).has_value());
  for (const StudyOptions& other :
       {StudyOptions{.constraints = {"memory"}, .seed = 3}, StudyOptions{.seed = 2},
        StudyOptions{.searcher = random_search(), .constraints = {"memory"}, .seed = 2},
        StudyOptions{.mode = Mode::max, .constraints = {"memory"}, .seed = 2},
        StudyOptions{.scheduler = asha(), .constraints = {"memory"}, .seed = 2}}) {
    const Status status = restored(other);
    REQUIRE(!status.has_value());
    CHECK(status.error().message().find("the same StudyOptions") != std::string::npos);
  }
}

}  // namespace
}  // namespace troupe::tune
