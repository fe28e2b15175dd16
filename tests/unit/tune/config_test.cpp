#include <troupe/tune/experiment_spec.hpp>
#include <troupe/tune/search/basic_variant.hpp>
#include <troupe/tune/search/brute_force.hpp>
#include <troupe/tune/search/wrappers.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <doctest/doctest.h>

namespace troupe::tune {
namespace {

std::string error_of(const Status& status) {
  return status ? "" : status.error().message();
}

std::string spec_error(ExperimentDefinition definition) {
  const auto spec = make_spec(definition);
  return spec ? "" : spec.error().message();
}

TEST_CASE("the defaults are fine") {
  CHECK(error_of(check(TuneConfig{})) == "");
  CHECK(error_of(check(RunConfig{}, false)) == "");
  CHECK(spec_error({.name = "e", .trainable = "T"}) == "");
}

TEST_CASE("impossible numbers of the tune configuration are refused by name") {
  CHECK(error_of(check(TuneConfig{.num_samples = 0})).find("num_samples: it is 0") !=
        std::string::npos);
  CHECK(error_of(check(TuneConfig{.num_samples = -2})).find("num_samples") != std::string::npos);
  CHECK(error_of(check(TuneConfig{.num_samples = -1})) == "");
  CHECK(error_of(check(TuneConfig{.max_concurrent_trials = 0})).find("max_concurrent_trials") !=
        std::string::npos);
  CHECK(error_of(check(TuneConfig{.time_budget = Duration(0)})).find("time_budget") !=
        std::string::npos);
  CHECK(error_of(check(TuneConfig{.mode = static_cast<Mode>(7)})).find("mode") !=
        std::string::npos);
  CHECK(error_of(check(TuneConfig{.metric = "loss",
                                  .more_objectives = {{"size", static_cast<Mode>(7)}}}))
            .find("TuneConfig.more_objectives: the mode of the metric 'size' is 7") !=
        std::string::npos);
  CHECK(error_of(
            check(RunConfig{.checkpoint_config = {.checkpoint_score_order = static_cast<Mode>(7)}},
                  false))
            .find("checkpoint_score_order") != std::string::npos);
}

TEST_CASE("without num_samples there is one, or all of them with a search that enumerates") {
  const auto samples = [](std::shared_ptr<Searcher> searcher, std::optional<std::int64_t> asked) {
    ExperimentDefinition definition{.name = "e", .trainable = "T"};
    definition.param_space = {{"n", randint(0, 5)}};
    definition.tune_config.search_alg = std::move(searcher);
    definition.tune_config.num_samples = asked;
    return make_spec(definition).value_or_throw().num_samples;
  };
  CHECK(samples(nullptr, std::nullopt) == 1U);
  CHECK(samples(basic_variant(), std::nullopt) == 1U);
  CHECK(samples(brute_force(), std::nullopt) == std::nullopt);
  CHECK(samples(concurrency_limiter(brute_force(), {.max_concurrent = 2}), std::nullopt) ==
        std::nullopt);
  CHECK(samples(brute_force(), 1) == 1U);
  CHECK(samples(brute_force(), 3) == 3U);
  CHECK(samples(basic_variant(), -1) == std::nullopt);
}

TEST_CASE("resources that cannot be counted or are too little to start with are refused by name") {
  const auto error = [](ResourceRequest request) {
    return error_of(check(RunConfig{.resources_per_trial = request}, false));
  };
  CHECK(error({.cpus = 0.00001}).find("resources_per_trial.cpus: a trial asks for less than") !=
        std::string::npos);
  CHECK(error({.cpus = -1}).find("resources_per_trial.cpus") != std::string::npos);
  CHECK(error({.cpus = 0.0001}) == "");
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{1'000'000}})
    CHECK(error({.memory_bytes = bytes}).find("a worker needs 32 MiB to start") !=
          std::string::npos);
  CHECK(error({.memory_bytes = least_worker_memory}) == "");
}

TEST_CASE("objectives without a first one, and nameless metrics, are refused by name") {
  CHECK(error_of(check(TuneConfig{.more_objectives = {{"size", Mode::min}}}))
            .find("more_objectives: set TuneConfig.metric") != std::string::npos);
  CHECK(error_of(check(TuneConfig{.metric = "a", .more_objectives = {{"a", Mode::min}}}))
            .find("'a' is an objective twice") != std::string::npos);
  CHECK(error_of(check(TuneConfig{.metric = "a", .more_objectives = {{"", Mode::min}}}))
            .find("more_objectives") != std::string::npos);
  CHECK(error_of(check(TuneConfig{.constraints = {""}})).find("constraints") != std::string::npos);
  CHECK(error_of(check(TuneConfig{.constraints = {"a", "a"}})).find("'a' is a constraint twice") !=
        std::string::npos);
}

TEST_CASE("points to evaluate that the space does not know are refused by place") {
  const auto error = [](Config point) {
    ExperimentDefinition definition{.name = "e", .trainable = "T"};
    definition.param_space = {{"x", uniform(0, 1)}, {"n", {{"k", randint(0, 5)}, {"c", 3}}}};
    definition.tune_config.points_to_evaluate = {{}, std::move(point)};
    return spec_error(definition);
  };
  CHECK(error({{"x", 0.5}, {"n", Map{{"k", 2}}}}) == "");
  CHECK(error({{"y", 0.5}}).find("points_to_evaluate[1]: param_space has no parameter 'y'") !=
        std::string::npos);
  CHECK(error({{"x", 1}}) == "");
  CHECK(error({{"x", "1"}}).find("a number is wanted") != std::string::npos);
  CHECK(error({{"n", Map{{"k", 2.0}}}}).find("types count") != std::string::npos);
  CHECK(error({{"n", Map{{"k", 7}}}}).find("n/k = 7: it does not lie in randint(0, 5)") !=
        std::string::npos);
  CHECK(error({{"n", Map{{"c", 4}}}}).find("it is always 3") != std::string::npos);
}

TEST_CASE("points and known results are stored in the form of the space") {
  ExperimentDefinition definition{.name = "e", .trainable = "T"};
  definition.param_space = {{"x", uniform(0, 4)}, {"y", quniform(0, 1, 0.1)}};
  definition.tune_config.points_to_evaluate = {{{"x", 3}, {"y", 0.3}}};
  definition.tune_config.known_results = {{.config = {{"x", 2}, {"y", 1}}}, {.config = {{"x", 2}}}};
  const auto spec = make_spec(definition).value_or_throw();
  CHECK(spec.points_to_evaluate == std::vector<Config>{{{"x", 3.0}, {"y", 3 * 0.1}}});
  REQUIRE(spec.known_results.size() == 1);
  CHECK(spec.known_results[0].config == Config{{"x", 2.0}, {"y", 1.0}});
}

TEST_CASE("a value that would not be tried is refused, a known result of another search left out") {
  ExperimentDefinition definition{.name = "e", .trainable = "T"};
  definition.param_space = {{"k", choice({"a", "b"})}, {"n", when("k", {"b"}, randint(0, 9))}};
  definition.param_space.forbid({{"n", 3}});
  TuneConfig& tune = definition.tune_config;
  tune.metric = "loss";
  tune.constraints = {"memory"};
  tune.points_to_evaluate = {{{"k", "b"}, {"n", 1}}, {{"k", "a"}, {"n", 1}}};
  CHECK(
      spec_error(definition).find("TuneConfig.points_to_evaluate[1]: 'n' exists only where 'k'") !=
      std::string::npos);
  tune.points_to_evaluate.pop_back();
  const Metrics whole{{"loss", 1}, {"memory", 0}};
  tune.known_results = {{.config = {{"k", "b"}, {"n", 2}}, .metrics = whole},
                        {.config = {{"k", "b"}, {"n", 3}}, .metrics = whole},
                        {.config = {{"k", "b"}, {"n", 4}}, .metrics = {{"loss", 1}}}};
  const auto spec = make_spec(definition).value_or_throw();
  REQUIRE(spec.known_results.size() == 1);
  CHECK(spec.known_results[0].config.at("n") == Value(2));
}

TEST_CASE("impossible failure handling is refused by name") {
  const auto error = [](FailureConfig config) {
    return error_of(check(RunConfig{.failure_config = config}, false));
  };
  CHECK(error({.max_failures = -2}).find("max_failures") != std::string::npos);
  CHECK(error({.max_failures = 1, .fail_fast = true}).find("fail_fast") != std::string::npos);
  CHECK(error({.max_failures = -1, .fail_fast = true}).find("fail_fast") != std::string::npos);
  CHECK(error({.fail_fast = true}) == "");
  CHECK(error({.max_infrastructure_failures = -3}).find("infrastructure") != std::string::npos);
  CHECK(error({.step_timeout = Duration(-1)}).find("step_timeout") != std::string::npos);
  CHECK(error({.setup_timeout = Duration(0)}).find("setup_timeout") != std::string::npos);
}

TEST_CASE("impossible checkpoint handling is refused by name") {
  const auto error = [](CheckpointConfig config, bool is_function) {
    return error_of(check(RunConfig{.checkpoint_config = config}, is_function));
  };
  CHECK(error({.num_to_keep = 0}, false).find("num_to_keep: it is 0") != std::string::npos);
  CHECK(error({.checkpoint_frequency = -1}, false).find("frequency") != std::string::npos);
  CHECK(error({.checkpoint_frequency = 1}, true).find("report()") != std::string::npos);
  CHECK(error({.checkpoint_at_end = true}, true).find("report()") != std::string::npos);
  CHECK(error({.checkpoint_at_end = false}, true) == "");
}

TEST_CASE("checkpoints of a trainable that cannot save are refused before anything runs") {
  const auto error = [](CheckpointConfig config) {
    return error_of(check(RunConfig{.checkpoint_config = config}, false, false));
  };
  CHECK(error({.checkpoint_frequency = 1}).find("override save_checkpoint") != std::string::npos);
  CHECK(error({.checkpoint_at_end = true}).find("override save_checkpoint") != std::string::npos);
  CHECK(error({.num_to_keep = 2}) == "");
}

TEST_CASE("what only a process can do is refused for threads") {
  CHECK(error_of(check(RunConfig{.isolation = Isolation::thread,
                                 .resources_per_trial = {.memory_bytes = 1}},
                       false))
            .find("memory_bytes") != std::string::npos);
  CHECK(error_of(check(RunConfig{.isolation = Isolation::thread, .log_to_file = true}, false))
            .find("log_to_file") != std::string::npos);
  CHECK(error_of(check(RunConfig{.resources_per_trial = {.cpus = -1}}, false)).find("cpus") !=
        std::string::npos);
  CHECK(error_of(check(RunConfig{.verbose = 3}, false)).find("verbose") != std::string::npos);
}

TEST_CASE("trials without resources need another limit") {
  ExperimentDefinition free{.name = "e", .trainable = "T"};
  free.run_config.resources_per_trial.cpus = 0;
  CHECK(spec_error(free).find("max_concurrent_trials") != std::string::npos);
  free.tune_config.max_concurrent_trials = 4;
  CHECK(spec_error(free) == "");
}

TEST_CASE("errors of space, stop and scheduler come before anything is written") {
  CHECK(spec_error({.param_space = {{"x", uniform(2, 1)}}}).find("key 'x'") != std::string::npos);
  CHECK(spec_error({.run_config = {.stop = max_iterations(0)}}).find("RunConfig.stop") !=
        std::string::npos);
  CHECK(spec_error({.tune_config = {.scheduler = asha()}}).find("TuneConfig.metric") !=
        std::string::npos);
}

TEST_CASE("the end is saved when the trainable saves at all, unless told otherwise") {
  const auto at_end = [](CheckpointConfig config) {
    return make_spec({.name = "e", .run_config = {.checkpoint_config = config}})
        .value_or_throw()
        .checkpoint_at_end;
  };
  CHECK(!at_end({}));
  CHECK(at_end({.checkpoint_frequency = 2}));
  CHECK(!at_end({.checkpoint_frequency = 2, .checkpoint_at_end = false}));
  CHECK(at_end({.checkpoint_at_end = true}));
}

TEST_CASE("the seed of the user wins over the drawn one") {
  CHECK(make_spec({.name = "e", .seed = 5}).value_or_throw().seed == 5);
  CHECK(make_spec({.name = "e", .tune_config = {.seed = 9}, .seed = 5}).value_or_throw().seed == 9);
}

TEST_CASE("who names no searcher gets the one that chooses") {
  CHECK(make_spec({.name = "e"}).value_or_throw().searcher == "auto");
  CHECK(make_spec({.name = "e", .tune_config = {.search_alg = basic_variant()}})
            .value_or_throw()
            .searcher == "basic_variant");
}

TEST_CASE("an algorithm of another kind than the stored one is refused") {
  const auto spec = make_spec({.name = "e", .tune_config = {.metric = "m"}}).value_or_throw();
  const Asha other;
  const auto scheduler = scheduler_for(spec, &other);
  REQUIRE(!scheduler.has_value());
  CHECK(scheduler.error().message().find("'fifo', but 'asha'") != std::string::npos);
  CHECK(scheduler_for(spec, nullptr).has_value());
  CHECK(searcher_for(spec, search_context(spec).value_or_throw(), nullptr).has_value());
}

}  // namespace
}  // namespace troupe::tune
