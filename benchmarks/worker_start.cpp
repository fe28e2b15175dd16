#include <troupe/runtime/store/secondary_reader.hpp>
#include <troupe/tune/experiment_reader.hpp>

#include <cstdint>
#include <cstdio>
#include <map>
#include <vector>

#include "benchmarks/benchmark.hpp"
#include "benchmarks/tuning.hpp"

namespace {

using namespace troupe;
using namespace troupe::bench;

/// One step that costs nothing.
class FirstStep : public tune::Trainable {
public:
  Metrics step() override { return {{"loss", 0.0}, {"done", true}}; }
};
TROUPE_TRAINABLE(FirstStep);

/// Milliseconds from the decision to start a trial in a fresh process until the result of its first
/// step is there, by the times in the journal.
std::vector<double> start_times_ms(const std::filesystem::path& experiment) {
  const auto reader = open_secondary(experiment).value_or_throw();
  std::map<TrialId, Duration> started;
  std::vector<double> times_ms;
  tune::for_each_event(
      *reader, Sequence(0),
      [&](Sequence sequence, const tune::EventRecord& event) {
        if (tune::result_of(sequence, event)) {
          const Duration took = event.run_time - started.at(*event.decision.trial);
          times_ms.push_back(std::chrono::duration<double, std::milli>(took).count());
        }
        for (const tune::Action& action : event.decision.actions)
          if (const auto* start = std::get_if<tune::StartTrial>(&action))
            started[start->key.trial] = event.run_time;
        return true;
      })
      .value_or_throw();
  return times_ms;
}

BenchmarkResult run(const BenchmarkArguments& arguments) {
  std::puts(
      "A fresh worker process for each trial, one after the other: from the decision to start\n"
      "it until the result of its first step has arrived (spawn, exec, link, set-up, step).");
  Runtime runtime;
  const std::int64_t trials = arguments.quick ? 50 : 300;
  const auto results =
      tune::Tuner(runtime, "FirstStep",
                  {.tune_config = {.num_samples = trials, .max_concurrent_trials = 1},
                   .run_config = silent_run(arguments.folder, "starts", Isolation::process)})
          .fit();
  const std::vector<double> times = start_times_ms(results.experiment_path());
  const double p50 = quantile(times, 0.5);
  const double p99 = quantile(times, 0.99);
  std::printf("%zu starts: %.1f ms (p50), %.1f ms (p99)\n", times.size(), p50, p99);
  return {{"p50_ms", p50}, {"p99_ms", p99}};
}

const BenchmarkRegistration registration{
    "worker_start", "a worker process from the decision until its first result", run};

}  // namespace
