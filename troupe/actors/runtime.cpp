#include <troupe/actors/detail/agent.hpp>
#include <troupe/actors/detail/exception_text.hpp>
#include <troupe/actors/detail/meta_objects.hpp>
#include <troupe/actors/detail/runtime_impl.hpp>
#include <troupe/actors/detail/worker_main.hpp>
#include <troupe/actors/runtime.hpp>
#include <troupe/base/fault_point.hpp>
#include <troupe/base/result.hpp>
#include <troupe/runtime/resources/host.hpp>

#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <caf/actor_system_config.hpp>
#include <caf/send.hpp>
#include <unistd.h>

namespace troupe {

namespace {

std::string host_name() {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0)
    return "localhost";
  return name;
}

void refuse_to_run_in_a_worker() {
  if (!detail::worker_not_begun())
    return;
  // Going on would start the whole experiment again in each worker, and workers in those.
  std::fputs(
      "error: this process was started as a Troupe worker, but main() made a Runtime instead of "
      "running the worker. Begin main() with troupe::run(argc, argv, ...) or "
      "troupe::run_worker_if_asked(argc, argv).\n",
      stderr);
  std::fflush(nullptr);
  ::_exit(detail::exit_misused);
}

Duration need_positive(Duration value, const char* name) {
  if (value > Duration::zero())
    return value;
  throw Exception(ErrorCode::invalid_argument,
                  std::string("RuntimeOptions::") + name + " must be longer than nothing");
}

/// The names by which the service that Troupe is embedded in tells CAF networks apart.
std::string app_identifiers(const caf::actor_system& system) {
  const auto names =
      caf::get_or(system.config(), "caf.middleman.app-identifiers", std::vector<std::string>{});
  std::string text;
  for (const std::string& name : names)
    text += name + '\n';
  return text;
}

detail::KeeperOptions keeper_options(const RuntimeOptions& options,
                                     const caf::actor_system& system) {
  return {host_name(), app_identifiers(system),
          need_positive(options.worker_start_timeout, "worker_start_timeout"),
          need_positive(options.unresponsive_after, "unresponsive_after"),
          need_positive(options.stop_grace, "stop_grace")};
}

double usable_cpus(double asked) {
  if (asked == 0)
    return detect_host_resources().cpus;
  if (asked > 0 && asked <= 1e6)
    return asked;
  throw Exception(ErrorCode::invalid_argument,
                  "RuntimeOptions::cpus is " + std::to_string(asked) +
                      ": give a number greater than 0, or 0 for those of this process");
}

}  // namespace

Runtime::Impl::Impl(const RuntimeOptions& options, caf::actor_system* system)
    : options_(options), cpus_(usable_cpus(options.cpus)) {
  refuse_to_run_in_a_worker();
  if (system) {
    system_ = system;
    if (!system->has_middleman()) {
      throw Exception(ErrorCode::failed_precondition,
                      "the actor system has no I/O module: call troupe::embed::configure on its "
                      "configuration");
    }
  } else {
    detail::init_all_types();
    own_config_ = std::make_unique<detail::SystemConfig>(detail::driver_threads);
    own_system_ = std::make_unique<caf::actor_system>(*own_config_);
    system_ = own_system_.get();
  }
  agent_ = detail::spawn_agent(*system_, spawner_, keeper_options(options, *system_));
}

Runtime::Impl::~Impl() {
  caf::anon_send_exit(agent_, caf::exit_reason::user_shutdown);
}

Runtime::Runtime(RuntimeOptions options) : impl_(std::make_unique<Impl>(options, nullptr)) {}

Runtime::Runtime(caf::actor_system& system, RuntimeOptions options)
    : impl_(std::make_unique<Impl>(options, &system)) {}

Runtime::~Runtime() = default;

const RuntimeOptions& Runtime::options() const {
  return impl_->options();
}

double Runtime::cpus() const {
  return impl_->cpus();
}

void run_worker_if_asked(int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], detail::worker_argument) != 0)
    return;
  if (!detail::worker_not_begun()) {
    std::fprintf(stderr, "error: %s is for processes that Troupe starts itself\n",
                 detail::worker_argument);
    std::exit(detail::exit_misused);
  }
  detail::worker_main();
}

int run(int argc, char** argv, const std::function<void(Runtime&)>& body) {
  return run(argc, argv, RuntimeOptions{}, body);
}

int run(int argc, char** argv, RuntimeOptions options, const std::function<void(Runtime&)>& body) {
  run_worker_if_asked(argc, argv);
  try {
    TROUPE_CHECK_OK(FaultPoints::arm_from_environment());
    Runtime runtime(options);
    body(runtime);
    return 0;
  } catch (const Exception& e) {
    std::fprintf(stderr, "error: %s\n", e.error().to_string().c_str());
  } catch (...) {
    std::fprintf(stderr, "error: %s\n", detail::current_exception_text().c_str());
  }
  return 1;
}

}  // namespace troupe
