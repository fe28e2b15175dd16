#include <troupe/runtime/process/detail/spawn.hpp>

#include <algorithm>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::detail {

namespace {

constexpr int first_inherited_fd = child_socket_fd + 1;

// Moves a descriptor out of the range that is set up in the child, so that putting one there never
// overwrites another that is still needed.
Result<FileDescriptor> lifted(FileDescriptor file, int floor) {
  if (file.get() >= floor)
    return file;
  const int moved = ::fcntl(file.get(), F_DUPFD_CLOEXEC, floor);
  if (moved < 0)
    return errno_error(errno, "cannot start a process: dup");
  return FileDescriptor(moved);
}

class FileActions {
public:
  FileActions() { error_ = ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void dup(int from, int to) { note(::posix_spawn_file_actions_adddup2(&actions_, from, to)); }
  void open_null(int to) {
    note(::posix_spawn_file_actions_addopen(&actions_, to, "/dev/null", O_RDONLY, 0));
  }
  void close(int fd) { note(::posix_spawn_file_actions_addclose(&actions_, fd)); }
  void close_from(int fd) { note(::posix_spawn_file_actions_addclosefrom_np(&actions_, fd)); }

  int error() const { return error_; }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
  void note(int error) {
    if (error_ == 0)
      error_ = error;
  }
  posix_spawn_file_actions_t actions_{};
  int error_ = 0;
};

class Attributes {
public:
  Attributes() {
    note(::posix_spawnattr_init(&attributes_));
    sigset_t all;
    sigset_t none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    note(::posix_spawnattr_setsigdefault(&attributes_, &all));
    note(::posix_spawnattr_setsigmask(&attributes_, &none));
    note(::posix_spawnattr_setpgroup(&attributes_, 0));
    note(::posix_spawnattr_setflags(
        &attributes_, static_cast<short>(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                         POSIX_SPAWN_SETSIGDEF)));
  }
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  int error() const { return error_; }
  const posix_spawnattr_t* get() const { return &attributes_; }

private:
  void note(int error) {
    if (error_ == 0)
      error_ = error;
  }
  posix_spawnattr_t attributes_{};
  int error_ = 0;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts)
    out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

Status check_spec(const ProcessSpec& spec) {
  bool bad = spec.executable.empty() || has_nul(spec.executable.string()) || has_nul(spec.name);
  bad = bad || std::any_of(spec.arguments.begin(), spec.arguments.end(), has_nul);
  for (const auto& [name, value] : spec.environment) {
    bad = bad || name.empty() || has_nul(name) || has_nul(value) ||
          name.find('=') != std::string::npos;
  }
  if (bad) {
    return Error(ErrorCode::invalid_argument,
                 "cannot start a process: the executable or the name of a variable is empty, or an "
                 "argument or variable contains a zero byte or its name an '='");
  }
  return ok();
}

std::vector<std::string> make_environment(const ProcessSpec& spec,
                                          const std::vector<std::string>& base) {
  auto additions = spec.environment;
  additions.emplace_back(parent_pid_variable, std::to_string(::getpid()));
  std::vector<std::string> out;
  out.reserve(base.size() + additions.size());
  for (const std::string& entry : base) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    if (std::none_of(additions.begin(), additions.end(),
                     [&](const auto& addition) { return addition.first == name; })) {
      out.push_back(entry);
    }
  }
  for (const auto& [name, value] : additions)
    out.push_back(name + '=' + value);
  return out;
}

Error spawn_error(int err, const std::string& executable) {
  std::string what = "cannot start " + executable;
  if (err == EAGAIN)
    what += " (the limit of processes is reached: ulimit -u, or pids.max of the control group)";
  if (err == EAGAIN || err == ENOMEM)
    return Error(ErrorCode::resource_exhausted, errno_error(err, what).message());
  if (err == ENOEXEC)
    what += " (not a program for this machine)";
  return errno_error(err, what);
}

}  // namespace

std::vector<std::string> current_environment() {
  std::vector<std::string> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    out.emplace_back(*entry);
  return out;
}

Result<std::pair<PreparedSpawn, ParentEnds>> prepare_spawn(
    const ProcessSpec& spec, const std::vector<std::string>& base_environment) {
  TROUPE_RETURN_IF_ERROR(check_spec(spec));
  PreparedSpawn child;
  ParentEnds ours;
  const int floor = first_inherited_fd + static_cast<int>(spec.inherit.size());

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return errno_error(errno, "cannot start a process: pipe");
  ours.output.reset(ends[0]);
  TROUPE_TRY(output, lifted(FileDescriptor(ends[1]), floor));
  child.output = std::move(output);
  if (::fcntl(ours.output.get(), F_SETFL, O_NONBLOCK) != 0)
    return errno_error(errno, "cannot start a process: fcntl");

  if (spec.socket) {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return errno_error(errno, "cannot start a process: socketpair");
    ours.socket.reset(ends[0]);
    TROUPE_TRY(socket, lifted(FileDescriptor(ends[1]), floor));
    child.socket = std::move(socket);
  }
  for (const int fd : spec.inherit) {
    const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, floor);
    if (copy < 0)
      return errno_error(errno, "cannot start a process: file " + std::to_string(fd));
    child.inherit.emplace_back(copy);
  }

  child.executable = spec.executable.string();
  const bool ourselves = child.executable == "/proc/self/exe";
  child.arguments.push_back(!spec.name.empty() ? spec.name
                            : ourselves        ? std::string(program_invocation_name)
                                               : child.executable);
  child.arguments.insert(child.arguments.end(), spec.arguments.begin(), spec.arguments.end());
  child.environment = make_environment(spec, base_environment);
  return std::pair(std::move(child), std::move(ours));
}

Result<pid_t> spawn_prepared(const PreparedSpawn& prepared) {
  FileActions actions;
  actions.open_null(STDIN_FILENO);
  actions.dup(prepared.output.get(), STDOUT_FILENO);
  actions.dup(prepared.output.get(), STDERR_FILENO);
  if (prepared.socket) {
    actions.dup(prepared.socket.get(), child_socket_fd);
  } else if (!prepared.inherit.empty()) {
    actions.close(child_socket_fd);
  }
  int next = first_inherited_fd;
  for (const FileDescriptor& file : prepared.inherit)
    actions.dup(file.get(), next++);
  actions.close_from(prepared.socket || !prepared.inherit.empty() ? next : child_socket_fd);

  const Attributes attributes;
  if (const int error = actions.error() != 0 ? actions.error() : attributes.error())
    return errno_error(error, "cannot start a process");
  const std::vector<char*> arguments = pointers(prepared.arguments);
  const std::vector<char*> environment = pointers(prepared.environment);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, prepared.executable.c_str(), actions.get(),
                                  attributes.get(), arguments.data(), environment.data());
  if (error != 0)
    return spawn_error(error, prepared.executable);
  return pid;
}

}  // namespace troupe::detail
