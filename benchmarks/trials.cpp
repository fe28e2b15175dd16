#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

#include <sys/resource.h>

#include "benchmarks/benchmark.hpp"
#include "benchmarks/tuning.hpp"

namespace {

using namespace troupe;
using namespace troupe::bench;

/// One step that costs nothing.
class Instant : public tune::Trainable {
public:
  void setup(const Config& config) override { reset_config(config); }
  Metrics step() override { return {{"loss", x_ * x_}, {"done", true}}; }
  bool reset_config(const Config& config) override {
    x_ = config.at("x").as_double();
    return true;
  }

private:
  double x_ = 0;
};
TROUPE_TRAINABLE(Instant);

/// Enough trials at a time to keep two cores busy while each waits for the journal.
constexpr double slots = 16;

double trials_per_s(const BenchmarkArguments& arguments, const std::string& name,
                    Isolation isolation, bool reuse, std::int64_t trials) {
  if (arguments.quick)
    trials /= 10;
  RuntimeOptions options;
  options.cpus = slots;
  Runtime runtime(options);
  const double seconds = seconds_of([&] {
    const auto results = tune::Tuner(runtime, "Instant",
                                     {.param_space = {{"x", tune::uniform(-10, 10)}},
                                      .tune_config = {.metric = "loss",
                                                      .mode = Mode::min,
                                                      .num_samples = trials,
                                                      .reuse_actors = reuse,
                                                      .search_alg = tune::basic_variant(),
                                                      .seed = 1},
                                      .run_config = silent_run(arguments.folder, name, isolation)})
                             .fit();
    if (results.num_terminated() != static_cast<std::size_t>(trials))
      throw std::runtime_error(name + ": not every trial ended well");
  });
  const double rate = static_cast<double>(trials) / seconds;
  std::printf("%-14s %6lld trials in %.2f s: %.0f/s\n", name.c_str(),
              static_cast<long long>(trials), seconds, rate);
  return rate;
}

BenchmarkResult run(const BenchmarkArguments& arguments) {
  std::puts(
      "10,000 trials of one instant step, 16 at a time, every decision in the journal; result\n"
      "files off. Ray publishes about 110 trials/s of bookkeeping on 16 cores (10,000 trials of\n"
      "1 s in 715 s where 625 s are ideal), with its result files off as well.");
  BenchmarkResult result;
  result.emplace_back("thread_reuse_trials_per_s",
                      trials_per_s(arguments, "thread_reuse", Isolation::thread, true, 10'000));
  result.emplace_back("thread_fresh_trials_per_s",
                      trials_per_s(arguments, "thread_fresh", Isolation::thread, false, 10'000));
  result.emplace_back("process_reuse_trials_per_s",
                      trials_per_s(arguments, "process_reuse", Isolation::process, true, 10'000));
  result.emplace_back("process_fresh_trials_per_s",
                      trials_per_s(arguments, "process_fresh", Isolation::process, false, 1'000));
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  result.emplace_back("peak_rss_mb", static_cast<double>(usage.ru_maxrss) / 1024);
  return result;
}

const BenchmarkRegistration registration{
    "trials", "whole trials per second, threads and processes, reused and fresh", run};

}  // namespace
