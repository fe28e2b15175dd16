#include <troupe/apps/commands.hpp>
#include <troupe/apps/find_experiment.hpp>
#include <troupe/tune/report/text.hpp>
#include <troupe/tune/result_grid.hpp>

#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace troupe::apps {

namespace {

using tune::ExperimentState;
using tune::ResultGrid;

struct Options {
  std::string storage_path;
};

/// A state for people: a run whose process is gone is no running one.
std::string state_text(const ResultGrid& grid) {
  if (driver_of(grid.experiment_path()))
    return "running";
  if (grid.state() == ExperimentState::running)
    return "died";
  return std::string(to_string(grid.state()));
}

std::string best_text(const ResultGrid& grid) {
  if (grid.spec().metric.empty())
    return "";
  try {
    const ResultGrid::Best best = grid.best_result();
    return best.metric + '=' + tune::short_number(best.score) + " (" + best.name + ')';
  } catch (const Exception& error) {
    if (error.code() != ErrorCode::not_found)
      throw;
    return "";  // no trial has a result yet
  }
}

std::vector<std::string> row_of(const std::filesystem::path& dir) {
  const std::string name = dir.filename().string();
  try {
    const ResultGrid grid = ResultGrid::open(dir);
    const tune::ExperimentRow& status = grid.status();
    const std::string planned = status.planned ? std::to_string(*status.planned) : "unlimited";
    // Trials that ran when their driver died wait for the next one.
    using tune::TrialState;
    const bool driven = driver_of(dir).has_value();
    const std::size_t running = driven ? grid.num_in(TrialState::running) : 0;
    const std::size_t waiting = grid.num_in(TrialState::running) - running +
                                grid.num_in(TrialState::pending) + grid.num_in(TrialState::paused);
    return {name,
            state_text(grid),
            planned,
            std::to_string(running),
            std::to_string(waiting),
            std::to_string(grid.num_in(TrialState::terminated)),
            std::to_string(grid.num_in(TrialState::error)),
            best_text(grid),
            tune::local_time_text(status.updated_ms)};
  } catch (const Exception& error) {
    return {name, "unreadable: " + error.error().message()};
  }
}

int run(const Options& options) {
  const auto storage = storage_path_or_default(options.storage_path).value_or_throw();
  const auto names = experiment_names(storage).value_or_throw();
  if (names.empty()) {
    std::cout << "no experiment in " << storage.string() << '\n';
    return exit_ok;
  }
  using tune::Align;
  tune::TextTable table;
  table.header = {"Experiment", "State",  "planned", "running", "waiting",
                  "terminated", "failed", "best",    "updated"};
  table.align = {Align::left,  Align::left,  Align::right, Align::right, Align::right,
                 Align::right, Align::right, Align::left,  Align::left};
  table.max_cell_width = 60;
  table.rigid = 1;
  for (const std::string& name : names)
    table.rows.push_back(row_of(storage / name));
  constexpr std::size_t wide = 160;
  std::cout << render_table(table, wide);
  return exit_ok;
}

}  // namespace

void add_list(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("list", "Lists the experiments under a storage path");
  const auto options = std::make_shared<Options>();
  command->add_option("storage_path", options->storage_path,
                      "Where experiments lie (default: $TROUPE_STORAGE_PATH, ~/troupe_results)");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace troupe::apps
