#include <troupe/actors/detail/meta_objects.hpp>
#include <troupe/actors/detail/system_config.hpp>
#include <troupe/base/error.hpp>

#include <sstream>
#include <string>
#include <vector>

#include <caf/init_global_meta_objects.hpp>
#include <caf/io/middleman.hpp>

namespace troupe::detail {

void init_all_types() {
  static const bool once = [] {
    caf::core::init_global_meta_objects();
    caf::io::middleman::init_global_meta_objects();
    return true;
  }();
  (void)once;
  init_message_types();
}

void add_required_modules(caf::actor_system_config& config) {
  config.load<caf::io::middleman>();
}

SystemConfig::SystemConfig(std::size_t threads) {
  add_required_modules(*this);
  // Without a stream of ours CAF reads caf-application.conf from wherever the program was started.
  std::istringstream nothing;
  if (auto error = parse(std::vector<std::string>{}, nothing)) {
    throw Exception(ErrorCode::internal, "CAF refuses an empty configuration");
  }
  set("caf.scheduler.policy", "sharing");  // an idle worker uses no CPU, unlike with stealing
  set("caf.scheduler.max-threads", threads);
  set("caf.logger.console.verbosity", "quiet");
  set("caf.logger.file.verbosity", "quiet");
  // Our links are socket pairs: the end of a process is the end of its socket. Heartbeats would add
  // one thing, to drop every worker when the driver was suspended for a while (Ctrl-Z). A process
  // that hangs is noticed by its keeper (worker_keeper.hpp).
  set("caf.middleman.heartbeat-interval", caf::timespan{0});
  // Messages are decoded where they are read: one thread less to wake for each.
  set("caf.middleman.workers", std::size_t{0});
}

}  // namespace troupe::detail
