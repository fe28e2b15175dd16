#pragma once

#include <troupe/base/clock.hpp>
#include <troupe/base/file.hpp>
#include <troupe/base/result.hpp>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

/// CAF's protocol over a connected socket of ours: no port, no connect, no cache of addresses. The
/// parts of CAF used here are half internal; they are used nowhere else.
namespace troupe::detail {

/// The serving side. Whoever dials the other end gets `whom`. Returns at once; the end of the link
/// shows as the end of the actors behind it (`monitor`).
void serve_link(caf::actor_system& system, FileDescriptor socket, const caf::actor& whom);

/// The dialling side: the actor that the other end serves. Errors: deadline_exceeded, unavailable.
Result<caf::actor> dial_link(caf::actor_system& system, FileDescriptor socket, Duration deadline);

}  // namespace troupe::detail
