#pragma once

#include <troupe/actors/detail/keeper.hpp>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace troupe::detail {

/// The node agent of this host: starts workers for controllers. Orders: `StartOrder`, answered with
/// a `Route`. Each worker has a keeper of its own, which outlives neither its worker nor the
/// controller that ordered it.
caf::actor spawn_agent(caf::actor_system& system, ProcessSpawner& spawner,
                       const KeeperOptions& options);

}  // namespace troupe::detail
