#pragma once

#include <troupe/actors/detail/side_thread.hpp>
#include <troupe/actors/detail/system_config.hpp>
#include <troupe/actors/runtime.hpp>
#include <troupe/runtime/process/process.hpp>

#include <memory>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

namespace troupe {

/// What a `Runtime` is made of. Destroyed in the reverse order: the agent, the processes, the
/// actors.
class Runtime::Impl {
public:
  /// `system` null: one of its own.
  Impl(const RuntimeOptions& options, caf::actor_system* system);
  ~Impl();

  const RuntimeOptions& options() const { return options_; }
  double cpus() const { return cpus_; }
  caf::actor_system& system() { return *system_; }
  const caf::actor& agent() const { return agent_; }
  /// Removes checkpoints: a slow disk must not hold up decisions.
  detail::SideThread& remover() { return remover_; }

private:
  RuntimeOptions options_;
  double cpus_;
  std::unique_ptr<detail::SystemConfig> own_config_;
  std::unique_ptr<caf::actor_system> own_system_;
  caf::actor_system* system_;
  ProcessSpawner spawner_;
  detail::SideThread remover_{"troupe-remover"};
  caf::actor agent_;
};

}  // namespace troupe
