#include <troupe/apps/commands.hpp>
#include <troupe/apps/find_experiment.hpp>
#include <troupe/runtime/store/doctor.hpp>

#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace troupe::apps {

namespace {

struct Options {
  std::string experiment;
  std::string storage_path;
  bool accept_loss = false;
};

int run(const Options& options) {
  const auto path = find_experiment(options.experiment, options.storage_path).value_or_throw();
  const auto report = run_doctor(path, {.accept_loss = options.accept_loss}).value_or_throw();
  std::cout << report.to_text();
  return report.healthy() ? exit_ok : exit_damaged;
}

}  // namespace

void add_doctor(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Checks the store of an experiment and says what can be done about damage");
  const auto options = std::make_shared<Options>();
  command->add_option("experiment", options->experiment, "Path or name")->required();
  command->add_option("--storage-path", options->storage_path,
                      "Where experiments lie (default: $TROUPE_STORAGE_PATH, ~/troupe_results)");
  command->add_flag("--repair,--accept-loss", options->accept_loss,
                    "Keep the longest consistent prefix and give up what comes after; the damaged "
                    "store is kept beside it. Without this nothing is changed");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace troupe::apps
