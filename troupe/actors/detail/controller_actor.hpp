#pragma once

#include <troupe/actors/controller.hpp>
#include <troupe/actors/detail/side_thread.hpp>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace troupe::detail {

/// Between the controller actor and whoever waits for it.
struct ControllerOutcome {
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::optional<Status> result;  ///< set once, when the actor is done with loop and journal
  ControllerCounters counters;
};

/// What a controller actor works with. Everything outlives it.
struct ControllerParts {
  Loop& loop;
  Journal& journal;
  ControllerOptions options;
  std::function<void(const Watermarks&)> on_progress;
  caf::actor agent;
  SideThread& remover;
  std::shared_ptr<ControllerOutcome> outcome;
};

/// Starts the actor that feeds the loop and carries out what it says. Messages: the events of the
/// protocol; give_up_atom ends it at once.
caf::actor spawn_controller(caf::actor_system& system, ControllerParts parts);

}  // namespace troupe::detail
