#include <troupe/apps/commands.hpp>
#include <troupe/apps/find_experiment.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/report/text.hpp>
#include <troupe/tune/result_grid.hpp>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace troupe::apps {

namespace {

using tune::ResultGrid;

struct Options {
  std::string storage_path;
  bool json = false;
};

std::optional<ResultGrid::Best> best_of(const ResultGrid& grid) {
  if (grid.spec().metric.empty())
    return std::nullopt;
  try {
    return grid.best_result();
  } catch (const Exception& error) {
    if (error.code() != ErrorCode::not_found)
      throw;
    return std::nullopt;  // no trial has a result yet
  }
}

/// What is said about one experiment.
struct Line {
  std::string name{};
  std::string state{};
  std::optional<std::uint64_t> planned{};
  std::size_t running = 0;
  std::size_t waiting = 0;
  std::size_t terminated = 0;
  std::size_t failed = 0;
  std::optional<ResultGrid::Best> best{};
  std::int64_t updated_ms = 0;
  std::string error{};  ///< why it cannot be read
};

Line line_of(const std::filesystem::path& dir) {
  Line line{.name = dir.filename().string()};
  try {
    const bool has_driver = driver_of(dir).has_value();  // first: it may end while this reads
    const ResultGrid grid = ResultGrid::open(dir);
    using tune::TrialState;
    line.state = experiment_state(grid.state(), has_driver);
    if (!grid.warnings().empty())
      line.state += ", damaged";
    line.planned = grid.status().planned;
    line.waiting = grid.num_in(TrialState::pending) + grid.num_in(TrialState::paused);
    // Trials that ran when their driver died wait for the next one.
    (has_driver ? line.running : line.waiting) += grid.num_in(TrialState::running);
    line.terminated = grid.num_in(TrialState::terminated);
    line.failed = grid.num_in(TrialState::error);
    line.best = best_of(grid);
    line.updated_ms = grid.status().updated_ms;
  } catch (const Exception& error) {
    line.state = "unreadable";
    line.error = error.error().message();
  }
  return line;
}

std::vector<std::string> cells_of(const Line& line) {
  if (!line.error.empty())
    return {line.name, line.state};
  return {line.name,
          line.state,
          line.planned ? std::to_string(*line.planned) : "unlimited",
          std::to_string(line.running),
          std::to_string(line.waiting),
          std::to_string(line.terminated),
          std::to_string(line.failed),
          line.best ? line.best->metric + '=' + tune::short_number(line.best->score) + " (" +
                          line.best->name + ')'
                    : "",
          tune::local_time_text(line.updated_ms)};
}

Value data_of(const Line& line) {
  if (!line.error.empty())
    return Map{{"name", line.name}, {"state", line.state}, {"error", line.error}};
  Value best;
  if (line.best)
    best = Map{{"trial", line.best->name},
               {"metric", line.best->metric},
               {"score", line.best->score},
               {"config", line.best->config}};
  return Map{{"name", line.name},
             {"state", line.state},
             {"planned", line.planned ? Value(*line.planned) : Value()},
             {"running", line.running},
             {"waiting", line.waiting},
             {"terminated", line.terminated},
             {"failed", line.failed},
             {"best", best},
             {"updated_ms", line.updated_ms}};
}

void print_table(const std::vector<Line>& lines) {
  using tune::Align;
  tune::TextTable table;
  table.header = {"Experiment", "State",  "planned", "running", "waiting",
                  "terminated", "failed", "best",    "updated"};
  table.align = {Align::left,  Align::left,  Align::right, Align::right, Align::right,
                 Align::right, Align::right, Align::left,  Align::left};
  table.max_cell_width = 60;
  // A name that is cut cannot be copied into the next command.
  table.rigid = 1;
  table.max_rigid_width = limits::max_name_bytes;
  for (const Line& line : lines)
    table.rows.push_back(cells_of(line));
  constexpr std::size_t wide = 160;
  std::cout << render_table(table, wide);
  for (const Line& line : lines)
    if (!line.error.empty())
      std::cout << line.name << ": " << tune::terminal_safe(line.error) << '\n';
}

int run(const Options& options) {
  const auto storage = storage_path_or_default(options.storage_path).value_or_throw();
  std::vector<Line> lines;
  for (const std::string& name : experiment_names(storage).value_or_throw())
    lines.push_back(line_of(storage / name));
  // The newest first; what cannot be read has no time.
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.updated_ms > b.updated_ms; });
  if (options.json) {
    List list;
    for (const Line& line : lines)
      list.push_back(data_of(line));
    std::cout << to_json(Value(std::move(list)), JsonStyle::pretty) << '\n';
  } else if (lines.empty()) {
    std::cout << "no experiment in " << storage.string() << '\n';
  } else {
    print_table(lines);
  }
  return exit_ok;
}

}  // namespace

void add_list(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("list", "Lists the experiments under a storage path");
  const auto options = std::make_shared<Options>();
  command->add_option("storage_path,--storage-path", options->storage_path,
                      "Where experiments lie (default: $TROUPE_STORAGE_PATH, ~/troupe_results)");
  command->add_flag("--json", options->json, "One list of objects, for programs");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace troupe::apps
