#include <troupe/runtime/store/store.hpp>

#include <tests/integration/tune/lab.hpp>

using namespace troupe;
using namespace troupe::testing;

namespace {

/// Nothing may have been made below the storage path.
void check_untouched(const Lab& lab) {
  CHECK(std::filesystem::is_empty(lab.scratch.path()));
}

tune::TunerOptions options(const Lab& lab) {
  return {.param_space = {{"x", tune::uniform(0, 1)}}, .run_config = lab.run(Isolation::thread)};
}

}  // namespace

TEST_CASE("an unknown trainable is refused with close matches, before anything is made") {
  Lab lab;
  check_throws(ErrorCode::not_found, "Quadratic",
               [&] { (void)tune::Tuner(lab.runtime, "Quadratik", options(lab)).fit(); });
  check_untouched(lab);
}

TEST_CASE("more memory than there is, and less than a worker needs, is refused at once") {
  Lab lab;
  auto bad = options(lab);
  bad.run_config.isolation = Isolation::process;
  bad.run_config.resources_per_trial.memory_bytes = std::uint64_t{91} << 40;
  check_throws(ErrorCode::invalid_argument, "asks for 91 TiB of memory, but there is a total of",
               [&] { (void)tune::Tuner(lab.runtime, "Quadratic", bad).fit(); });
  bad.run_config.resources_per_trial.memory_bytes = 1'000'000;
  check_throws(ErrorCode::invalid_argument, "a worker needs 32 MiB to start",
               [&] { (void)tune::Tuner(lab.runtime, "Quadratic", bad).fit(); });
  check_untouched(lab);
}

TEST_CASE("a worker starts with the least memory that may be asked for") {
  Lab lab;
  auto run = lab.run(Isolation::process);
  run.resources_per_trial.memory_bytes = tune::least_worker_memory;
  const auto results = tune::Tuner(lab.runtime, "Quadratic",
                                   {.param_space = {{"x", 1}},
                                    .tune_config = {.num_samples = 2, .reuse_actors = true},
                                    .run_config = run})
                           .fit();
  CHECK_MESSAGE(results.num_terminated() == 2, results[0]);
}

TEST_CASE("a trial that can never run is refused at once, naming resource, request and total") {
  Lab lab;
  auto bad = options(lab);
  bad.run_config.resources_per_trial.cpus = 64;
  try {
    (void)tune::Tuner(lab.runtime, "Quadratic", bad).fit();
    FAIL("no exception");
  } catch (const Exception& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    const std::string& text = error.error().message();
    CHECK_MESSAGE((has(text, "CPU") && has(text, "64") && has(text, "2")), text);
  }
  check_untouched(lab);
}

TEST_CASE("settings that can not be right are refused with the name of the field") {
  Lab lab;
  auto bad = options(lab);
  SUBCASE("num_samples") {
    bad.tune_config.num_samples = 0;
  }
  SUBCASE("max_failures") {
    bad.run_config.failure_config.max_failures = -2;
  }
  SUBCASE("empty range") {
    bad.param_space = {{"x", tune::uniform(1, 0)}};
  }
  SUBCASE("name") {
    bad.run_config.name = "a/b";
  }
  check_throws(ErrorCode::invalid_argument, "",
               [&] { (void)tune::Tuner(lab.runtime, "Quadratic", bad).fit(); });
  check_untouched(lab);
}

TEST_CASE("a name that is taken is refused and what is there is not touched") {
  Lab lab;
  (void)tune::Tuner(lab.runtime, "Quadratic", options(lab)).fit();
  check_throws(ErrorCode::already_exists, "Tuner::restore",
               [&] { (void)tune::Tuner(lab.runtime, "Quadratic", options(lab)).fit(); });
  CHECK(tune::ResultGrid::open(lab.dir()).size() == 1);
}

TEST_CASE("without a name an experiment is called after its trainable and the date") {
  Lab lab;
  auto unnamed = options(lab);
  unnamed.run_config.name.clear();
  const auto first = tune::Tuner(lab.runtime, "Quadratic", unnamed).fit();
  const auto second = tune::Tuner(lab.runtime, "Quadratic", unnamed).fit();
  CHECK(first.experiment_path().filename().string().starts_with("Quadratic_20"));
  CHECK(first.experiment_path() != second.experiment_path());
}

TEST_CASE("fit runs once, and results are there only after it") {
  Lab lab;
  tune::Tuner tuner(lab.runtime, "Quadratic", options(lab));
  check_throws(ErrorCode::failed_precondition, "fit()", [&] { (void)tuner.get_results(); });
  (void)tuner.fit();
  CHECK(tuner.get_results().size() == 1);
  check_throws(ErrorCode::failed_precondition, "restore", [&] { (void)tuner.fit(); });
}

TEST_CASE("a fit that was refused may be tried again once the cause is gone") {
  Lab lab;
  (void)tune::Tuner(lab.runtime, "Quadratic", options(lab)).fit();
  tune::Tuner tuner(lab.runtime, "Quadratic", options(lab));
  for (int i = 0; i < 2; ++i)
    check_throws(ErrorCode::already_exists, lab.dir().string(), [&] { (void)tuner.fit(); });
  std::filesystem::remove_all(lab.dir());
  CHECK(tuner.fit().size() == 1);
  check_throws(ErrorCode::failed_precondition, "restore(runtime, \"" + lab.dir().string(),
               [&] { (void)tuner.fit(); });
}

TEST_CASE("the seed that nobody gave is drawn and stored") {
  Lab lab;
  auto first = options(lab);
  const auto one = tune::Tuner(lab.runtime, "Quadratic", first).fit();
  first.run_config.name = "again";
  first.tune_config.seed = one.spec().seed;
  const auto two = tune::Tuner(lab.runtime, "Quadratic", first).fit();
  CHECK(one[0].config == two[0].config);
}

TEST_CASE("a store that was made and never used is no experiment and in nobody's way") {
  Lab lab;
  std::filesystem::create_directories(lab.dir());
  {
    auto store = open_store({.experiment_dir = lab.dir(), .mode = OpenMode::create});
    REQUIRE(store.has_value());
    REQUIRE(store->journal->close().has_value());
  }
  CHECK_FALSE(tune::Tuner::can_restore(lab.dir()));
  CHECK(tune::Tuner(lab.runtime, "Quadratic", options(lab)).fit().size() == 1);
  CHECK(tune::Tuner::can_restore(lab.dir()));
}
