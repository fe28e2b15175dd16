#include <troupe/apps/commands.hpp>
#include <troupe/base/detail/edit_distance.hpp>
#include <troupe/base/error.hpp>
#include <troupe/base/version.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace {

using namespace troupe;

/// Says so when the first argument is no command. CLI11 would only say that one is missing.
bool is_unknown_command(const CLI::App& app, const std::string& given) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr))
    names.push_back(command->get_name());
  if (given.starts_with('-') || std::find(names.begin(), names.end(), given) != names.end())
    return false;
  std::fprintf(stderr, "troupe: there is no command '%s'%s; troupe --help lists them\n",
               given.c_str(), troupe::detail::did_you_mean(given, names).c_str());
  return true;
}

/// What could not be written was not told: no command ends well then.
int after_output(int status) {
  if (std::cout.flush())
    return status;
  std::fputs("troupe: the output could not be written\n", stderr);
  return status == apps::exit_ok ? static_cast<int>(apps::exit_error) : status;
}

int run(int argc, char** argv) {
  CLI::App app{"Looks at experiments of Troupe. Reading never disturbs a run."};
  app.name("troupe");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(version_string));
  app.footer(
      "Exit status: 0 fine, 1 error, 2 wrong usage, 3 no such experiment or trial,\n"
      "4 doctor found damage.");
  int status = apps::exit_ok;
  apps::add_list(app, status);
  apps::add_show(app, status);
  apps::add_doctor(app, status);
  apps::add_version(app, status);
  if (argc > 1 && is_unknown_command(app, argv[1]))
    return apps::exit_usage;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return after_output(app.exit(error) == 0 ? apps::exit_ok : apps::exit_usage);
  }
  return after_output(status);
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that goes away (`troupe list | head`) is an error of write, not the end by a signal.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const Exception& error) {
    std::fprintf(stderr, "troupe: %s\n", error.error().message().c_str());
    return error.code() == ErrorCode::not_found ? apps::exit_not_found : apps::exit_error;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "troupe: %s\n", error.what());
    return apps::exit_error;
  }
}
