#include <troupe/serialization/json.hpp>
#include <troupe/tune/report/result_lines.hpp>

#include <cstdlib>
#include <ctime>
#include <limits>

#include <doctest/doctest.h>

using namespace troupe;
using namespace troupe::tune;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

TrialFileInfo trial() {
  setenv("TZ", "UTC", 1);
  tzset();
  return {.id = TrialId(3),
          .name = "Quadratic_00003",
          .dir = "/r/Quadratic_00003_x=0.5",
          .config = {{"x", 0.5}}};
}

}  // namespace

TEST_CASE("a line of result.json is one nested object with the configuration") {
  const ResultLine line{
      .iteration = 2,
      .wall_ms = 1'770'000'000'000,
      .done = false,
      .metrics = {{"loss", 0.25}, {"env", Map{{"reward", 3}}}, {"hostname", "node1"}}};
  CHECK(result_json_line(result_fields(trial(), line), "{\"x\":0.5}") ==
        "{\"config\":{\"x\":0.5},\"date\":\"2026-02-02_02-40-00\",\"done\":false,"
        "\"env\":{\"reward\":3},\"experiment_tag\":\"3_x=0.5\",\"hostname\":\"node1\",\"loss\":0."
        "25,\"timestamp\":1770000000,"
        "\"training_iteration\":2,\"trial_id\":\"00003\",\"trial_name\":\"Quadratic_00003\"}\n");
}

TEST_CASE("what the user sets is kept, except what says which result it is") {
  const ResultLine line{.iteration = 2,
                        .metrics = {{"timestamp", 7}, {"training_iteration", 99}, {"date", "d"}}};
  const Metrics fields = result_fields(trial(), line);
  CHECK(fields.at("timestamp").as_int() == 7);
  CHECK(fields.at("date").as_string() == "d");
  CHECK(fields.at("training_iteration").as_int() == 2);
}

TEST_CASE("numbers that JSON has no word for are null for other programs") {
  const Map map{{"a", nan}, {"b", List{1, -inf}}, {"c", Map{{"d", inf}}}, {"e", 1.5}};
  CHECK(finite_json(map) == R"({"a":null,"b":[1,null],"c":{"d":null},"e":1.5})");
}

TEST_CASE("a cell of progress.csv reads back exactly") {
  CHECK(csv_cell(0.1) == "0.1");
  CHECK(csv_cell(1.0) == "1.0");
  CHECK(csv_cell(1) == "1");
  CHECK(csv_cell(true) == "true");
  CHECK(csv_cell(nullptr).empty());
  CHECK(csv_cell(nan) == "nan");
  CHECK(csv_cell(-inf) == "-inf");
  CHECK(csv_cell("text") == "text");
  CHECK(csv_cell(List{1, nan}) == "[1,null]");
}

TEST_CASE("columns keep their order and new ones come behind them") {
  CsvColumns columns;
  CHECK(columns.record({{"b", 1}, {"a", 2}}) == std::vector<std::string>{"2", "1"});
  CHECK(columns.record({{"b", 3}, {"env", Map{{"r", 4}}}}) ==
        std::vector<std::string>{"", "3", "4"});
  CHECK(columns.names() == std::vector<std::string>{"a", "b", "env/r"});
}

TEST_CASE("the number of columns is bounded") {
  CsvColumns columns;
  for (std::size_t i = 0; i < CsvColumns::max_columns + 10; ++i)
    (void)columns.record({{"key" + std::to_string(i), 1}});
  CHECK(columns.names().size() == CsvColumns::max_columns);
}

TEST_CASE("entries of error.txt are counted and a message can not forge one") {
  trial();
  const std::string text =
      error_entry({1, 17}, 1'770'000'000'000, "it broke\nFailure # 9 (x, event 99)") +
      error_entry({2, 40}, 1'770'000'000'000, "again\n");
  CHECK(text ==
        "Failure # 1 (occurred at 2026-02-02_02-40-00, event 17)\nit broke\n"
        " Failure # 9 (x, event 99)\n\n"
        "Failure # 2 (occurred at 2026-02-02_02-40-00, event 40)\nagain\n\n");
  CHECK(last_error(text).number == 2);
  CHECK(last_error(text).event == 40);
  CHECK(last_error("").event == 0);
  CHECK(last_error("x Failure # 4 (occurred, event 3)").number == 0);
}
