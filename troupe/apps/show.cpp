#include <troupe/apps/commands.hpp>
#include <troupe/apps/experiment_view.hpp>
#include <troupe/apps/find_experiment.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/report/progress_printer.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace troupe::apps {

namespace {

struct Options {
  std::string experiment;
  std::string storage_path;
  std::string trial;
  bool json = false;
  bool follow = false;
};

int print(const ExperimentView& view, const Options& options) {
  if (!options.trial.empty()) {
    const tune::TrialRow row = view.find_trial(options.trial).value_or_throw();
    std::cout << (options.json ? to_json(view.trial_json(row), JsonStyle::pretty) + '\n'
                               : view.trial_text(row));
  } else if (options.json) {
    view.write_json(std::cout);
  } else {
    std::cout << view.text(tune::terminal_columns(STDOUT_FILENO));
  }
  return exit_ok;
}

/// Shows the experiment again and again until nobody runs it any more.
int follow(ExperimentView& view) {
  const bool live = tune::printer_options_for(STDOUT_FILENO).live;
  tune::LiveRegion region;
  for (;;) {
    view.refresh().value_or_throw();
    if (live) {
      std::cout << region.draw(view.text(tune::terminal_columns(STDOUT_FILENO))) << std::flush;
    } else {
      std::cout << view.line() << std::endl;
    }
    if (!std::cout)
      return exit_error;
    if (!view.has_driver())
      return exit_ok;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

int run(const Options& options) {
  const auto dir = find_experiment(options.experiment, options.storage_path).value_or_throw();
  auto view = ExperimentView::open(dir).value_or_throw();
  for (const std::string& warning : view.warnings())
    std::cerr << "troupe: warning: " << warning << '\n';
  return options.follow ? follow(view) : print(view, options);
}

}  // namespace

void add_show(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("show", "Shows an experiment, running or not, or one of its trials");
  const auto options = std::make_shared<Options>();
  command->add_option("experiment", options->experiment, "Path or name")->required();
  command->add_option("--storage-path", options->storage_path,
                      "Where experiments lie (default: $TROUPE_STORAGE_PATH, ~/troupe_results)");
  CLI::Option* trial =
      command->add_option("--trial", options->trial, "One trial, by number or name");
  CLI::Option* json = command->add_flag("--json", options->json, "JSON for other programs");
  command->add_flag("--follow,-f", options->follow, "Go on until the run ends")
      ->excludes(trial)
      ->excludes(json);
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace troupe::apps
