#include <troupe/tune/report/progress_board.hpp>

#include <limits>

#include <doctest/doctest.h>

using namespace troupe;
using namespace troupe::tune;

namespace {

BoardOptions options() {
  return {.experiment = "quadratic",
          .path = "/r/quadratic",
          .metric = "loss",
          .mode = Mode::min,
          .planned = 100,
          .cpus_per_trial = 1,
          .cpus_total = 2,
          .max_concurrent_trials = 0};
}

TrialView view(uint32_t id, std::string state, uint64_t iteration = 0, double loss = 0) {
  TrialView trial;
  trial.id = TrialId(id);
  trial.name = "T_" + std::to_string(id);
  trial.state = std::move(state);
  trial.config = {{"lr", 0.5}, {"net", Map{{"act", "relu"}}}};
  trial.iteration = iteration;
  if (iteration > 0)
    trial.metrics = {{"loss", loss}, {"acc", 0.5}, {"time_total_s", 1.0}};
  return trial;
}

uint64_t count_of(const ProgressSnapshot& snapshot, const std::string& state) {
  for (const ProgressGroup& group : snapshot.groups)
    if (group.state == state)
      return group.count;
  return 0;
}

}  // namespace

TEST_CASE("a trial is counted in its present state only") {
  ProgressBoard board(options());
  board.update(view(0, "PENDING"));
  board.update(view(0, "RUNNING"));
  board.update(view(0, "RUNNING", 1, 2.0));
  CHECK(count_of(board.snapshot(0, 0), "PENDING") == 0);
  CHECK(count_of(board.snapshot(0, 0), "RUNNING") == 1);
  CHECK(board.state_of(TrialId(0)) == "RUNNING");
  CHECK(board.state_of(TrialId(1)).empty());
  board.update(view(0, "TERMINATED", 1, 2.0));
  CHECK(count_of(board.snapshot(0, 0), "RUNNING") == 0);
  CHECK(count_of(board.snapshot(0, 0), "TERMINATED") == 1);
}

TEST_CASE("columns are the parameters and metrics of users") {
  ProgressBoard board(options());
  board.update(view(0, "RUNNING", 1, 2.0));
  const ProgressSnapshot snapshot = board.snapshot(0, 0);
  CHECK(snapshot.param_names == std::vector<std::string>{"lr", "net/act"});
  CHECK(snapshot.metric_names == std::vector<std::string>{"loss", "acc"});
  REQUIRE(snapshot.groups.size() == 1);
  REQUIRE(snapshot.groups[0].rows.size() == 1);
  CHECK(snapshot.groups[0].rows[0].params == std::vector<std::string>{"0.5", "relu"});
  CHECK(snapshot.groups[0].rows[0].metrics == std::vector<std::string>{"2", "0.5"});
}

TEST_CASE("the parameters that vary are shown, constants are not") {
  BoardOptions varying = options();
  varying.params = {"net/act", "zeta"};
  ProgressBoard board(varying);
  TrialView trial = view(0, "RUNNING", 1, 2.0);
  for (char name = 'a'; name < 'p'; ++name)
    trial.config[std::string("constant_") + name] = 1;
  trial.config["zeta"] = 0.25;
  board.update(trial);
  const ProgressSnapshot snapshot = board.snapshot(0, 0);
  CHECK(snapshot.param_names == std::vector<std::string>{"net/act", "zeta"});
  CHECK(snapshot.groups.at(0).rows.at(0).params == std::vector<std::string>{"relu", "0.25"});
  CHECK(snapshot.best.value().config == "net/act=relu, zeta=0.25");
}

TEST_CASE("counts go on from where they were") {
  ProgressBoard board(options());
  board.start_counts(120, 3);
  board.count_result();
  board.count_actor_start();
  CHECK(board.snapshot(0, 0).results == 121);
  CHECK(board.snapshot(0, 0).actor_starts == 4);
}

TEST_CASE("a trial that breaks a constraint is the best only where no other is there") {
  auto constrained = options();
  constrained.constraints = {"memory"};
  ProgressBoard board(constrained);
  const auto with_memory = [](TrialView trial, Value memory) {
    trial.metrics["memory"] = std::move(memory);
    return trial;
  };
  board.update(with_memory(view(1, "RUNNING", 1, 1.0), 5));
  CHECK(board.snapshot(0, 0).best->trial == "T_1");
  CHECK(!board.snapshot(0, 0).best->feasible);
  board.update(with_memory(view(2, "TERMINATED", 1, 3.0), 2));
  CHECK(board.snapshot(0, 0).best->trial == "T_2");
  board.update(view(3, "TERMINATED", 1, 0.5));
  CHECK(board.snapshot(0, 0).best->trial == "T_2");
  board.update(with_memory(view(4, "RUNNING", 1, 9.0), 0));
  CHECK(board.snapshot(0, 0).best->trial == "T_4");
  CHECK(board.snapshot(0, 0).best->feasible);
}

TEST_CASE("the best trial is the one whose last result is, as in the results of the experiment") {
  ProgressBoard board(options());
  board.update(view(3, "RUNNING", 1, 2.0));
  board.update(view(1, "RUNNING", 1, std::numeric_limits<double>::quiet_NaN()));
  board.update(view(2, "TERMINATED", 4, 3.0));
  const auto best = board.snapshot(0, 0).best;
  REQUIRE(best.has_value());
  CHECK(best->trial == "T_3");
  CHECK(best->value == "2");
  CHECK(best->config == "lr=0.5, net/act=relu");
  board.update(view(3, "RUNNING", 2, 5.0));
  CHECK(board.snapshot(0, 0).best->trial == "T_2");
  CHECK(board.snapshot(0, 0).best->iteration == 4);
  board.update(view(0, "TERMINATED", 7, 3.0));
  CHECK(board.snapshot(0, 0).best->trial == "T_0");  // the first of equals
}

TEST_CASE("a failed trial is the best only when there is no other, and not once it is taken up") {
  ProgressBoard board(options());
  board.update(view(0, "ERROR", 5, 0.1));
  CHECK(board.snapshot(0, 0).best->trial == "T_0");
  board.update(view(1, "RUNNING", 1, 9.0));
  CHECK(board.snapshot(0, 0).best->trial == "T_1");
  board.update(view(0, "RUNNING", 6, 0.2));
  CHECK(board.snapshot(0, 0).best->value == "0.2");
  board.update(view(0, "RUNNING", 7, 20));
  CHECK(board.snapshot(0, 0).best->trial == "T_1");
}

TEST_CASE("trials that repeat others come on top of those that were planned") {
  ProgressBoard board(options());
  board.plan_one_more();
  CHECK(board.snapshot(0, 0).planned == 101);
}

TEST_CASE("of many trials the board shows five of each state and counts all") {
  ProgressBoard board(options());
  for (uint32_t id = 0; id < 1000; ++id)
    board.update(view(id, "TERMINATED", 1, id));
  for (uint32_t id = 1000; id < 1010; ++id)
    board.update(view(id, "RUNNING", 1, id));
  const ProgressSnapshot snapshot = board.snapshot(0, 0);
  REQUIRE(snapshot.groups.size() == 2);
  CHECK(snapshot.groups[0].state == "RUNNING");
  CHECK(snapshot.groups[0].rows.size() == progress_rows_per_state);
  CHECK(snapshot.groups[0].rows.front().trial == "T_1000");
  CHECK(snapshot.groups[1].count == 1000);
  CHECK(snapshot.groups[1].rows.size() == progress_rows_per_state);
  CHECK(snapshot.groups[1].rows.back().trial == "T_999");
}

TEST_CASE("the board says why the next trial waits") {
  ProgressBoard board(options());
  board.update(view(0, "RUNNING"));
  board.update(view(1, "PENDING"));
  CHECK(board.snapshot(0, 0).waiting.empty());
  board.update(view(2, "RUNNING"));
  CHECK(board.snapshot(0, 0).waiting == "T_1 asks for 1 CPUs, 0 of 2 are free");

  BoardOptions limited = options();
  limited.max_concurrent_trials = 1;
  ProgressBoard other(limited);
  other.update(view(0, "RUNNING"));
  other.update(view(1, "PENDING"));
  CHECK(other.snapshot(0, 0).waiting == "T_1: max_concurrent_trials = 1 are running");
}

TEST_CASE("a failed trial is listed until it is tried again") {
  ProgressBoard board(options());
  TrialView failed = view(0, "ERROR");
  failed.message = "killed by SIGSEGV";
  failed.failures = 1;
  board.update(failed);
  REQUIRE(board.snapshot(0, 0).errors.size() == 1);
  CHECK(board.snapshot(0, 0).errors[0].message == "killed by SIGSEGV");
  board.update(view(0, "PENDING"));
  CHECK(board.snapshot(0, 0).errors.empty());
}
