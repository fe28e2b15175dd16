#include <troupe/actors/detail/event_sender.hpp>
#include <troupe/actors/detail/messages.hpp>

#include <type_traits>
#include <utility>
#include <variant>

#include <caf/send.hpp>

namespace troupe::detail {

std::function<void(EventBody)> event_sender(caf::actor controller) {
  return [controller = std::move(controller)](EventBody event) {
    std::visit(
        [&controller](auto& body) {
          // A tick is the controller's own.
          if constexpr (!std::is_same_v<std::decay_t<decltype(body)>, Tick>) {
            caf::anon_send(controller, std::move(body));
          }
        },
        event);
  };
}

}  // namespace troupe::detail
