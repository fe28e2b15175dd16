#pragma once

namespace CLI {
class App;
}

/// The sub-commands of `troupe`, one source each.
///
/// All of them only read, through a secondary instance of the store, so that they can not disturb a
/// run; the one exception is `doctor --accept-loss`, which refuses while somebody has the store
/// open.
namespace troupe::apps {

/// The exit status of the program. Scripts rely on the numbers.
enum ExitStatus : int {
  exit_ok = 0,
  exit_error = 1,      ///< something failed; the message is on stderr
  exit_usage = 2,      ///< the command line is wrong
  exit_not_found = 3,  ///< no such experiment or trial
  exit_damaged = 4,    ///< doctor found damage
};

/// Each adds its sub-command; when it is chosen it runs and leaves its exit status in `status`.
/// Errors are thrown as `Exception`.
void add_list(CLI::App& app, int& status);
void add_show(CLI::App& app, int& status);
void add_doctor(CLI::App& app, int& status);
void add_version(CLI::App& app, int& status);

}  // namespace troupe::apps
