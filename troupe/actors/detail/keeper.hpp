#pragma once

#include <troupe/actors/detail/messages.hpp>
#include <troupe/actors/runtime.hpp>
#include <troupe/runtime/process/process.hpp>

#include <memory>
#include <string>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

/// The keeper of a worker: the actor in the agent's process that starts it, hands it its orders,
/// watches over its deadlines, ends it, and says exactly once that it is gone.
namespace troupe::detail {

class UserThread;

/// How keepers look after their workers.
struct KeeperOptions {
  std::string host;
  std::string app_identifiers;  ///< of this actor system, for its workers; see worker_main.hpp
  Duration worker_start_timeout{};
  Duration unresponsive_after{};
  Duration stop_grace{};
};

/// Starts a worker process. Orders: RunTrial, Answer, StopTrial, StopWorker; those that come before
/// the worker is up wait for it. Says to `controller`: WorkerStarted once it is up, WorkerExited as
/// its last word.
caf::actor spawn_process_keeper(caf::actor_system& system, ProcessSpawner& spawner,
                                const KeeperOptions& options, StartOrder order,
                                caf::actor controller);

/// The same for a worker that is a thread of this process. RunTrial and Answer go straight into
/// the thread's mailbox, StopTrial and StopWorker to the keeper.
caf::actor spawn_thread_keeper(caf::actor_system& system, const KeeperOptions& options,
                               StartOrder order, caf::actor controller,
                               std::shared_ptr<UserThread> thread);

/// How often a keeper looks: often enough for the shortest of its deadlines.
Duration look_after_period(const KeeperOptions& options, const StartOrder& order);

}  // namespace troupe::detail
