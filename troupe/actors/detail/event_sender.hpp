#pragma once

#include <troupe/actors/protocol.hpp>

#include <functional>

#include <caf/actor.hpp>

namespace troupe::detail {

/// Sends what a user thread says to a controller. To be called from any thread.
std::function<void(EventBody)> event_sender(caf::actor controller);

}  // namespace troupe::detail
