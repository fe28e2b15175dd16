#pragma once

#include <troupe/base/clock.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Numbers about the running process (queue lengths, latencies, dropped messages) for dashboards,
/// in the text format of Prometheus. Not the metrics of a trial: those are `Metrics`.
///
/// Look a metric up once and keep the reference; an update is one atomic operation and never locks.
namespace troupe {

/// Only goes up.
class Counter {
public:
  void add(std::uint64_t n = 1) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t value() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

private:
  std::atomic<std::uint64_t> value_{0};
};

/// Goes up and down.
class Gauge {
public:
  void set(double v) noexcept { value_.store(v, std::memory_order_relaxed); }
  void add(double v) noexcept;
  [[nodiscard]] double value() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
  std::atomic<double> value_{0};
};

/// Counts observations in buckets; a bucket holds what is <= its bound, the last one everything.
class Histogram {
public:
  explicit Histogram(std::vector<double> upper_bounds);

  void observe(double v) noexcept;
  [[nodiscard]] std::uint64_t count() const noexcept;
  [[nodiscard]] double sum() const noexcept { return sum_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::span<const double> bounds() const noexcept { return bounds_; }
  /// Observations in bucket `i` alone (`bounds().size()` is the one for the rest).
  [[nodiscard]] std::uint64_t bucket(std::size_t i) const noexcept {
    return buckets_[i].load(std::memory_order_relaxed);
  }

  /// From 10 us to 60 s, for latencies in seconds.
  static std::vector<double> latency_bounds_s();

private:
  std::vector<double> bounds_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> buckets_;
  std::atomic<double> sum_{0};
};

/// Observes in a histogram the seconds from its making to its end.
class HistogramTimer {
public:
  explicit HistogramTimer(Histogram& seconds) : seconds_(seconds), begin_(real_clock().now()) {}
  ~HistogramTimer() {
    seconds_.observe(std::chrono::duration<double>(real_clock().now() - begin_).count());
  }
  HistogramTimer(const HistogramTimer&) = delete;
  HistogramTimer& operator=(const HistogramTimer&) = delete;

private:
  Histogram& seconds_;
  TimePoint begin_;
};

/// Label names and values. Keep the number of different values small: no trial ids, no paths.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

/// Safe to use from any thread. References stay valid as long as the registry.
class MetricsRegistry {
public:
  MetricsRegistry();
  ~MetricsRegistry();
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  /// The registry of the process.
  static MetricsRegistry& global();

  /// Finds or makes a series. Throws Exception invalid_argument for a name or label that Prometheus
  /// does not allow, failed_precondition when the name is used for another kind, resource_exhausted
  /// beyond limits::max_metric_series. `help` of the first call counts.
  Counter& counter(std::string_view name, const MetricLabels& labels = {},
                   std::string_view help = {});
  Gauge& gauge(std::string_view name, const MetricLabels& labels = {}, std::string_view help = {});
  /// `upper_bounds` ascend and are finite; those of the first call count for the name.
  Histogram& histogram(std::string_view name, const MetricLabels& labels = {},
                       std::string_view help = {},
                       std::vector<double> upper_bounds = Histogram::latency_bounds_s());

  /// All series, sorted by name and labels: Prometheus text exposition format 0.0.4.
  [[nodiscard]] std::string expose() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace troupe
