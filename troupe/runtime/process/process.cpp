#include <troupe/runtime/process/detail/child_process.hpp>
#include <troupe/runtime/process/detail/reactor.hpp>
#include <troupe/runtime/process/detail/spawn.hpp>
#include <troupe/runtime/process/process.hpp>

namespace troupe {

pid_t Process::pid() const {
  return child_->pid();
}
FileDescriptor Process::take_socket() {
  return child_->take_socket();
}
void Process::terminate(Duration grace) {
  child_->terminate(grace);
}
bool Process::send_signal(int signal) {
  return child_->send_signal(signal);
}
std::optional<ExitStatus> Process::exit_status() const {
  return child_->exit_status();
}
Result<ExitStatus> Process::wait(Duration timeout) const {
  return child_->wait(timeout);
}
bool Process::stopped() const {
  return child_->stopped();
}

Status Process::set_log_file(const std::filesystem::path& path, uint64_t limit_bytes) {
  return child_->output().set_log_file(path, limit_bytes);
}

std::string Process::output_tail() const {
  return child_->output().tail();
}

class ProcessSpawner::Impl {
public:
  std::vector<std::string> environment = detail::current_environment();
  detail::Reactor reactor;
};

ProcessSpawner::ProcessSpawner() : impl_(std::make_unique<Impl>()) {}

ProcessSpawner::~ProcessSpawner() {
  impl_->reactor.shut_down(shutdown_limit);
}

Result<Process> ProcessSpawner::spawn(ProcessSpec spec, ProcessEvents events) {
  TROUPE_TRY(prepared, detail::prepare_spawn(spec, impl_->environment));
  auto& [child, ours] = prepared;
  auto output = std::make_unique<detail::OutputCapture>(std::move(ours.output));
  if (!spec.log_file.empty())
    TROUPE_RETURN_IF_ERROR(output->set_log_file(spec.log_file, spec.log_limit_bytes));
  TROUPE_TRY(process, impl_->reactor.start({.prepared = std::move(child),
                                            .socket = std::move(ours.socket),
                                            .output = std::move(output),
                                            .events = std::move(events)}));
  return Process(std::move(process));
}

size_t ProcessSpawner::running() const {
  return impl_->reactor.running();
}

}  // namespace troupe
