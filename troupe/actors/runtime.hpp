#pragma once

#include <troupe/actors/protocol.hpp>

#include <functional>
#include <memory>

namespace caf {
class actor_system;
}

namespace troupe {

/// How this process takes part. The defaults suit one machine.
struct RuntimeOptions {
  double cpus = 0;  ///< logical CPUs that trials may use together; 0: those of this process
  Duration worker_start_timeout = std::chrono::seconds(30);
  Duration unresponsive_after = std::chrono::seconds(15);  ///< a worker that does not answer
  Duration stop_grace = std::chrono::seconds(10);  ///< from asking a worker to stop to killing it
};

/// The actor runtime of this process: scheduler, node agent of this host, links to workers.
///
/// A program makes one, first thing in `main`, or lets `troupe::run` do it. Worker processes are
/// this very program started again: `run` (or `run_worker_if_asked`) recognises that and never
/// returns to the caller's code.
/// Thread rules: may be used from any thread. Destroying it stops all workers (at most
/// `stop_grace`) and then its actors.
class Runtime {
public:
  explicit Runtime(RuntimeOptions options = {});

  /// Uses the actor system of a service instead of one of its own; see actors/embed.hpp for what
  /// that system must have loaded. The system must outlive the runtime.
  Runtime(caf::actor_system& system, RuntimeOptions options = {});

  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const RuntimeOptions& options() const;
  double cpus() const;  ///< logical CPUs that trials may use together

  class Impl;
  Impl& impl() { return *impl_; }

private:
  std::unique_ptr<Impl> impl_;
};

/// When this process was started as a worker: runs it and exits. Otherwise returns. Call it first
/// in `main` when you do not use `run`.
void run_worker_if_asked(int argc, char** argv);

/// Runs `body` with a runtime and turns an exception into an error message on stderr and exit
/// status 1. Returns the exit status of `main`.
int run(int argc, char** argv, const std::function<void(Runtime&)>& body);
int run(int argc, char** argv, RuntimeOptions options, const std::function<void(Runtime&)>& body);

}  // namespace troupe
