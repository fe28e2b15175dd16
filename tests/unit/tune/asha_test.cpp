#include <troupe/base/random.hpp>
#include <troupe/tune/schedule/asha.hpp>

#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::tune {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();

/// Feeds results and says who goes on.
class Driver {
public:
  explicit Driver(AshaOptions options, Mode mode = Mode::max) : asha(std::move(options)) {
    asha.setup({.metric = "score", .mode = mode, .seed = 3}).value_or_throw();
  }
  void add(std::uint32_t trial) { asha.on_trial_add(TrialId(trial), {}); }
  std::string result(std::uint32_t trial, double time, Value score) {
    const Metrics metrics{{"training_iteration", time}, {"score", std::move(score)}};
    const auto decision = asha.decide(TrialId(trial), metrics).value_or_throw();
    asha.record(TrialId(trial), metrics, decision);
    if (decision.action != ScheduleAction::go_on)
      asha.on_complete(
          TrialId(trial),
          decision.action == ScheduleAction::finish ? Ending::finished : Ending::stopped, &metrics);
    last_action = decision.action;
    return decision.reason;
  }
  /// One new trial whose first result is `score`.
  bool goes_on(double score) {
    add(next);
    return result(next++, 1, score).empty();
  }

  Asha asha;
  std::uint32_t next = 0;
  ScheduleAction last_action = ScheduleAction::go_on;
};

std::string setup_error(AshaOptions options, const std::string& metric = "score") {
  Asha asha(std::move(options));
  const Status status = asha.setup({.metric = metric});
  return status ? "" : status.error().message();
}

TEST_CASE("rungs are at grace times the powers of the factor, up to max_t") {
  Driver driver({.max_t = 100, .grace_period = 1, .reduction_factor = 4, .brackets = 2});
  CHECK(driver.asha.rungs(0) == std::vector<double>{1, 4, 16, 64});
  CHECK(driver.asha.rungs(1) == std::vector<double>{4, 16, 64});
  // log(1000) / log(10) is 2.9999999999999996: the rung at 1000 is there all the same.
  CHECK(Driver({.max_t = 1000, .reduction_factor = 10}).asha.rungs(0).size() == 4);
  CHECK(Driver({.max_t = 81, .reduction_factor = 3}).asha.rungs(0) ==
        std::vector<double>{1, 3, 9, 27, 81});
  CHECK(Driver({.max_t = 243, .reduction_factor = 3}).asha.rungs(0).size() == 6);
  CHECK(Driver({.max_t = 729, .reduction_factor = 3}).asha.rungs(0).size() == 7);
}

TEST_CASE("the first to come go on, then the best share of all that came") {
  Driver driver({.reduction_factor = 4});
  // Fewer than 4 are not compared.
  CHECK(driver.goes_on(0.1));
  CHECK(driver.goes_on(0.2));
  CHECK(driver.goes_on(0.3));
  // The best one of four to seven, ties in its favour.
  CHECK(!driver.goes_on(0.25));
  CHECK(driver.goes_on(0.3));
  CHECK(driver.goes_on(0.9));
  CHECK(!driver.goes_on(0.8));
  // The best two of eight.
  CHECK(driver.goes_on(0.85));
  CHECK(!driver.goes_on(0.5));
}

TEST_CASE("less is better when the mode says so") {
  Driver driver({.reduction_factor = 2}, Mode::min);
  CHECK(driver.goes_on(0.5));
  CHECK(!driver.goes_on(0.6));
  CHECK(driver.goes_on(0.4));
}

TEST_CASE("NaN is worse than every number and than minus infinity") {
  Driver driver({.reduction_factor = 2});
  CHECK(driver.goes_on(-std::numeric_limits<double>::infinity()));
  CHECK(!driver.goes_on(nan));
  for (double score : {1.0, 2.0, 3.0, 4.0, 5.0, 6.0})
    driver.goes_on(score);
  CHECK(!driver.goes_on(nan));
  CHECK(driver.goes_on(std::numeric_limits<double>::infinity()));
  CHECK(driver.goes_on(9.0));
}

TEST_CASE("with NaN all around, a number still goes on") {
  Driver driver({.reduction_factor = 4});
  for (int i = 0; i < 20; ++i)
    driver.goes_on(nan);
  CHECK(driver.goes_on(-1e300));
}

TEST_CASE("a null metric counts as NaN, text is an error") {
  Driver driver({.reduction_factor = 2});
  driver.add(0);
  CHECK(driver.result(0, 1, nullptr) == "");
  const Metrics text{{"training_iteration", 1}, {"score", "good"}};
  CHECK(!driver.asha.decide(TrialId(0), text).has_value());
}

TEST_CASE("the reason names the rung, and max_t finishes every trial") {
  Driver driver({.max_t = 20, .reduction_factor = 4});
  for (std::uint32_t i = 0; i < 4; ++i)
    driver.add(i);
  for (std::uint32_t i = 0; i < 3; ++i)
    CHECK(driver.result(i, 4, 0.5) == "");
  CHECK(driver.result(3, 4, 0.4) == "asha: rung 4");
  CHECK(driver.last_action == ScheduleAction::stop);
  CHECK(driver.result(0, 19, 0.5) == "");
  CHECK(driver.result(0, 20, 0.5) == "asha: max_t 20");
  CHECK(driver.last_action == ScheduleAction::finish);
}

TEST_CASE("a trial that reports now and then is judged by its first result past a rung") {
  Driver driver({.max_t = 8, .reduction_factor = 2});
  for (std::uint32_t i = 0; i < 3; ++i)
    driver.add(i);
  CHECK(driver.result(0, 3, 0.5) == "");
  CHECK(driver.result(1, 3, 0.4) == "asha: rung 2");
  CHECK(driver.result(2, 2, 0.45) == "asha: rung 2");
  CHECK(driver.result(0, 7, 0.5) == "");
  CHECK(driver.result(0, 9, 0.5) == "asha: max_t 8");
}

TEST_CASE("a trial that jumps over a rung is judged at the highest only") {
  Driver driver({.reduction_factor = 2});
  driver.add(0);
  driver.add(1);
  CHECK(driver.result(0, 1, 0.9) == "");
  CHECK(driver.result(1, 4, 0.1) == "");  // alone at rung 4, never judged at 1 and 2
  CHECK(driver.result(1, 5, 0.1) == "");
}

TEST_CASE("Ray's rule judges skipped rungs later, against the percentile of the others") {
  Driver driver({.reduction_factor = 2, .strict = true});
  driver.add(0);
  driver.add(1);
  CHECK(driver.result(0, 1, 0.9) == "");
  CHECK(driver.result(1, 4, 0.1) == "");
  CHECK(driver.result(1, 5, 0.1) == "");  // alone at rung 2, too
  CHECK(driver.result(1, 6, 0.1) == "asha: rung 1");
  // Four others, factor 4: the cutoff is their 75th percentile.
  Driver four({.reduction_factor = 4, .strict = true});
  for (double score : {1.0, 2.0, 3.0, 4.0})
    four.goes_on(score);
  CHECK(four.goes_on(4.5));
  // Others now 1, 2, 3, 4, 4.5 -> cutoff 4; a tie survives.
  CHECK(four.goes_on(4.0));
  CHECK(!four.goes_on(3.99));
}

/// The rule as search.md says it, without any cleverness.
bool reference_rule(std::vector<double> others, double score, double factor) {
  const std::size_t m = others.size() + 1;
  if (static_cast<double>(m) < factor)
    return true;
  std::size_t rank = 1;
  for (const double other : others)
    rank += better_score(other, score);
  const auto share = static_cast<std::size_t>(static_cast<double>(m) / factor + 1e-9);
  return rank <= std::max<std::size_t>(1, share);
}

TEST_CASE("the heaps decide as the plain rule does") {
  for (const double factor : {2.0, 3.0, 4.0, 2.5}) {
    Random random(17, 1, RandomPurpose::test);
    Driver driver({.reduction_factor = factor});
    std::vector<double> others;
    for (int i = 0; i < 500; ++i) {
      const double score = random.chance(0.1) ? nan : static_cast<double>(random.below(40));
      CHECK(driver.goes_on(score) == reference_rule(others, score, factor));
      others.push_back(score);
    }
  }
}

TEST_CASE("brackets are drawn from the seed, the fuller ones more often") {
  Driver driver({.max_t = 16, .reduction_factor = 4, .brackets = 2});
  std::vector<int> counts(2);
  for (std::uint32_t i = 0; i < 2000; ++i) {
    driver.add(i);
    ++counts[driver.asha.bracket_of(TrialId(i))];
  }
  // Three rungs against two: e^3 to e^2.
  CHECK(counts[0] > 1350);
  CHECK(counts[0] < 1570);
  Driver again({.max_t = 16, .reduction_factor = 4, .brackets = 2});
  again.add(5);
  CHECK(again.asha.bracket_of(TrialId(5)) == driver.asha.bracket_of(TrialId(5)));
}

TEST_CASE("the last result of a trial that ended by itself is entered") {
  Driver driver({.reduction_factor = 2});
  driver.add(0);
  const Metrics last{{"training_iteration", 1}, {"score", 0.9}};
  driver.asha.on_complete(TrialId(0), Ending::finished, &last);
  driver.next = 1;
  CHECK(!driver.goes_on(0.5));
}

TEST_CASE("impossible options are refused with the remedy") {
  CHECK(setup_error({.max_t = 0}).find("max_t") != std::string::npos);
  CHECK(setup_error({.max_t = 5, .grace_period = 6}).find("grace_period") != std::string::npos);
  CHECK(setup_error({.reduction_factor = 1}).find("reduction_factor") != std::string::npos);
  CHECK(setup_error({.brackets = 0}).find("brackets") != std::string::npos);
  CHECK(setup_error({.max_t = 10, .brackets = 5}).find("only 2") != std::string::npos);
  CHECK(setup_error({.reduction_factor = 1.001}).find("rungs") != std::string::npos);
  CHECK(setup_error({.max_t = nan}).find("max_t") != std::string::npos);
  CHECK(setup_error({}, "").find("TuneConfig.metric") != std::string::npos);
  CHECK(setup_error({.metric = "other"}).find("leave out AshaOptions.metric") != std::string::npos);
  CHECK(setup_error({.metric = "other"}, "") == "");
  CHECK(setup_error({.mode = static_cast<Mode>(2)}).find("Mode::min or Mode::max") !=
        std::string::npos);
}

TEST_CASE("a scheduler is made again from its stored options") {
  const Asha original({.max_t = 7, .strict = true, .mode = Mode::min});
  const auto copy = make_scheduler("asha", original.options());
  REQUIRE(copy.has_value());
  CHECK((*copy)->options() == original.options());
  CHECK(make_scheduler("fifo", Value()).has_value());
  CHECK(make_scheduler("mine", {}).error().message().find("RestoreOptions.scheduler") !=
        std::string::npos);
  CHECK(make_scheduler("asha", Map{{"max_t", "x"}}).error().code() == ErrorCode::corrupt);
  CHECK(make_scheduler("mine", Value()).error().code() == ErrorCode::not_found);
}

}  // namespace
}  // namespace troupe::tune
