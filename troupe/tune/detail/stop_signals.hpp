#pragma once

#include <functional>
#include <memory>

namespace troupe::tune::detail {

/// While it lives, the first SIGINT or SIGTERM calls a function and gives both signals their
/// default action back, so that the next one ends the process. SIGPIPE is ignored meanwhile.
///
/// A signal that was ignored before stays ignored (a job that nohup or a shell put into the
/// background). What was installed before comes back in the end. Several may live at a time: the
/// first signal calls all of them.
///
/// The function is called on a thread of its own, never in a signal handler, and not after the
/// destructor returned.
class StopSignals {
public:
  /// `on_signal` receives "SIGINT" or "SIGTERM".
  explicit StopSignals(std::function<void(const char* name)> on_signal);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  struct Listener;

private:
  std::shared_ptr<Listener> listener_;
};

}  // namespace troupe::tune::detail
