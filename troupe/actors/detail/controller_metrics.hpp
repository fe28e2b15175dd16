#pragma once

#include <troupe/actors/controller_core.hpp>
#include <troupe/base/metrics_registry.hpp>

namespace troupe::detail {

/// What a controller adds to the numbers of the process (`MetricsRegistry::global()`).
///
/// Thread rules: one thread; the histogram may be used from any.
class ControllerMetrics {
public:
  ControllerMetrics();

  /// Adds what was counted since the last call.
  void update(const ControllerCounters& counters);

  /// Seconds that suggestions took which were computed beside the loop.
  Histogram& suggestion_seconds() { return suggestion_seconds_; }

private:
  ControllerCounters told_;
  Counter& events_;
  Counter& commands_;
  Counter& stale_events_;
  Counter& process_workers_;
  Counter& thread_workers_;
  Counter& abandoned_threads_;
  Histogram& suggestion_seconds_;
};

}  // namespace troupe::detail
