#include <troupe/actors/detail/event_sender.hpp>
#include <troupe/actors/detail/link.hpp>
#include <troupe/actors/detail/messages.hpp>
#include <troupe/actors/detail/meta_objects.hpp>
#include <troupe/actors/detail/system_config.hpp>
#include <troupe/actors/detail/trial_runner.hpp>
#include <troupe/actors/detail/user_thread.hpp>
#include <troupe/actors/detail/worker_main.hpp>
#include <troupe/base/fault_point.hpp>
#include <troupe/base/version.hpp>
#include <troupe/runtime/process/worker_process.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace troupe::detail {

namespace {

constexpr Duration dial_deadline = std::chrono::seconds(30);
// Out of the way of user code that closes or writes to the low numbers.
constexpr int least_link_fd = 100;

[[noreturn]] void end_process(int status, const char* why = nullptr) {
  if (why)
    std::fprintf(stderr, "troupe worker: %s\n", why);
  std::fflush(nullptr);
  ::_exit(status);
}

/// exit() in user code would destroy what other threads still use. Its own handlers and the ones
/// registered by user code have run when this one comes: it was registered before them.
void leave_at_exit(int status, void*) {
  std::fflush(nullptr);
  ::_exit(status);
}

/// Stays responsive whatever user code does.
class WorkerControl : public caf::event_based_actor {
public:
  WorkerControl(caf::actor_config& config, caf::actor keeper)
      : caf::event_based_actor(config), keeper_(std::move(keeper)) {}

  caf::behavior make_behavior() override {
    set_default_handler(caf::drop);
    set_down_handler([](caf::down_msg&) {
      // Whoever started this process is gone, and with it all reason to go on.
      std::fflush(nullptr);
      die_with_process_group();
    });
    monitor(keeper_);
    send(keeper_, WorkerHello{protocol_hash(), std::string(version_string), ::getpid(),
                              caf::actor_cast<caf::actor>(ctrl())});
    return {
        [this](WorkerWelcome& welcome) { begin(welcome); },
        [this](RunTrial& order) {
          if (thread_)
            thread_->mailbox().post(std::move(order));
        },
        [this](Answer& answer) {
          if (thread_)
            thread_->mailbox().post(std::move(answer));
        },
        [this](StopTrial& stop) {
          if (thread_)
            thread_->mailbox().post(std::move(stop));
        },
        [this](CancelCall& cancel) {
          if (thread_)
            thread_->mailbox().cancel(std::move(cancel));
        },
        [this](Ping& ping) {
          UserProgress progress;
          if (thread_)
            progress = thread_->mailbox().progress();
          send(keeper_, Pong{ping.number, progress});
        },
        [this](StopWorker&) {
          if (!thread_)
            end_process(0);
          thread_->mailbox().quit();
        },
    };
  }

private:
  void begin(WorkerWelcome& welcome) {
    if (thread_)
      return;
    if (const auto limited = limit_worker_memory(welcome.setup.memory_bytes); !limited) {
      end_process(exit_no_agent, limited.error().message().c_str());
    }
    ::on_exit(leave_at_exit, nullptr);
    UserThread::Callbacks callbacks;
    callbacks.send = event_sender(welcome.controller);
    callbacks.on_end = [](bool orderly) {
      if (orderly)
        end_process(TrialRunner::any_cleanup_failed() ? exit_cleanup_failed : 0);
      end_process(exit_lost_user, "user code ended the thread it was called on (pthread_exit)");
    };
    thread_ = std::make_unique<UserThread>(welcome.setup);
    thread_->start(std::move(callbacks));
  }

  caf::actor keeper_;
  std::unique_ptr<UserThread> thread_;
};

}  // namespace

namespace {

std::vector<std::string> lines_of(const char* text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

}  // namespace

bool worker_not_begun() {
  return std::getenv(worker_variable) != nullptr;
}

void worker_main() {
  ::unsetenv(worker_variable);
  // Started through /proc/self/exe it would show as "exe" in lists of processes.
  ::prctl(PR_SET_NAME, program_invocation_short_name);
  const Result<int> inherited = become_worker_process();
  if (!inherited)
    end_process(exit_no_agent, inherited.error().message().c_str());
  const int fd = ::fcntl(*inherited, F_DUPFD_CLOEXEC, least_link_fd);
  FileDescriptor socket(fd >= 0 ? fd : *inherited);
  if (fd >= 0)
    ::close(*inherited);
  if (const Status armed = FaultPoints::arm_from_environment(); !armed)
    end_process(exit_no_agent, armed.error().message().c_str());

  init_all_types();
  // Never destroyed: a worker ends by _exit, whatever its threads are doing.
  auto* const config = new SystemConfig(worker_threads);
  if (const char* identifiers = std::getenv(app_identifiers_variable)) {
    config->set("caf.middleman.app-identifiers", lines_of(identifiers));
    ::unsetenv(app_identifiers_variable);
  }
  auto* const system = new caf::actor_system(*config);
  Result<caf::actor> keeper = dial_link(*system, std::move(socket), dial_deadline);
  if (!keeper)
    end_process(exit_no_agent, keeper.error().message().c_str());
  system->spawn<WorkerControl, caf::hidden>(std::move(*keeper));
  for (;;)
    ::pause();
}

}  // namespace troupe::detail
