#pragma once

#include <troupe/base/file.hpp>
#include <troupe/base/result.hpp>
#include <troupe/runtime/process/process.hpp>

#include <string>
#include <vector>

#include <sys/types.h>

/// The act of starting a process: everything that needs memory or files is prepared before, on the
/// caller's thread; the call itself is made on the thread that stays the parent.
namespace troupe::detail {

/// All that exec needs. The descriptors are the child's ends and are closed when it has started.
struct PreparedSpawn {
  std::string executable;
  std::vector<std::string> arguments;    ///< with argv[0]
  std::vector<std::string> environment;  ///< "NAME=value"
  FileDescriptor output;                 ///< becomes 1 and 2
  FileDescriptor socket;                 ///< becomes 3, if any
  std::vector<FileDescriptor> inherit;   ///< become 4, 5, ...
};

/// Our ends.
struct ParentEnds {
  FileDescriptor output;  ///< non-blocking
  FileDescriptor socket;
};

/// This process's environment as it is now. Not safe beside setenv.
std::vector<std::string> current_environment();

/// Checks the specification and makes pipe, socket pair, arguments and environment.
Result<std::pair<PreparedSpawn, ParentEnds>> prepare_spawn(
    const ProcessSpec& spec, const std::vector<std::string>& base_environment);

/// Starts it. The calling thread is what PR_SET_PDEATHSIG of the child refers to.
Result<pid_t> spawn_prepared(const PreparedSpawn& prepared);

}  // namespace troupe::detail
