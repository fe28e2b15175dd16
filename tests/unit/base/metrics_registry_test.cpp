#include <troupe/base/error.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/base/metrics_registry.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("a timer observes once, also when its block ends by an exception") {
  Histogram seconds({60});
  {
    const HistogramTimer timer(seconds);
    CHECK(seconds.count() == 0);
  }
  CHECK(seconds.count() == 1);
  try {
    const HistogramTimer timer(seconds);
    throw 1;
  } catch (int) {
  }
  CHECK(seconds.count() == 2);
  CHECK(seconds.sum() >= 0);
}

TEST_CASE("the exposition is sorted, typed and escaped") {
  MetricsRegistry registry;
  registry.counter("troupe_reports_total", {{"node", "b"}, {"kind", "a\"\\\nz"}}, "Reports.\nAll.")
      .add(3);
  registry.gauge("troupe_queue_length").set(2.5);
  CHECK(registry.expose() ==
        "# TYPE troupe_queue_length gauge\n"
        "troupe_queue_length 2.5\n"
        "# HELP troupe_reports_total Reports.\\nAll.\n"
        "# TYPE troupe_reports_total counter\n"
        "troupe_reports_total{kind=\"a\\\"\\\\\\nz\",node=\"b\"} 3\n");
}

TEST_CASE("a series is found again whatever the order of its labels") {
  MetricsRegistry registry;
  Counter& first = registry.counter("c", {{"a", "1"}, {"b", "2"}});
  Counter& second = registry.counter("c", {{"b", "2"}, {"a", "1"}});
  CHECK(&first == &second);
  CHECK(&first != &registry.counter("c", {{"a", "1"}}));
}

TEST_CASE("histogram buckets are cumulative and include their bound") {
  MetricsRegistry registry;
  Histogram& h = registry.histogram("h", {{"x", "y"}}, "", {1, 2.5});
  for (const double v : {0.5, 1.0, 2.0, 2.5, 9.0})
    h.observe(v);
  CHECK(h.count() == 5);
  CHECK(registry.expose() ==
        "# TYPE h histogram\n"
        "h_bucket{x=\"y\",le=\"1\"} 2\n"
        "h_bucket{x=\"y\",le=\"2.5\"} 4\n"
        "h_bucket{x=\"y\",le=\"+Inf\"} 5\n"
        "h_sum{x=\"y\"} 15\n"
        "h_count{x=\"y\"} 5\n");
}

TEST_CASE("NaN and infinity are counted beyond every bound") {
  Histogram h({1});
  h.observe(std::nan(""));
  h.observe(std::numeric_limits<double>::infinity());
  CHECK(h.bucket(0) == 0);
  CHECK(h.bucket(1) == 2);
}

TEST_CASE("the bounds of the first call count for all series of a name") {
  MetricsRegistry registry;
  registry.histogram("h", {{"a", "1"}}, "", {1, 2});
  CHECK(registry.histogram("h", {{"a", "2"}}, "", {7}).bounds().size() == 2);
}

TEST_CASE("wrong names, labels, kinds and bounds are refused") {
  MetricsRegistry registry;
  CHECK_THROWS_AS(registry.counter("1st"), Exception);
  CHECK_THROWS_AS(registry.counter("a-b"), Exception);
  CHECK_THROWS_AS(registry.counter(""), Exception);
  CHECK_THROWS_AS(registry.counter("a", {{"le", "1"}}), Exception);
  CHECK_THROWS_AS(registry.counter("a", {{"__x", "1"}}), Exception);
  CHECK_THROWS_AS(registry.counter("a", {{"x", "1"}, {"x", "2"}}), Exception);
  CHECK_THROWS_AS(registry.histogram("h", {}, "", {2, 1}), Exception);
  CHECK_THROWS_AS(registry.histogram("h", {}, "", {1, 1}), Exception);
  registry.gauge("g");
  CHECK_THROWS_WITH(registry.counter("g"), "failed_precondition: metric 'g' is a gauge already");
}

TEST_CASE("too many series are refused, those there are still work") {
  MetricsRegistry registry;
  for (std::size_t i = 0; i < limits::max_metric_series; ++i)
    registry.counter("c", {{"i", std::to_string(i)}});
  CHECK_THROWS_AS(registry.counter("c", {{"i", "one more"}}), Exception);
  registry.counter("c", {{"i", "0"}}).add();
  CHECK(registry.expose().find("one more") == std::string::npos);
}

TEST_CASE("updates from many threads are all counted") {
  MetricsRegistry registry;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        registry.counter("c").add();
        registry.gauge("g").add(0.5);
        registry.histogram("h", {}, "", {1}).observe(0.5);
      }
    });
  for (auto& thread : threads)
    thread.join();
  CHECK(registry.counter("c").value() == 4000);
  CHECK(registry.gauge("g").value() == 2000);
  CHECK(registry.histogram("h").count() == 4000);
}
