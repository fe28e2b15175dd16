#include <troupe/actors/detail/controller_metrics.hpp>

namespace troupe::detail {

namespace {

Counter& workers_started(const char* isolation) {
  return MetricsRegistry::global().counter("troupe_workers_started_total",
                                           {{"isolation", isolation}}, "Workers started");
}

Counter& counter(const char* name, const char* help) {
  return MetricsRegistry::global().counter(name, {}, help);
}

}  // namespace

ControllerMetrics::ControllerMetrics()
    : events_(counter("troupe_events_total", "Events that trial loops have taken")),
      commands_(counter("troupe_commands_total", "Commands to workers, stores and searchers")),
      stale_events_(counter("troupe_stale_events_total",
                            "Events dropped because they came from workers that were gone")),
      process_workers_(workers_started("process")),
      thread_workers_(workers_started("thread")),
      abandoned_threads_(counter("troupe_abandoned_threads_total",
                                 "Threads left behind because their step did not end")),
      suggestion_seconds_(MetricsRegistry::global().histogram(
          "troupe_suggestion_seconds", {}, "Computing suggestions, beside the trial loop")) {}

void ControllerMetrics::update(const ControllerCounters& counters) {
  events_.add(counters.events - told_.events);
  commands_.add(counters.commands - told_.commands);
  stale_events_.add(counters.stale_events - told_.stale_events);
  process_workers_.add(counters.process_workers - told_.process_workers);
  thread_workers_.add(counters.thread_workers - told_.thread_workers);
  abandoned_threads_.add(counters.abandoned_threads - told_.abandoned_threads);
  told_ = counters;
}

}  // namespace troupe::detail
