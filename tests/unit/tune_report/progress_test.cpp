#include <troupe/tune/report/progress.hpp>
#include <troupe/tune/report/text.hpp>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

using namespace troupe::tune;

namespace {

/// Compares with tests/golden/progress/<name>.txt; TROUPE_UPDATE_GOLDEN=1 writes it instead.
void check_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(TROUPE_TESTS_DIR) + "/golden/progress/" + name + ".txt";
  if (std::getenv("TROUPE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ostringstream expected;
  expected << std::ifstream(path).rdbuf();
  CHECK_MESSAGE(text == expected.str(), "differs from ", path);
}

void use_utc() {
  setenv("TZ", "UTC", 1);
  tzset();
}

ProgressRow row(int id, double x, std::optional<uint64_t> iteration, const std::string& loss) {
  return {.trial = "Quadratic_0000" + std::to_string(id),
          .params = {short_number(x), "adam"},
          .iteration = iteration,
          .time_total_s =
              iteration ? std::optional(0.5 * static_cast<double>(*iteration)) : std::nullopt,
          .metrics = {loss}};
}

ProgressSnapshot running() {
  use_utc();
  ProgressSnapshot s;
  s.experiment = "quadratic";
  s.path = "/results/quadratic";
  s.wall_ms = 1'770'000'000'000;
  s.run_time_s = 72.4;
  s.groups = {{"RUNNING", 2, {row(2, 3.25, 4, "0.0625"), row(3, -1, 1, "16")}},
              {"TERMINATED", 2, {row(0, 7.5, 5, "20.25"), row(1, 3.1, 5, "0.01")}},
              {"PENDING", 1, {row(4, 0.125, std::nullopt, "")}}};
  s.planned = 100;
  s.results = 15;
  s.actor_starts = 2;
  s.param_names = {"x", "optimizer"};
  s.metric_names = {"loss"};
  s.best = ProgressBest{"Quadratic_00001", "loss", "0.01", 5, "x=3.1, optimizer=adam"};
  s.cpus_used = 2;
  s.cpus_total = 2;
  s.waiting = "Quadratic_00004 asks for 1 CPU, 0 of 2 are free";
  return s;
}

ProgressSnapshot many() {
  ProgressSnapshot s = running();
  s.groups = {{"RUNNING", 2, {row(2, 3.25, 4, "0.0625"), row(3, -1, 1, "16")}},
              {"TERMINATED", 48, {row(0, 7.5, 5, "20.25"), row(1, 3.1, 5, "0.01")}},
              {"ERROR", 7, {row(9, 1, 2, "nan")}}};
  s.planned.reset();
  s.waiting.clear();
  for (int i = 0; i < 7; ++i)
    s.errors.push_back({"Quadratic_0000" + std::to_string(i), 1, "killed by SIGSEGV\nmore",
                        "/results/quadratic/t/error.txt"});
  return s;
}

std::size_t widest_line(const std::string& text) {
  std::istringstream in(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(in, line);)
    widest = std::max(widest, display_width(line));
  return widest;
}

}  // namespace

TEST_CASE("a running experiment is shown with all its trials") {
  check_golden("running", render_progress(running(), {.width = 100}));
}

TEST_CASE("many trials are shown in part, and what is left out is counted") {
  check_golden("many", render_progress(many(), {.width = 100}));
}

TEST_CASE("colour is only around the counts of states") {
  check_golden("color", render_progress(running(), {.width = 100, .color = true}));
}

TEST_CASE("a narrow terminal keeps the metric and leaves parameters out") {
  const std::string text = render_progress(running(), {.width = 56});
  check_golden("narrow", text);
  CHECK(text.find("0.0625") != std::string::npos);
  CHECK(widest_line(text) <= 56);
}

TEST_CASE("no width makes a line wrap") {
  for (std::size_t width = 20; width <= 120; ++width) {
    CAPTURE(width);
    CHECK(widest_line(render_progress(many(), {.width = width})) <= width);
  }
}

TEST_CASE("a low terminal cuts the picture and says how much is missing") {
  const std::string text = render_progress(running(), {.width = 100, .height = 6});
  CHECK(std::count(text.begin(), text.end(), '\n') == 6);
  CHECK(text.find("more lines") != std::string::npos);
}

TEST_CASE("names of users can not break the terminal") {
  ProgressSnapshot s = running();
  s.groups[0].rows[0].params[1] = "\x1b[2J\nevil";
  s.best->config = "a\x07";
  const std::string text = render_progress(s, {.width = 100});
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\x07') == std::string::npos);
}

TEST_CASE("the plain line says it all in one line") {
  check_golden("line", progress_line(running()) + "\n");
  CHECK(progress_line(many()).find('\n') == std::string::npos);
}

TEST_CASE("a best trial that breaks a constraint says so") {
  ProgressSnapshot s = running();
  CHECK(progress_line(s).find("breaks") == std::string::npos);
  s.best->feasible = false;
  CHECK(progress_line(s).find("at iteration 5, which breaks a constraint") != std::string::npos);
}

TEST_CASE("an experiment without a trial has a picture too") {
  use_utc();
  ProgressSnapshot s;
  s.experiment = "empty";
  CHECK(render_progress(s, {.width = 100}).find("no trial yet") != std::string::npos);
  CHECK(progress_line(s).find("no trial yet") != std::string::npos);
}
