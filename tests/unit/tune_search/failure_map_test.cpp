#include <troupe/tune/search/detail/failure_map.hpp>

#include <cmath>
#include <cstdint>

#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

using State = Observation::State;

/// A space with a number, a choice and a number that exists with its first value alone.
const Design& design() {
  static const Design made(
      {{"a", choice({"x", "y"})}, {"b", uniform(0, 1)}, {"c", when("a", {"x"}, uniform(0, 1))}});
  return made;
}

void add(History& history, const Point& point, State state) {
  const TrialId trial(static_cast<std::uint32_t>(history.size()));
  history.begin(trial, point, trial.value);
  if (state != State::running)
    history.finish(*history.find(trial), state);
}

TEST_CASE("without a failed trial, or without another one, nothing is near a failure") {
  History history;
  CHECK(FailureMap(design(), history).empty());
  add(history, {0, 0.5, 0.5}, State::failed);
  add(history, {0, 0.6, 0.5}, State::running);
  CHECK(FailureMap(design(), history).empty());
  CHECK(!FailureMap(design(), history).near({0, 0.5, 0.5}));
  add(history, {0, 0.1, 0.5}, State::complete);
  CHECK(!FailureMap(design(), history).empty());
}

TEST_CASE("most of the three nearest tell, failed ones from twice or half as far") {
  const auto near = [](int successes, int failures, double b) {
    History history;
    for (const double at : {0.2, 0.21})
      add(history, {0, at, 0.5}, State::complete);
    for (const double at : {0.8, 0.79})
      add(history, {0, at, 0.5}, State::failed);
    for (int i = 0; i < successes; ++i)
      add(history, {0, 0, 0}, State::complete);
    for (int i = 0; i < failures; ++i)
      add(history, {0, 1, 1}, State::failed);
    return FailureMap(design(), history).near({0, b, 0.5});
  };
  CHECK(near(20, 0, 0.65));
  CHECK(!near(20, 0, 0.55));
  CHECK(near(0, 10, 0.45));
  CHECK(!near(0, 10, 0.35));
}

TEST_CASE("one failed trial among others keeps nobody away") {
  History history;
  add(history, {0, 0.5, 0.5}, State::failed);
  for (const double at : {0.1, 0.2, 0.8, 0.9})
    add(history, {0, at, 0.5}, State::complete);
  CHECK(!FailureMap(design(), history).near({0, 0.5, 0.5}));
}

TEST_CASE("the nearest trial alone tells, too, however few fail") {
  History history;
  const auto failed = [&](double b) {
    return FailureMap(design(), history).nearest_failed({0, b, 0.5});
  };
  add(history, {0, 0.5, 0.5}, State::failed);
  CHECK(!failed(0.5));  // there is no other one
  for (const double at : {0.1, 0.2, 0.8, 0.9})
    add(history, {0, at, 0.5}, State::complete);
  CHECK(failed(0.5));
  CHECK(failed(0.36));
  CHECK(!failed(0.34));
  add(history, {0, 0.45, 0.5}, State::running);
  CHECK(failed(0.45));
}

TEST_CASE("another category is far away, and so is what does not exist") {
  History history;
  for (int i = 0; i < 3; ++i)
    add(history, {1, 0.5, std::nan("")}, State::failed);
  for (int i = 0; i < 3; ++i)
    add(history, {0, 0.1, 0.5}, State::complete);
  CHECK(!FailureMap(design(), history).near({0, 0.5, 0.5}));
  CHECK(FailureMap(design(), history).near({1, 0.1, std::nan("")}));
}

}  // namespace
}  // namespace troupe::tune::detail
