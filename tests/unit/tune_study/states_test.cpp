#include <troupe/serialization/json.hpp>
#include <troupe/tune/schedule/asha.hpp>
#include <troupe/tune/search/auto_searcher.hpp>
#include <troupe/tune/search/bohb.hpp>
#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/gp.hpp>
#include <troupe/tune/search/nsga.hpp>
#include <troupe/tune/search/quasi_random.hpp>
#include <troupe/tune/search/random_search.hpp>
#include <troupe/tune/search/tpe.hpp>
#include <troupe/tune/search/wrappers.hpp>
#include <troupe/tune/study/study.hpp>

#include <cmath>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/support/instrumented.hpp>
#include <tests/support/mutations.hpp>

/// What a study takes for its own: states, trials, steps.
namespace troupe::tune {
namespace {

double sphere(StudyTrial& trial) {
  const double x = trial.suggest_float("x", 0, 1);
  const auto n = trial.suggest_int("n", 1, 9, {.step = 2});
  const Value kind = trial.suggest_categorical("kind", {"a", 2, nullptr});
  return x * x + static_cast<double>(n) + (kind.is_null() ? 1 : 0);
}

void go_on(Study& study, const StudyOptions& options, int count) {
  for (int i = 0; i < count; ++i) {
    StudyTrial trial = study.ask();
    const double value = sphere(trial);
    for (const std::string& name : options.constraints)
      trial.set_constraint(name, value - 5);
    if (options.modes.size() < 2)
      trial.report(value, 1);
    if (i % 5 == 4)
      study.tell_pruned(trial);
    else if (i % 7 == 6)
      study.tell_failed(trial);
    else if (i % 4 != 3)
      study.tell(trial, std::vector<double>(std::max<std::size_t>(options.modes.size(), 1), value));
  }
}

/// What came of a state: it was refused with an error and changed nothing, or is a study like any
/// other. Anything else is told.
std::string misbehaviour(const Value& state, const StudyOptions& options, bool& taken) {
  try {
    Study study(options);
    const Value before = study.save();
    const Status status = study.restore(state);
    taken = status.has_value();
    if (!status)
      return study.save() == before ? "" : "a refused state changed something";
    go_on(study, options, 6);
    (void)study.best_trials();
    Study again(options);
    again.restore(parse_json(to_json(study.save())).value_or_throw()).value_or_throw();
    if (again.save() != study.save())
      return "what it saves is not what it restores";
  } catch (const std::exception& e) {
    return std::string("it throws: ") + e.what();
  }
  return "";
}

TEST_CASE("a stored study that was changed is refused with an error, or goes on like any other") {
  const std::vector<StudyOptions> all{
      {.searcher = tpe({.startup_trials = 5}), .scheduler = asha(), .seed = 1},
      {.searcher = random_search(), .constraints = {"memory"}, .seed = 2},
      {.searcher = cmaes(), .seed = 3},
      {.searcher = nsga2({.population = 4}), .modes = {Mode::min, Mode::max}, .seed = 4}};
  for (const StudyOptions& options : all) {
    CAPTURE(options.searcher->name());
    Study study(options);
    go_on(study, options, 10);
    study.enqueue_trial({{"x", 0.5}});
    go_on(study, options, 2);
    Study::Trial known{.params = {{"x", 0.1}}, .domains = {{"x", uniform(0, 1)}}};
    known.ending = Ending::failed;
    study.add_trial(known);
    study.enqueue_trial({{"n", 3}});
    const Value state = study.save();
    bool taken = false;
    REQUIRE(misbehaviour(state, options, taken) == "");
    REQUIRE(taken);
    int refused = 0, accepted = 0;
    for (std::uint64_t round = 0; round < 800 / testing::fewer; ++round) {
      Random random(round, 0, RandomPurpose::test);
      const std::string wrong = misbehaviour(testing::mutated(state, random), options, taken);
      CAPTURE(round);
      CHECK(wrong == "");
      ++(taken ? accepted : refused);
    }
    CHECK(accepted > 0);
    CHECK(refused > accepted);
  }
}

TEST_CASE("a state that contradicts itself is refused by the number of the entry") {
  Study study({.seed = 2});
  go_on(study, {}, 3);
  const Value state = study.save();
  const auto refusal = [&](const auto& change) {
    Value damaged = state;
    change(damaged.as_map()["study"].as_list());
    const Status status = study.restore(damaged);
    REQUIRE(!status);
    CHECK(status.error().code() == ErrorCode::corrupt);
    CHECK(study.save() == state);
    return status.error().message();
  };
  // ask, three parameters, report, tell; and so on
  CHECK(refusal([](List& log) {
          log.erase(log.begin() + 6, log.begin() + 18);
          log.push_back(List{"tell", 1, 0, List{1.0}});
        }).find("entry 6: trial 1") != std::string::npos);
  CHECK(refusal([](List& log) { log[4].as_list()[3] = -1; }).find("entry 4: trial 0, step") !=
        std::string::npos);
  CHECK(refusal([](List& log) {
          log[5].as_list()[3] = List{1.0, 2.0};
        }).find("entry 5: ") != std::string::npos);
  CHECK(refusal([](List& log) {
          log[5] = List{"tell", 0, 1, List{1.0}};
        }).find("entry 5: no call leaves such an entry; it is not what save() gave: restore") !=
        std::string::npos);
}

TEST_CASE("a study that an earlier version allowed is refused with what to do") {
  Study study({.seed = 2});
  go_on(study, {}, 1);
  const auto refusal = [&](const auto& change) {
    Value old = study.save();
    change(old.as_map()["study"].as_list());
    const Status status = study.restore(old);
    REQUIRE(!status);
    CHECK(status.error().message().find(
              "or an earlier version took what this one refuses: restore another copy of it, or "
              "begin anew") != std::string::npos);
    return status.error().message();
  };
  CHECK(refusal([](List& log) {
          log.insert(log.begin() + 5, log[4]);
        }).find("entry 5: trial 0, step 1") != std::string::npos);
  CHECK(refusal([](List& log) {
          log[3].as_list()[3] = choice({"a", "a", 2, nullptr}).to_value();
        }).find("the value \"a\" comes twice") != std::string::npos);
}

TEST_CASE("a study is restored by another seed with an error that has both") {
  Study study({.seed = 2});
  const Status status = study.restore(Study({.seed = 3}).save());
  REQUIRE(!status);
  CHECK(status.error().code() == ErrorCode::invalid_argument);
  CHECK(
      status.error().message() ==
      "the study was saved with seed = 3, and here it is 2: restore it into a study with the same "
      "StudyOptions");
}

TEST_CASE("a trial is told to the study that it was asked of") {
  Study one({.seed = 1}), other({.seed = 2});
  const StudyTrial mine = one.ask();
  const StudyTrial theirs = other.ask();
  const Value before = other.save();
  const auto refused = doctest::Contains("trial 0 belongs to another study");
  CHECK_THROWS_WITH_AS(other.tell(mine, 1.0), refused, Exception);
  CHECK_THROWS_WITH_AS(other.tell(mine, std::vector<double>{1.0}), refused, Exception);
  CHECK_THROWS_WITH_AS(other.tell_pruned(mine), refused, Exception);
  CHECK_THROWS_WITH_AS(other.tell_failed(mine), refused, Exception);
  CHECK(other.save() == before);
  one.tell(mine, 1.0);
  other.tell(theirs, 2.0);
  CHECK(*other.best_trial()->value == 2.0);
}

TEST_CASE("a handle from before a restore says so where its trial is gone") {
  Study study;
  const Value empty = study.save();
  StudyTrial trial = study.ask();
  study.restore(empty).value_or_throw();
  CHECK_THROWS_WITH_AS((void)trial.params(), doctest::Contains("has no trial 0"), Exception);
  CHECK_THROWS_WITH_AS((void)trial.should_prune(), doctest::Contains("has no trial 0"), Exception);
  CHECK_THROWS_AS(study.tell(trial, 1.0), Exception);
}

TEST_CASE("a trial that was not over goes on by its number after a restore") {
  Study before;
  before.tell(before.ask(), 3);
  StudyTrial open = before.ask();
  const double x = open.suggest_float("x", 0, 1);
  open.report(2, 1);
  Study after;
  after.restore(before.save()).value_or_throw();
  StudyTrial again = after.trial(TrialId(1));
  CHECK(again.suggest_float("x", 0, 1) == x);
  CHECK(again.suggest_int("n", 1, 5) == open.suggest_int("n", 1, 5));
  open.report(1, 2);
  again.report(1, 2);
  before.tell(open, 0.5);
  after.tell(again, 0.5);
  CHECK(after.save() == before.save());
  for (const std::uint32_t number : {0, 1, 2})
    CHECK_THROWS_WITH_AS((void)after.trial(TrialId(number)), doctest::Contains("is over"),
                         Exception);
}

/// Asks for other parameters in each trial; they are all in the space of the study soon.
double changing(StudyTrial& trial, std::uint64_t number) {
  const double x = trial.suggest_float("x", 0, 1);
  double sum = x * x;
  if (trial.suggest_categorical("kind", {"a", "b"}) == Value("a"))
    sum += trial.suggest_float("y", 0, 1);
  if (number % 3 == 0)
    sum += static_cast<double>(trial.suggest_int("n" + std::to_string(number % 2), 0, 5));
  return sum;
}

TEST_CASE("a study with several open trials goes on after a restore with the same suggestions") {
  for (const auto& searcher :
       {tpe({.startup_trials = 5}), tpe(TpeOptions::optuna()), cmaes(), gp({.startup_trials = 5}),
        bohb(), nsga2({.population = 4}), nsga3({.population = 4}), quasi_random(), random_search(),
        auto_searcher(), concurrency_limiter(tpe({.startup_trials = 5}), {8}),
        switch_searcher(random_search(), tpe({.startup_trials = 5}), 8)}) {
    CAPTURE(searcher->name());
    const StudyOptions options{.searcher = searcher, .seed = 5};
    Study study(options);
    std::vector<StudyTrial> open;
    for (std::uint64_t i = 0; i < 36; ++i) {
      CAPTURE(i);
      Study restored(options);
      restored.restore(study.save()).value_or_throw();
      StudyTrial here = study.ask();
      StudyTrial there = restored.ask();
      const double value = changing(here, i);
      changing(there, i);
      REQUIRE(here.params() == there.params());
      here.report(value, 1);
      open.push_back(here);
      if (open.size() < 4)
        continue;
      const auto over = open.begin() + static_cast<std::ptrdiff_t>(i % open.size());
      study.tell(*over, *study.trials()[over->number().value].value);
      open.erase(over);
    }
  }
}

TEST_CASE("steps of a trial ascend, and a step that does not leaves no trace") {
  Study study({.scheduler = asha({.max_t = 100})});
  StudyTrial trial = study.ask();
  (void)trial.suggest_float("x", 0, 1);
  trial.report(3, 2);
  const Value before = study.save();
  for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2},
                                   std::uint64_t{1} << 63U, UINT64_MAX}) {
    CHECK_THROWS_WITH_AS(trial.report(9, step),
                         doctest::Contains("the last one of this trial was 2"), Exception);
    CHECK(study.save() == before);
    CHECK(*study.trials()[0].value == 3);
  }
  trial.report(1, 8);
  study.tell(trial, 1);
  Study::Trial late{.params = {{"x", 0.5}}, .domains = {{"y", uniform(0, 1)}}, .value = 1.0};
  late.params["y"] = 0.5;
  late.step = UINT64_MAX;
  const Value told = study.save();
  CHECK_THROWS_WITH_AS(study.add_trial(late), doctest::Contains("2^63 - 1"), Exception);
  CHECK(study.save() == told);
}

}  // namespace
}  // namespace troupe::tune
