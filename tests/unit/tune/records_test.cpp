#include <troupe/tune/experiment_reader.hpp>
#include <troupe/tune/experiment_spec.hpp>

#include <limits>
#include <string>

#include <doctest/doctest.h>
#include <tests/support/example_event.hpp>

#include "loop_driver.hpp"

namespace troupe::tune {
namespace {

EventRecord example() {
  return example_event(Reported{WorkerId(3),
                                {TrialId(4), 1},
                                7,
                                9,
                                {{"loss", 0.5}},
                                true,
                                true,
                                LoopDriver::checkpoint(2, 9)});
}

TEST_CASE("every record reads back as it was written") {
  const std::string bytes = encode(example());
  const auto event = decode<EventRecord>(bytes);
  REQUIRE(event.has_value());
  CHECK(encode(*event) == bytes);
  CHECK(std::get<Reported>(event->body).checkpoint->number == 2);
  CHECK(event->decision.actions.size() == 8);
}

TEST_CASE("a specification keeps every choice") {
  ExperimentDefinition definition{
      .name = "e",
      .trainable = "T",
      .param_space = {{"x", uniform(0, 1)}},
      .tune_config = {.metric = "loss",
                      .mode = Mode::min,
                      .num_samples = 7,
                      .time_budget = std::chrono::minutes(2),
                      .reuse_actors = true,
                      .scheduler = asha({.max_t = 9}),
                      .seed = 11},
      .run_config = {.stop = metric("loss") <= 0.1,
                     .failure_config = {.max_failures = 3},
                     .checkpoint_config = {.num_to_keep = 2, .checkpoint_frequency = 4}}};
  const auto spec = make_spec(definition).value_or_throw();
  const auto back = decode<ExperimentSpec>(encode(spec)).value_or_throw();
  CHECK(encode(back) == encode(spec));
  CHECK(back.num_samples == 7U);
  CHECK(back.scheduler == "asha");
  CHECK(back.scheduler_options == spec.scheduler_options);
  CHECK(back.stop == spec.stop);
  CHECK(ParamSpace::from_value(back.param_space).value_or_throw() == definition.param_space);
}

TEST_CASE("damage in any byte of an event is noticed") {
  const std::string bytes = encode(example());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
    CHECK(!decode<EventRecord>(damaged).has_value());
  }
}

TEST_CASE("the reader finds trials, results in order, and the last result without a scan") {
  ExperimentDefinition definition;
  definition.tune_config.num_samples = 2;
  LoopDriver driver(definition, 2);
  for (int i = 1; i <= 100; ++i)
    driver.report(0, {{"loss", i}});
  CHECK(read_spec(driver.journal).value_or_throw().trainable == "T");
  CHECK(read_trials(driver.journal).value_or_throw().size() == 2);
  CHECK(driver.row(0).iteration == 0);  // the row is written when the state changes
  const auto last = read_last_result(driver.journal, driver.row(0)).value_or_throw();
  CHECK(last->iteration == 100);
  CHECK(last->metrics.at("loss") == Value(100));
  CHECK(!read_last_result(driver.journal, driver.row(1)).value_or_throw());
  std::uint64_t next = 51;
  for_each_result(driver.journal, TrialId(0), 50, [&](const TrialResult& result) {
    CHECK(result.iteration == next++);
    return next <= 60;
  }).value_or_throw();
  CHECK(next == 61);
  CHECK(read_trial(driver.journal, TrialId(9)).error().code() == ErrorCode::not_found);
}

TEST_CASE("what is not there is said to be missing") {
  const MemoryJournal empty;
  CHECK(read_spec(empty).error().code() == ErrorCode::not_found);
  CHECK(read_status(empty).error().code() == ErrorCode::not_found);
  CHECK(read_trials(empty).value_or_throw().empty());
}

}  // namespace
}  // namespace troupe::tune
