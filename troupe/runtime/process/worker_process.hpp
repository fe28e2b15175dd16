#pragma once

#include <troupe/base/result.hpp>

#include <cstdint>

/// The child's side: what a worker process does about itself before it runs anything else.
namespace troupe {

/// Ties this process to the one that started it (see `ProcessSpawner`) and makes it a good child:
/// - when the parent dies, however it dies, this process and its whole process group are killed;
/// - SIGINT is ignored (the driver decides), core files are off, the kernel prefers this process
///   to the driver when memory runs out;
/// - stdout is line buffered, so that a crash does not swallow what was printed;
/// - the socket (fd 3) is not inherited by processes that user code starts.
///
/// Call it once, first thing in `main`, before threads exist. Returns the socket, which the
/// caller owns. Installs a handler for SIGHUP and one small thread.
/// Errors: failed_precondition when the process was not started by a `ProcessSpawner` with a
/// socket, unavailable when the parent is dead already: exit then.
Result<int> become_worker_process();

/// Lets this process allocate at most `bytes` beyond what it holds now; an allocation beyond that
/// throws std::bad_alloc. Returns the limit in force, 0 when there is none (`bytes` is 0, or the
/// build has AddressSanitizer or ThreadSanitizer, whose shadow memory would count).
/// Counts heap, writable private mappings and thread stacks (8 MiB each), touched or not; not code,
/// shared mappings and address space that is merely reserved (RLIMIT_DATA).
Result<uint64_t> limit_worker_memory(uint64_t bytes);

/// What `limit_worker_memory` set, for error messages; 0: no limit.
uint64_t worker_memory_limit();

/// Kills this process and everything it started, at once: the parent is gone.
[[noreturn]] void die_with_process_group();

}  // namespace troupe
