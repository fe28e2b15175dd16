#include <troupe/actors/detail/meta_objects.hpp>
#include <troupe/actors/detail/system_config.hpp>
#include <troupe/actors/embed.hpp>

namespace troupe::embed {

void init_meta_objects() {
  detail::init_message_types();
}

void configure(caf::actor_system_config& config) {
  detail::add_required_modules(config);
}

}  // namespace troupe::embed
