#include <troupe/runtime/store/doctor.hpp>
#include <troupe/runtime/store/keys.hpp>
#include <troupe/runtime/store/store.hpp>
#include <troupe/tune/search/random_search.hpp>

#include <functional>
#include <numeric>
#include <sstream>

#include <tests/integration/tune/lab.hpp>
#include <tests/integration/tune/live_run.hpp>

using namespace troupe;
using namespace troupe::testing;

namespace {

tune::TunerOptions endless(const Lab& lab, Isolation isolation) {
  auto run = lab.run(isolation);
  run.stop = tune::max_iterations(100'000'000);
  run.result_files = true;
  run.checkpoint_config.checkpoint_at_end = true;
  return {.tune_config = {.metric = "loss", .mode = Mode::min, .num_samples = 3},
          .run_config = run};
}

/// Fails in the first attempt only.
tune::ResultGrid failed_once(Lab& lab, Isolation isolation) {
  return tune::Tuner(lab.runtime, "counting",
                     {.param_space = {{"to", 5}, {"fail_at", 3}}, .run_config = lab.run(isolation)})
      .fit();
}

/// As an earlier version might have written it.
void change_spec(const std::filesystem::path& dir,
                 const std::function<void(tune::ExperimentSpec&)>& change) {
  auto store = open_store({.experiment_dir = dir}).value_or_throw();
  auto spec = tune::read_spec(*store.journal).value_or_throw();
  change(spec);
  WriteSet older{encode(tune::EventRecord{.body = tune::RowsRestored{}}), {}};
  older.rows.push_back({Table::experiment, std::string(keys::experiment_spec), encode(spec)});
  store.journal->append({&older, 1}).value_or_throw();
  store.journal->close().value_or_throw();
}

}  // namespace

TEST_CASE("a run that is asked to stop leaves its trials unfinished, with a checkpoint") {
  for (const Isolation isolation : isolations) {
    CAPTURE(static_cast<int>(isolation));
    Lab lab;
    LiveRun live(lab, "Endless", endless(lab, isolation));
    REQUIRE(live.wait_for_results(20));
    const auto results = live.stop();
    CHECK(results.interrupted());
    CHECK(results.state() == tune::ExperimentState::interrupted);
    CHECK(has(results.message(), "the test asks"));
    CHECK(results.num_terminated() == 0);
    for (const auto& trial : results) {
      CHECK(trial.state == tune::TrialState::pending);
      if (trial.iteration > 0)
        CHECK(trial.checkpoint.has_value());
    }
  }
}

TEST_CASE("an interrupted experiment goes on where it was, also after it was moved") {
  for (const Isolation isolation : isolations) {
    CAPTURE(static_cast<int>(isolation));
    Lab lab;
    std::vector<std::uint64_t> before;
    {
      LiveRun live(lab, "Endless", endless(lab, isolation));
      REQUIRE(live.wait_for_results(20));
      const auto stopped = live.stop();
      for (const auto& trial : stopped)
        before.push_back(trial.iteration);
    }
    const auto moved = lab.scratch.path() / "elsewhere";
    std::filesystem::rename(lab.dir(), moved);
    CHECK_FALSE(tune::Tuner::can_restore(lab.dir()));
    CHECK(tune::Tuner::can_restore(moved));

    auto tuner = tune::Tuner::restore(lab.runtime, moved);
    CHECK(tuner.get_results().interrupted());
    LiveRun again(std::move(tuner), moved);
    REQUIRE(
        again.wait_for_results(std::accumulate(before.begin(), before.end(), std::uint64_t{20})));
    const auto results = again.stop();
    CHECK(results.experiment_path() == moved);
    for (std::size_t i = 0; i < before.size(); ++i) {
      CHECK(results[i].iteration >= before[i]);
      const auto history = results.metrics_history(results[i].id);
      for (std::size_t n = 0; n < history.size(); ++n)
        CHECK(history[n].at("loss").as_double() == 1.0 / static_cast<double>(n + 1));
      const std::string json = *read_file(results[i].path / "result.json", 64 << 20);
      CHECK(static_cast<std::size_t>(std::count(json.begin(), json.end(), '\n')) == history.size());
    }
  }
}

TEST_CASE("a run that goes on keeps no file that it has replaced") {
  Lab lab;
  {
    LiveRun live(lab, "Endless", endless(lab, Isolation::thread));
    REQUIRE(live.wait_for_results(20));
    (void)live.stop();
  }
  auto tuner = tune::Tuner::restore(lab.runtime, lab.dir());
  REQUIRE(tuner.get_results().size() > 0);  // opens a view of before the run
  LiveRun again(std::move(tuner), lab.dir());
  REQUIRE(again.wait_for_results(30));
  // Opening for writing moved the log into table files: whoever still has it open keeps its space.
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
    CHECK_FALSE_MESSAGE((target.starts_with(lab.dir().string()) && has(target, "(deleted)")),
                        target);
  }
  (void)again.stop();
}

TEST_CASE("unfinished trials can be given up") {
  Lab lab;
  {
    // One trial: what the search has not created yet would still be run, without end.
    auto options = endless(lab, Isolation::thread);
    options.tune_config.num_samples = 1;
    LiveRun live(lab, "Endless", options);
    REQUIRE(live.wait_for_results(5));
    (void)live.stop();
  }
  const auto results =
      tune::Tuner::restore(lab.runtime, lab.dir(), {.resume_unfinished = false}).fit();
  CHECK_FALSE(results.interrupted());
  for (const auto& trial : results)
    CHECK(trial.state == tune::TrialState::terminated);
}

TEST_CASE("a failed trial can be gone on with") {
  for (const Isolation isolation : isolations) {
    Lab lab;
    CHECK(failed_once(lab, isolation).num_errors() == 1);
    const auto results =
        tune::Tuner::restore(lab.runtime, lab.dir(), {.resume_errored = true}).fit();
    REQUIRE(results.size() == 1);
    CHECK(results.num_errors() == 0);
    CHECK(results[0].state == tune::TrialState::terminated);
    CHECK(results[0].iteration == 5);
    CHECK(results.metrics_history(results[0].id).size() == 5);
  }
}

TEST_CASE("a failed trial can be begun again as a new one") {
  Lab lab;
  (void)failed_once(lab, Isolation::thread);
  const auto results =
      tune::Tuner::restore(lab.runtime, lab.dir(), {.restart_errored = true}).fit();
  REQUIRE(results.size() == 2);
  CHECK(results[0].state == tune::TrialState::error);
  CHECK(results[1].config == results[0].config);
}

TEST_CASE("by default a failed trial is left as it is, and a finished experiment stays finished") {
  Lab lab;
  (void)failed_once(lab, Isolation::thread);
  const auto results = tune::Tuner::restore(lab.runtime, lab.dir()).fit();
  CHECK(results.size() == 1);
  CHECK(results.num_errors() == 1);
  CHECK_FALSE(results.interrupted());
}

TEST_CASE("a restore refuses what does not fit, and changes nothing") {
  Lab lab;
  (void)failed_once(lab, Isolation::thread);
  check_throws(ErrorCode::not_found, "nowhere",
               [&] { (void)tune::Tuner::restore(lab.runtime, lab.dir("nowhere")); });
  check_throws(ErrorCode::failed_precondition, "counting", [&] {
    (void)tune::Tuner::restore(lab.runtime, lab.dir(), {.trainable = "Quadratic"});
  });
  check_throws(ErrorCode::invalid_argument, "restart_errored", [&] {
    (void)tune::Tuner::restore(lab.runtime, lab.dir(),
                               {.resume_errored = true, .restart_errored = true});
  });
  check_throws(ErrorCode::failed_precondition, "asha", [&] {
    (void)tune::Tuner::restore(lab.runtime, lab.dir(), {.scheduler = tune::asha()}).fit();
  });
  CHECK_FALSE(std::filesystem::exists(lab.dir("nowhere")));
  CHECK(tune::ResultGrid::open(lab.dir()).num_errors() == 1);
}

TEST_CASE("rows that a repair dropped are there again after a restore") {
  Lab lab;
  auto run = lab.run(Isolation::thread);
  run.checkpoint_config = {.num_to_keep = 1, .checkpoint_frequency = 2};
  tune::TunerOptions options{.param_space = {{"x", tune::grid_search({1, 2, 3, 4, 5})}},
                             .run_config = run};
  (void)tune::Tuner(lab.runtime, "Summing", options).fit();
  const auto table = [&] {
    std::ostringstream text;
    for (const auto& trial : tune::ResultGrid::open(lab.dir()))
      text << trial << ", checkpoint " << trial.checkpoint.value().directory().filename().string()
           << '\n';
    return text.str();
  };
  const std::string before = table();
  {
    // The result of a finished trial points nowhere.
    auto store = open_store({.experiment_dir = lab.dir()}).value_or_throw();
    const std::string nonsense = encode(EventPointer{Sequence(99'999)});
    WriteSet damage{encode(tune::EventRecord{.body = tune::RowsRestored{}}), {}};
    damage.rows.push_back({Table::results, keys::result_key(TrialId(1), 4), nonsense});
    store.journal->append({&damage, 1}).value_or_throw();
    store.journal->close().value_or_throw();
  }
  const auto repaired = run_doctor(lab.dir(), {.accept_loss = true}).value_or_throw();
  REQUIRE(repaired.repair.has_value());
  CHECK(repaired.repair->dropped_rows == 1);
  CHECK(tune::ResultGrid::open(lab.dir()).metrics_history(TrialId(1)).size() == 3);

  (void)tune::Tuner::restore(lab.runtime, lab.dir()).fit();
  CHECK(tune::ResultGrid::open(lab.dir()).metrics_history(TrialId(1)).size() == 6);
  CHECK(table() == before);
  CHECK(run_doctor(lab.dir()).value_or_throw().healthy());
}

TEST_CASE("two runs of one experiment at a time are refused") {
  Lab lab;
  LiveRun live(lab, "Endless", endless(lab, Isolation::thread));
  REQUIRE(live.wait_for_results(5));
  auto second = tune::Tuner::restore(lab.runtime, lab.dir());
  check_throws(ErrorCode::unavailable, "", [&] { (void)second.fit(); });
  CHECK(live.stop().interrupted());
}

/// An earlier version allowed what `what` begins to say; the error tells the folder and a way out.
void check_refused_by_now(Lab& lab, const std::string& what) {
  auto tuner = tune::Tuner::restore(lab.runtime, lab.dir());
  for (const std::string& part :
       {"the experiment in '" + lab.dir().string() +
            "' was made by a version that allowed what this one refuses: " + what,
        std::string("It cannot go on: start it anew")})
    check_throws(ErrorCode::invalid_argument, part, [&] { (void)tuner.fit(); });
}

TEST_CASE("an experiment whose space is refused by now says so, and its results are of use") {
  Lab lab;
  const auto options = [&](const std::string& name) {
    return tune::TunerOptions{
        .param_space = {{"to", 2}, {"x", tune::uniform(0, 1)}, {"k", tune::choice({"a", "b"})}},
        .tune_config = {.metric = "count", .mode = Mode::max, .num_samples = 3},
        .run_config = lab.run(Isolation::thread, name)};
  };
  REQUIRE(tune::Tuner(lab.runtime, "counting", options("test")).fit().num_terminated() == 3);
  change_spec(lab.dir(), [](tune::ExperimentSpec& spec) {
    spec.param_space =
        tune::ParamSpace{
            {"to", 2}, {"x", tune::uniform(0, 1)}, {"k", tune::choice({"a", "a", "b"})}}
            .to_value();
  });
  check_refused_by_now(lab, "param_space, key 'k'");

  auto anew = options("anew");
  anew.tune_config.known_results = tune::ResultGrid::open(lab.dir()).known_results();
  CHECK(anew.tune_config.known_results.size() == 3);
  CHECK(tune::Tuner(lab.runtime, "counting", anew).fit().num_terminated() == 3);
}

TEST_CASE("points to evaluate that are refused by now are told with the folder") {
  Lab lab;
  tune::ParamSpace space{{"to", 2}, {"x", tune::uniform(0, 1)}, {"y", tune::uniform(0, 1)}};
  space.require(tune::less("x", "y"));
  REQUIRE(tune::Tuner(lab.runtime, "counting",
                      {.param_space = space,
                       .tune_config = {.metric = "count",
                                       .mode = Mode::max,
                                       .num_samples = 3,
                                       .search_alg = tune::random_search()},
                       .run_config = lab.run(Isolation::thread, "test")})
              .fit()
              .num_terminated() == 3);
  change_spec(lab.dir(), [](tune::ExperimentSpec& spec) {
    spec.points_to_evaluate = {{{"x", 1 - 1e-12}}};
  });
  check_refused_by_now(lab, "points_to_evaluate[0]: ");
}
