#pragma once

#include <troupe/tune/experiment_spec.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace troupe::simulation {

/// What user code does in one trial: a function of the scenario's seed, the trial and the
/// iteration, so that every run sees the same.
struct Behaviour {
  std::uint64_t length = 0;     ///< says done after so many steps
  std::uint64_t poison = 0;     ///< fails at this iteration each time it gets there; 0: never
  bool poison_kills = false;    ///< the failure is a crash of the process
  bool hangs = false;           ///< ... or a step that does not end
  bool forgets_metric = false;  ///< reports without the metric at iteration 2
  bool reports_nan = false;
};

/// How often things go wrong that are nobody's plan. Probabilities per occasion.
struct Trouble {
  double worker_dies = 0;        ///< infrastructure: per step
  double start_fails = 0;        ///< infrastructure: per worker
  double flaky = 0;              ///< user failure that does not come again: per step
  double reset_refused = 0;      ///< per reset
  double save_fails = 0;         ///< user failure: per checkpoint
  double damage = 0;             ///< per checkpoint
  double driver_dies = 0;        ///< or has a fault waiting for it: per event
  double power_loss = 0;         ///< share of driver deaths
  double clean_stop = 0;         ///< share of driver deaths
  double fault = 0;              ///< share of driver deaths: a fault point is armed instead
  double creation_fault = 0;     ///< at the first start: a fault point is armed before it
  double opening_fault = 0;      ///< the same, per later start
  std::uint32_t max_deaths = 0;  ///< of the driver
};

/// One experiment with everything that happens to it, made from a seed.
struct Scenario {
  std::uint64_t seed = 0;
  tune::ExperimentDefinition definition;
  double cpus = 4;
  bool cpus_change = false;  ///< with each start of the driver
  Trouble trouble;
  tune::ResumeConfig resume;
  std::uint64_t mean_length = 5;
  bool poison = false;
  bool awkward_metrics = false;
  /// The final table must be that of an undisturbed run.
  bool comparable = false;
  std::size_t snapshot_interval = 2000;

  Behaviour behaviour(TrialId trial) const;
  double loss(TrialId trial, std::uint64_t iteration) const;
  bool function_saves(TrialId trial, std::uint64_t iteration) const;
  /// The same experiment where nothing goes wrong that is nobody's plan.
  Scenario undisturbed() const;
  std::string describe() const;
};

/// Anything goes: all features, all troubles.
Scenario random_scenario(std::uint64_t seed);
/// The same, where most of what kills a driver are faults, of a disk that has files.
Scenario faults_on_disk(std::uint64_t seed);
/// Grid and random search with FIFO, killed often; the table must not show it.
Scenario fifo_under_kills(std::uint64_t seed);
/// The same with a scheduler that compares trials, in deterministic order.
Scenario asha_under_kills(std::uint64_t seed);
Scenario pauser_under_kills(std::uint64_t seed);
/// The same with a searcher that learns, asked beside the loop.
Scenario learner_under_kills(std::uint64_t seed);

}  // namespace troupe::simulation
