#include "benchmarks/task_table.hpp"

#include <troupe/base/error.hpp>
#include <troupe/tune/schedule/asha.hpp>
#include <troupe/tune/search/detail/design.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "benchmarks/regret_run.hpp"

namespace troupe::bench {
namespace {

constexpr const char* small =
    "# about\n"
    R"({"name": "small", "metric": "error", "unit": 0.5, "steps": [1, 3], "parameters": [)"
    R"({"name": "a", "low": -1, "step": 2, "count": 2}, )"
    R"({"name": "b", "low": 0, "step": 0.25, "count": 2}]})"
    "\n8 1\n8 2\n8 3\n8 4\n";

/// A table with this text; the file is gone afterwards.
TaskTable read(const std::string& text) {
  const auto file = std::filesystem::temp_directory_path() / "troupe_task_table_test.table";
  std::ofstream(file) << text;
  struct Remover {
    const std::filesystem::path& file;
    ~Remover() { std::filesystem::remove(file); }
  } remover{file};
  return TaskTable(file);
}

std::string error_of(const std::string& text) {
  try {
    (void)read(text);
    return "";
  } catch (const Exception& error) {
    return error.what();
  }
}

TEST_CASE("a table gives the curve of each configuration, the last parameter fastest") {
  const TaskTable table = read(small);
  CHECK(table.name() == "small");
  CHECK(table.curve({{"a", -1}, {"b", 0.0}}) == std::vector<double>{4, 0.5});
  CHECK(table.curve({{"a", -1}, {"b", 0.25}}) == std::vector<double>{4, 1});
  CHECK(table.curve({{"a", 1}, {"b", 0.25}}) == std::vector<double>{4, 2});
  CHECK(table.optimum() == 0.5);
  CHECK(table.function().value({{"a", 1}, {"b", 0.0}}) == 1.5);
  CHECK(table.space().find("a")->domain()->to_string() == "qrandint(-1, 1, 2)");
  CHECK_THROWS_AS((void)table.curve({{"a", 0}, {"b", 0.0}}), Exception);
  CHECK_THROWS_AS((void)table.curve({{"a", 3}, {"b", 0.0}}), Exception);
}

TEST_CASE("a damaged table is refused with the place") {
  const std::string text = small;
  CHECK(error_of(text) == "");
  CHECK(error_of(text + "8 5\n").find("expected 4 configurations") != std::string::npos);
  CHECK(error_of(text.substr(0, text.size() - 4)).find("expected 4") != std::string::npos);
  CHECK(error_of(text.substr(0, text.size() - 3)).find("line 6") != std::string::npos);
  CHECK(error_of(text.substr(0, text.size() - 2) + "x\n").find("line 6") != std::string::npos);
  CHECK(error_of("# about\n{}\n").find("line 2: no header") != std::string::npos);
  CHECK_THROWS_AS((void)TaskTable("/nowhere/x.table"), Exception);
}

TEST_CASE("the committed tables are whole, and random search improves on them") {
  REQUIRE(task_tables().size() == 3);
  for (const TaskTable& table : task_tables()) {
    CAPTURE(table.name());
    CHECK(table.space().check().has_value());
    const TestFunction function = table.function();
    CHECK(function.scale > 0);
    const auto rows = run_regret(function, {.searcher = "random", .budget = 200});
    CHECK(rows.back().regret >= 0);
    CHECK(rows.back().regret < function.scale);
    CHECK(&task_table(table.name()) == &table);
  }
  CHECK_THROWS_AS((void)task_table("mnist"), Exception);
}

/// Trials on the curves of a table: eight workers that each train one step at a time.
class AshaOnTable {
public:
  AshaOnTable(const TaskTable& table, std::uint64_t seed, double grace_period = 1)
      : table_(table),
        design_(table.space()),
        seed_(seed),
        asha_({.time_attr = "time",
               .max_t = static_cast<double>(table.steps().back()),
               .grace_period = grace_period,
               .reduction_factor = 3}) {
    asha_.setup({.metric = "loss", .mode = Mode::min, .seed = seed}).value_or_throw();
  }

  [[nodiscard]] Config config(std::uint32_t trial) const { return design_.sample(seed_, trial, 0); }

  /// Trains until a trial reports `target` or less, or until `limit` is spent. What was spent.
  std::uint64_t run(double target, std::uint64_t limit) {
    std::array<std::optional<Running>, 8> workers;
    while (spent_ < limit)
      for (auto& worker : workers) {
        if (!worker)
          worker = start();
        if (step(worker) <= target)
          return spent_;
      }
    return limit;
  }

private:
  struct Running {
    TrialId trial;
    std::vector<double> curve;
    std::size_t next = 0;
  };

  Running start() {
    const TrialId trial(next_++);
    asha_.on_trial_add(trial, {});
    return {trial, table_.curve(config(trial.value))};
  }

  double step(std::optional<Running>& worker) {
    const auto& steps = table_.steps();
    const std::size_t i = worker->next++;
    spent_ += steps[i] - (i == 0 ? 0 : steps[i - 1]);
    const double loss = worker->curve[i];
    const Metrics metrics{{"time", static_cast<double>(steps[i])}, {"loss", loss}};
    const auto decision = asha_.decide(worker->trial, metrics).value_or_throw();
    asha_.record(worker->trial, metrics, decision);
    if (decision.action != tune::ScheduleAction::go_on) {
      const bool finished = decision.action == tune::ScheduleAction::finish;
      asha_.on_complete(worker->trial, finished ? Ending::finished : Ending::stopped, &metrics);
      worker.reset();
    }
    return loss;
  }

  const TaskTable& table_;
  tune::detail::Design design_;
  std::uint64_t seed_;
  tune::Asha asha_;
  std::uint32_t next_ = 0;
  std::uint64_t spent_ = 0;
};

/// The least final loss of the first 256 configurations.
double best_of_256(const TaskTable& table, const AshaOnTable& run) {
  double best = std::numeric_limits<double>::infinity();
  for (std::uint32_t trial = 0; trial < 256; ++trial)
    best = std::min(best, table.final_value(run.config(trial)));
  return best;
}

TEST_CASE("an ASHA trial reports what 256 random ones end with after a quarter of their training") {
  struct Case {
    const char* table;
    double grace_period;
  };
  // A report at any step counts. The first rounds of boosting tell who learns fast, not who gets
  // far: with a grace period of 1 most seeds never get there (docs/performance.md).
  for (const Case& it : {Case{"fashion_mlp", 1}, Case{"xgb_credit", 9}}) {
    const TaskTable& table = task_table(it.table);
    const std::uint64_t all = 256 * table.steps().back();
    std::vector<double> shares;
    for (std::uint64_t seed = 0; seed < 11; ++seed) {
      AshaOnTable run(table, seed, it.grace_period);
      const std::uint64_t spent = run.run(best_of_256(table, run), all);
      shares.push_back(static_cast<double>(spent) / static_cast<double>(all));
    }
    std::sort(shares.begin(), shares.end());
    CAPTURE(table.name());
    CHECK(shares[shares.size() / 2] <= 0.25);
  }
}

}  // namespace
}  // namespace troupe::bench
