#pragma once

#include <ctime>

namespace troupe::bench {

/// Seconds of CPU that this thread has used: what others do on the machine hardly shows.
inline double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace troupe::bench
