#include <troupe/actors/detail/link.hpp>

#include <cstdint>
#include <set>
#include <string>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/io/basp_broker.hpp>
#include <caf/io/middleman.hpp>
#include <caf/io/network/multiplexer.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

namespace troupe::detail {

namespace {

// BASP tells published actors apart by port numbers. There is no port behind it.
constexpr uint16_t link_port = 1;

caf::actor basp(caf::actor_system& system) {
  return system.middleman().named_broker<caf::io::basp_broker>("BASP");
}

}  // namespace

void serve_link(caf::actor_system& system, FileDescriptor socket, const caf::actor& whom) {
  caf::io::scribe_ptr scribe = system.middleman().backend().new_scribe(socket.release());
  caf::anon_send(basp(system), caf::publish_atom_v, std::move(scribe), link_port,
                 caf::actor_cast<caf::strong_actor_ptr>(whom), std::set<std::string>{});
}

Result<caf::actor> dial_link(caf::actor_system& system, FileDescriptor socket, Duration deadline) {
  caf::io::scribe_ptr scribe = system.middleman().backend().new_scribe(socket.release());
  caf::scoped_actor self{system, true};
  caf::actor found;
  bool late = false;
  self->request(basp(system), caf::timespan{deadline}, caf::connect_atom_v, std::move(scribe),
                link_port)
      .receive([&](caf::node_id&, caf::strong_actor_ptr& whom,
                   std::set<std::string>&) { found = caf::actor_cast<caf::actor>(whom); },
               [&](caf::error& error) { late = error == caf::sec::request_timeout; });
  if (found)
    return found;
  return late ? Error(ErrorCode::deadline_exceeded, "the other end of the link does not answer")
              : Error(ErrorCode::unavailable, "the other end of the link is gone");
}

}  // namespace troupe::detail
