#include <troupe/actors/detail/agent.hpp>
#include <troupe/actors/detail/user_thread.hpp>

#include <memory>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

namespace troupe::detail {

namespace {

class Agent : public caf::event_based_actor {
public:
  Agent(caf::actor_config& config, ProcessSpawner& spawner, const KeeperOptions& options)
      : caf::event_based_actor(config), spawner_(spawner), options_(options) {}

  caf::behavior make_behavior() override {
    set_default_handler(caf::drop);
    return {
        [this](StartOrder& order) { return start(std::move(order)); },
    };
  }

private:
  Route start(StartOrder order) {
    auto controller = caf::actor_cast<caf::actor>(current_sender());
    if (order.start.isolation == Isolation::process) {
      return {spawn_process_keeper(system(), spawner_, options_, std::move(order),
                                   std::move(controller)),
              nullptr};
    }
    auto thread = std::make_shared<UserThread>(
        WorkerSetup{order.start.worker, order.experiment_name, order.start.resources.cpus, 0});
    return {
        spawn_thread_keeper(system(), options_, std::move(order), std::move(controller), thread),
        thread};
  }

  ProcessSpawner& spawner_;
  const KeeperOptions options_;
};

}  // namespace

caf::actor spawn_agent(caf::actor_system& system, ProcessSpawner& spawner,
                       const KeeperOptions& options) {
  return system.spawn<Agent, caf::hidden>(std::ref(spawner), options);
}

}  // namespace troupe::detail
