#pragma once

namespace troupe::detail {

/// The first argument of a worker process.
inline constexpr const char* worker_argument = "--troupe-worker";
/// Set in the environment of a worker process until it has begun to be one.
inline constexpr const char* worker_variable = "TROUPE_WORKER";

/// The `caf.middleman.app-identifiers` of the system that started it, one a line: CAF refuses to
/// connect systems that have none in common.
inline constexpr const char* app_identifiers_variable = "TROUPE_APP_IDENTIFIERS";

/// Exit statuses of a worker process that Troupe itself ends (sysexits.h).
inline constexpr int exit_misused = 64;         ///< `main` did not hand over to Troupe
inline constexpr int exit_no_agent = 69;        ///< no link to whoever started it
inline constexpr int exit_lost_user = 70;       ///< user code ended its thread
inline constexpr int exit_cleanup_failed = 71;  ///< ended as told, but user code could not clean up

/// Runs this process as a worker until it is told to end, or until whoever started it is gone.
[[noreturn]] void worker_main();

/// True when this process was started as a worker and has not begun to be one: `main` went on to
/// something else instead of calling `troupe::run` or `run_worker_if_asked`.
bool worker_not_begun();

}  // namespace troupe::detail
