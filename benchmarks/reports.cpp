#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/benchmark.hpp"
#include "benchmarks/tuning.hpp"

namespace {

using namespace troupe;
using namespace troupe::bench;

using BenchClock = std::chrono::steady_clock;

/// Reports as fast as its reports are accepted, and measures how long each takes: from the end of a
/// step to the beginning of the next one.
class Reporter : public tune::Trainable {
public:
  void setup(const Config& config) override {
    count_ = config.at("count").as_int();
    waits_us_.reserve(static_cast<std::size_t>(count_));
  }
  Metrics step() override {
    const auto begin = BenchClock::now();
    if (steps_ > 0)
      waits_us_.push_back(std::chrono::duration<double, std::micro>(begin - end_).count());
    Metrics metrics{{"loss", 1.0 / static_cast<double>(++steps_)}, {"done", steps_ == count_}};
    if (steps_ == count_)
      metrics["waits_us"] = quantiles();
    end_ = BenchClock::now();
    return metrics;
  }

private:
  /// A thousand of them stand for all.
  List quantiles() {
    std::sort(waits_us_.begin(), waits_us_.end());
    List list;
    for (std::size_t i = 0; i <= 1000; ++i)
      list.emplace_back(waits_us_[i * (waits_us_.size() - 1) / 1000]);
    return list;
  }

  std::int64_t count_ = 0;
  std::int64_t steps_ = 0;
  BenchClock::time_point end_;
  std::vector<double> waits_us_;
};
TROUPE_TRAINABLE(Reporter);

constexpr std::int64_t trials = 16;

void measure(const BenchmarkArguments& arguments, const std::string& name, Isolation isolation,
             std::int64_t count, BenchmarkResult& result) {
  if (arguments.quick)
    count /= 10;
  RuntimeOptions options;
  options.cpus = static_cast<double>(trials);
  Runtime runtime(options);
  std::vector<double> waits_us;
  const double seconds = seconds_of([&] {
    const auto results = tune::Tuner(runtime, "Reporter",
                                     {.param_space = {{"count", count}},
                                      .tune_config = {.metric = "loss",
                                                      .mode = Mode::min,
                                                      .num_samples = trials,
                                                      .search_alg = tune::basic_variant()},
                                      .run_config = silent_run(arguments.folder, name, isolation)})
                             .fit();
    for (const auto& trial : results)
      for (const Value& wait : trial.metrics.at("waits_us").as_list())
        waits_us.push_back(wait.as_double());
  });
  const double rate = static_cast<double>(count * trials) / seconds;
  const double p99 = quantile(waits_us, 0.99);
  std::printf("%-8s %lld results in %.2f s: %.0f/s, a report takes %.0f us (p50), %.0f us (p99)\n",
              name.c_str(), static_cast<long long>(count * trials), seconds, rate,
              quantile(waits_us, 0.5), p99);
  result.emplace_back(name + "_results_per_s", rate);
  result.emplace_back(name + "_p99_us", p99);
}

BenchmarkResult run(const BenchmarkArguments& arguments) {
  std::puts(
      "16 trials report as fast as their reports are accepted by the journal. Ray publishes\n"
      "about 570 results/s (96 trials, 10 results/s each, 100 s in 168.9 s), loggers off.");
  BenchmarkResult result;
  measure(arguments, "thread", Isolation::thread, 20'000, result);
  measure(arguments, "process", Isolation::process, 10'000, result);
  return result;
}

const BenchmarkRegistration registration{
    "reports", "accepted results per second of 16 trials, and how long one takes", run};

}  // namespace
