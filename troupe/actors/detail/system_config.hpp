#pragma once

#include <cstddef>

#include <caf/actor_system_config.hpp>

namespace troupe::detail {

/// CAF as Troupe wants it where it has an actor system of its own. No configuration file is looked
/// for and no argument of the program is taken.
class SystemConfig : public caf::actor_system_config {
public:
  /// `threads`: of the scheduler. User code never runs on them.
  explicit SystemConfig(std::size_t threads);
};

/// What an actor system needs so that workers can hang off it, apart from Troupe's preferences.
void add_required_modules(caf::actor_system_config& config);

inline constexpr std::size_t driver_threads = 2;
inline constexpr std::size_t worker_threads = 1;

}  // namespace troupe::detail
