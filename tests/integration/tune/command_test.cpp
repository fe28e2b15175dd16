#include <troupe/serialization/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <tests/integration/tune/lab.hpp>
#include <tests/integration/tune/live_run.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/store_files.hpp>

using namespace troupe;
using namespace troupe::testing;

namespace {

/// `troupe` with arguments, below the lab's storage path.
ProgramResult command(const Lab& lab, std::vector<std::string> arguments) {
  ScratchFolder output("command");
  if (arguments[0] == "show" || arguments[0] == "doctor")
    arguments.insert(arguments.end(), {"--storage-path", lab.scratch.path().string()});
  return run_program("troupe", std::move(arguments), output.path());
}

tune::TunerOptions five_trials(const Lab& lab) {
  return {.param_space = {{"x", tune::grid_search({1, 2, 3, 4, 5})}},
          .tune_config = {.metric = "loss", .mode = Mode::min},
          .run_config = lab.run(Isolation::thread)};
}

}  // namespace

TEST_CASE("the command shows what became of an experiment") {
  Lab lab;
  (void)tune::Tuner(lab.runtime, "Quadratic", five_trials(lab)).fit();

  const auto list = command(lab, {"list", lab.scratch.path().string()});
  CHECK(list.exit_status == 0);
  CHECK_MESSAGE((has(list.out, "test") && has(list.out, "finished") && has(list.out, "loss=0")),
                list.out);

  const auto show = command(lab, {"show", "test"});
  CHECK(show.exit_status == 0);
  CHECK_MESSAGE(has(show.out, "5 TERMINATED"), show.out);
  CHECK(has(show.out, "Searcher: auto, scheduler: fifo"));
  CHECK_FALSE(has(show.out, "Deadlines"));
  CHECK(has(show.out, "Quadratic_00004"));
  CHECK(has(show.out, "Best so far: Quadratic_00002 with loss=0"));

  const auto by_path = command(lab, {"show", lab.dir().string()});
  CHECK(by_path.out == show.out);

  const auto trial = command(lab, {"show", "test", "--trial", "Quadratic_00003"});
  CHECK(trial.exit_status == 0);
  CHECK_MESSAGE(has(trial.out, "Ended by: done"), trial.out);
  CHECK(has(command(lab, {"show", "test", "--trial", "3"}).out, "Quadratic_00003"));
}

TEST_CASE("the command shows deadlines of user code where there are some") {
  Lab lab;
  auto options = five_trials(lab);
  options.run_config.failure_config.setup_timeout = std::chrono::minutes(20);
  (void)tune::Tuner(lab.runtime, "Quadratic", options).fit();
  const auto show = command(lab, {"show", "test"});
  CHECK_MESSAGE(has(show.out, "Deadlines: step_timeout none, setup_timeout 20 min"), show.out);
  const auto json = parse_json(command(lab, {"show", "test", "--json"}).out);
  REQUIRE(json.has_value());
  CHECK(json->as_map().at("step_timeout_s").is_null());
  CHECK(json->as_map().at("setup_timeout_s").as_double() == 1200);
}

TEST_CASE("the command speaks JSON to other programs") {
  Lab lab;
  (void)tune::Tuner(lab.runtime, "Quadratic", five_trials(lab)).fit();
  const auto show = command(lab, {"show", "test", "--json"});
  const auto parsed = parse_json(show.out);
  REQUIRE_MESSAGE(parsed.has_value(), show.out);
  const Map& map = parsed->as_map();
  CHECK(map.at("state").as_string() == "finished");
  CHECK(map.at("searcher").as_string() == "auto");
  CHECK(map.at("trials").as_list().size() == 5);
  CHECK(map.at("trials/2/state").as_string() == "TERMINATED");
  CHECK(map.at("trials/2/config/x").as_int() == 3);

  const auto trial = parse_json(command(lab, {"show", "test", "--trial", "2", "--json"}).out);
  REQUIRE(trial.has_value());
  CHECK(trial->as_map().at("results").as_list().size() == 5);
}

TEST_CASE("the command looks at a run without disturbing it") {
  Lab lab;
  auto options = five_trials(lab);
  options.param_space = {};
  options.run_config.isolation = Isolation::process;
  LiveRun live(lab, "Endless", options);
  REQUIRE(live.wait_for_results(10));
  for (int i = 0; i < 3; ++i) {
    const auto show = command(lab, {"show", "test"});
    CHECK_MESSAGE(show.exit_status == 0, show.err);
    CHECK_MESSAGE(has(show.out, "State: running (process "), show.out);
    CHECK(has(show.out, "1 RUNNING"));
    CHECK(has(command(lab, {"list", lab.scratch.path().string()}).out, "running"));
    CHECK(command(lab, {"doctor", "test"}).exit_status == 0);
    CHECK(command(lab, {"show", "test", "--trial", "0"}).exit_status == 0);
  }
  // A repair is refused while somebody writes.
  CHECK(command(lab, {"doctor", "test", "--accept-loss"}).exit_status == 1);
  const auto results = live.stop();
  CHECK(results.num_errors() == 0);
  CHECK(has(command(lab, {"show", "test"}).out, "State: interrupted: the test asks"));
}

TEST_CASE("list counts what runs, waits and is over, while it runs and after") {
  Lab lab;
  auto options = five_trials(lab);
  options.tune_config.max_concurrent_trials = 2;
  options.tune_config.num_samples = 1;
  const auto numbers = [&] {
    // name, state, planned, running, waiting, terminated, failed
    std::istringstream lines(command(lab, {"list", lab.scratch.path().string()}).out);
    std::string line;
    while (std::getline(lines, line) && !line.starts_with("test "))
      ;
    std::istringstream words(line);
    std::string word;
    std::string found;
    for (int i = 0; words >> word && i < 7; ++i)
      found += (i == 0 ? "" : " ") + word;
    return found;
  };
  LiveRun live(lab, "Endless", options);
  REQUIRE(live.wait_for_results(10));
  CHECK(numbers() == "test running 5 2 0 0 0");
  (void)live.stop();
  CHECK(numbers() == "test interrupted 5 0 2 0 0");
}

TEST_CASE("where a driver died, show and list say so alike, and no trial runs") {
  Lab lab;
  auto options = five_trials(lab);
  options.tune_config.max_concurrent_trials = 2;
  LiveRun live(lab, "Endless", options);
  REQUIRE(live.wait_for_results(10));
  // A copy has the files that a dead driver leaves, and nobody who runs it. The witness comes
  // first: what it promises is in the log.
  const auto died = lab.scratch.path() / "died";
  std::filesystem::create_directory(died);
  std::filesystem::copy_file(lab.dir() / "high_water", died / "high_water");
  std::filesystem::copy(lab.dir() / "store", died / "store",
                        std::filesystem::copy_options::recursive);
  (void)live.stop();

  const std::string shown = command(lab, {"show", "died"}).out;
  CHECK_MESSAGE(has(shown, "State: died: its process is gone"), shown);
  CHECK(has(shown, "2 PENDING"));
  CHECK(has(shown, "Resources: 0/"));
  CHECK_FALSE(has(shown, "RUNNING"));
  CHECK(has(command(lab, {"show", "died", "--trial", "0"}).out, "State: PENDING"));

  const auto show = parse_json(command(lab, {"show", "died", "--json"}).out);
  REQUIRE(show.has_value());
  CHECK(show->as_map().at("state") == Value("died"));
  CHECK(show->as_map().at("trials/0/state") == Value("PENDING"));
  const auto list = parse_json(command(lab, {"list", lab.scratch.path().string(), "--json"}).out);
  REQUIRE(list.has_value());
  const auto& lines = list->as_list();
  const auto line = std::find_if(lines.begin(), lines.end(), [](const Value& one) {
    return one.as_map().at("name") == Value("died");
  });
  REQUIRE(line != lines.end());
  CHECK(line->as_map().at("state") == Value("died"));
  CHECK(line->as_map().at("waiting") == Value(2));
}

TEST_CASE("show lists the checkpoints that are there") {
  Lab lab;
  auto run = lab.run(Isolation::thread);
  run.checkpoint_config = {.num_to_keep = 2, .checkpoint_frequency = 1};
  (void)tune::Tuner(lab.runtime, "Summing", {.param_space = {{"x", 1.5}}, .run_config = run}).fit();
  const std::string text = command(lab, {"show", "test", "--trial", "0"}).out;
  std::size_t listed = 0;
  for (std::size_t at = text.find("Checkpoint: "); at != std::string::npos;
       at = text.find("Checkpoint: ", at + 1))
    ++listed;
  CHECK_MESSAGE(listed == 2, text);
  CHECK_MESSAGE((has(text, "checkpoint_000004") && has(text, "checkpoint_000005")), text);
  CHECK_FALSE(has(text, "given up"));
  const auto trial = tune::ResultGrid::open(lab.dir())[0];
  std::filesystem::remove_all(trial.path / "checkpoint_000004");
  CHECK(has(command(lab, {"show", "test", "--trial", "0"}).out, "(its folder is gone)"));
}

TEST_CASE("following ends with the run") {
  Lab lab;
  ScratchFolder output("command");
  auto options = five_trials(lab);
  options.param_space = {};
  auto live = std::make_unique<LiveRun>(lab, "Endless", options);
  REQUIRE(live->wait_for_results(10));
  Program follower("troupe", {"show", lab.dir().string(), "--follow"}, output.path() / "out",
                   output.path() / "err");
  REQUIRE(eventually([&] {
    return has(read_file(output.path() / "out", 1 << 20).value_or(std::string()), "RUNNING");
  }));
  CHECK_FALSE(follower.ended());
  (void)live->stop();
  REQUIRE(eventually([&] { return follower.ended(); }));
  CHECK(follower.wait() == 0);
  CHECK_FALSE(has(*read_file(output.path() / "out", 1 << 20), "\x1b"));
}

TEST_CASE("what is not there is refused with close matches and its own exit status") {
  Lab lab;
  (void)tune::Tuner(lab.runtime, "Quadratic", five_trials(lab)).fit();
  const auto experiment = command(lab, {"show", "tset"});
  CHECK(experiment.exit_status == 3);
  CHECK_MESSAGE(has(experiment.err, "did you mean 'test'"), experiment.err);
  const auto trial = command(lab, {"show", "test", "--trial", "Quadratic_0003"});
  CHECK(trial.exit_status == 3);
  CHECK_MESSAGE(has(trial.err, "did you mean 'Quadratic_0000"), trial.err);
  CHECK(command(lab, {"list", (lab.scratch.path() / "nowhere").string()}).exit_status == 3);
  CHECK(command(lab, {"doctor", "tset"}).exit_status == 3);
  CHECK(command(lab, {"shwo"}).exit_status == 2);
  CHECK(command(lab, {"show", "test", "--json", "--follow"}).exit_status == 2);
}

TEST_CASE("list never cuts a name, takes the storage path as an option, and speaks JSON") {
  Lab lab;
  const std::string name(60, 'n');
  auto options = five_trials(lab);
  options.run_config.name = name;
  (void)tune::Tuner(lab.runtime, "Quadratic", options).fit();
  const auto list = command(lab, {"list", "--storage-path", lab.scratch.path().string()});
  CHECK_MESSAGE(has(list.out, name + ' '), list.out);
  const auto json = command(lab, {"list", "--json", lab.scratch.path().string()});
  const auto data = parse_json(json.out);
  REQUIRE_MESSAGE(data.has_value(), json.out);
  REQUIRE(data->as_list().size() == 1);
  CHECK(data->as_list()[0].as_map().at("name") == Value(name));
  CHECK(data->as_list()[0].as_map().at("best/score").is_number());
}

TEST_CASE("a command that there is not is named with close ones") {
  Lab lab;
  const auto wrong = command(lab, {"lst"});
  CHECK(wrong.exit_status == 2);
  CHECK_MESSAGE(has(wrong.err, "did you mean 'list'?"), wrong.err);
}

TEST_CASE("doctor tells damage by its exit status, and list lives with it") {
  Lab lab;
  (void)tune::Tuner(lab.runtime, "Quadratic", five_trials(lab)).fit();
  CHECK(command(lab, {"doctor", "test"}).exit_status == 0);
  std::ofstream(lab.dir() / "store" / "CURRENT", std::ios::trunc) << "";
  const auto damaged = command(lab, {"doctor", "test"});
  CHECK(damaged.exit_status == 4);
  CHECK_FALSE(damaged.out.empty());
  const auto list = command(lab, {"list", lab.scratch.path().string()});
  CHECK(list.exit_status == 0);
  CHECK_MESSAGE(has(list.out, "unreadable"), list.out);
}

TEST_CASE("results that are missing are never shown as if nothing had been") {
  Lab lab;
  (void)tune::Tuner(lab.runtime, "Quadratic", five_trials(lab)).fit();
  const auto log = newest_log(lab.dir());
  std::filesystem::resize_file(log, std::filesystem::file_size(log) / 2);
  const auto show = command(lab, {"show", "test"});
  CHECK(show.exit_status == 0);
  CHECK_MESSAGE(has(show.err, "were durable and are missing"), show.err);
  CHECK_MESSAGE(has(show.out, "damaged: see `troupe doctor`"), show.out);
  const auto json = parse_json(command(lab, {"show", "test", "--json"}).out);
  REQUIRE(json.has_value());
  CHECK(json->as_map().at("warnings").as_list().size() == 1);
  const auto list = command(lab, {"list", lab.scratch.path().string()});
  CHECK_MESSAGE(has(list.out, ", damaged"), list.out);
  CHECK(command(lab, {"doctor", "test"}).exit_status == 4);
}

TEST_CASE("a command whose output can not be written fails") {
  Lab lab;
  (void)tune::Tuner(lab.runtime, "Quadratic", five_trials(lab)).fit();
  const std::string storage = lab.scratch.path().string();
  const std::vector<std::vector<std::string>> commands{
      {"list", storage},
      {"show", "test", "--storage-path", storage},
      {"show", "test", "--json", "--storage-path", storage},
      {"show", "test", "--trial", "0", "--storage-path", storage},
      {"show", "test", "--follow", "--storage-path", storage},
      {"doctor", "test", "--storage-path", storage},
      {"version"},
      {"--version"},
      {"--help"}};
  ScratchFolder output("command");
  const auto errors = output.path() / "err";
  for (const auto& arguments : commands) {
    CAPTURE(arguments[0]);
    Program program("troupe", arguments, "/dev/full", errors);
    const int status = program.wait();
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 1);
    const std::string said = *read_file(errors, 1 << 20);
    CHECK_MESSAGE(has(said, "the output could not be written"), said);
    std::filesystem::remove(errors);
  }
}

TEST_CASE("versions are told for a bug report") {
  Lab lab;
  const auto versions = command(lab, {"version"});
  CHECK(versions.exit_status == 0);
  for (const char* name :
       {"troupe", "CAF", "RocksDB", "Boost", "OpenSSL", "compiler", "trial_row="})
    CHECK_MESSAGE(has(versions.out, name), versions.out);
}
