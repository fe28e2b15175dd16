#pragma once

#include <caf/fwd.hpp>

/// Troupe inside a service that has a CAF actor system of its own. The one public header that
/// speaks of CAF.
///
///     int main(int argc, char** argv) {
///       troupe::run_worker_if_asked(argc, argv);   // worker processes are this program
///       caf::core::init_global_meta_objects();
///       caf::io::middleman::init_global_meta_objects();
///       troupe::embed::init_meta_objects();        // together with those of the service
///       caf::actor_system_config config;
///       troupe::embed::configure(config);
///       caf::actor_system system{config};
///       troupe::Runtime runtime(system);
///
/// Message types of Troupe have the numbers from caf::first_custom_type_id + 1000 on; those of the
/// service end below. Troupe opens no port in the service's system and publishes nothing in it.
namespace troupe::embed {

/// Registers Troupe's message types. Before the actor system is made.
void init_meta_objects();

/// Loads what Troupe needs: the I/O module. Two scheduler threads are enough; nothing of Troupe
/// blocks them for long, user code never runs on them. With heartbeats on (CAF's default), a
/// service that is suspended longer than `caf.middleman.connection-timeout` loses its workers.
void configure(caf::actor_system_config& config);

}  // namespace troupe::embed
