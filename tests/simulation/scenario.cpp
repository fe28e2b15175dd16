#include "scenario.hpp"

#include <troupe/base/random.hpp>

#include <cmath>
#include <limits>
#include <sstream>

#include "near_best.hpp"
#include "random_pauser.hpp"

namespace troupe::simulation {
namespace {

Random draw_for(std::uint64_t seed, std::uint64_t stream, std::uint32_t counter = 0) {
  return Random(seed, stream, RandomPurpose::test, counter);
}

constexpr std::uint64_t scenario_stream = std::uint64_t{1} << 40;

tune::ExperimentDefinition base_definition(std::uint64_t seed) {
  tune::ExperimentDefinition d;
  d.name = "simulated";
  d.trainable = "Fake";
  d.param_space = {{"x", tune::uniform(-1, 1)},
                   {"layers", tune::grid_search({1, 2, 3})},
                   {"net", {{"act", tune::choice({"relu", "tanh"})}, {"width", 8}}}};
  d.tune_config.metric = "loss";
  d.tune_config.mode = Mode::min;
  d.tune_config.seed = seed;
  d.run_config.failure_config.max_infrastructure_failures = -1;
  d.now_ms = 1'700'000'000'000;
  return d;
}

void add_kills(Scenario& s, Random& random) {
  s.trouble.worker_dies = random.uniform(0, 0.05);
  s.trouble.start_fails = random.uniform(0, 0.1);
  s.trouble.reset_refused = random.uniform(0, 0.2);
  s.trouble.driver_dies = random.uniform(0.002, 0.03);
  s.trouble.power_loss = random.uniform(0, 0.5);
  s.trouble.fault = random.uniform(0, 0.3);
  s.trouble.max_deaths = 30;
}

void choose_checkpoints(Scenario& s, Random& random) {
  tune::CheckpointConfig& c = s.definition.run_config.checkpoint_config;
  if (!s.definition.is_function && random.chance(0.6))
    c.checkpoint_frequency = random.uniform_int(1, 3);
  if (random.chance(0.4))
    c.num_to_keep = static_cast<std::uint32_t>(random.uniform_int(1, 3));
  if (random.chance(0.5))
    c.checkpoint_score_attribute = "loss";
  c.checkpoint_score_order = Mode::min;
}

Scenario killed(std::uint64_t seed) {
  Random random = draw_for(seed, scenario_stream, 1);
  Scenario s;
  s.seed = seed;
  s.definition = base_definition(seed);
  s.definition.tune_config.num_samples = random.uniform_int(1, 5);
  s.definition.tune_config.reuse_actors = random.chance(0.5);
  s.definition.is_function = random.chance(0.3);
  s.cpus = static_cast<double>(random.uniform_int(1, 4));
  s.mean_length = static_cast<std::uint64_t>(random.uniform_int(1, 8));
  s.poison = random.chance(0.5);
  s.definition.run_config.failure_config.max_failures =
      static_cast<std::int32_t>(random.uniform_int(0, 2));
  choose_checkpoints(s, random);
  add_kills(s, random);
  s.comparable = true;
  s.snapshot_interval = static_cast<std::size_t>(random.uniform_int(1, 20'000));
  return s;
}

}  // namespace

Behaviour Scenario::behaviour(TrialId trial) const {
  Random random = draw_for(seed, trial.value, 2);
  Behaviour b;
  b.length = 1 + random.below(2 * mean_length);
  if (poison && random.chance(0.15)) {
    b.poison = 1 + random.below(b.length);
    b.poison_kills = random.chance(0.4);
    b.hangs = random.chance(0.2);
  }
  b.forgets_metric = awkward_metrics && random.chance(0.1);
  b.reports_nan = awkward_metrics && random.chance(0.1);
  return b;
}

double Scenario::loss(TrialId trial, std::uint64_t iteration) const {
  if (behaviour(trial).reports_nan && iteration % 3 == 0)
    return std::numeric_limits<double>::quiet_NaN();
  Random random = draw_for(seed, trial.value, 3);
  const double quality = random.uniform();
  return quality + 1.0 / static_cast<double>(iteration);
}

bool Scenario::function_saves(TrialId trial, std::uint64_t iteration) const {
  Random random = draw_for(seed, trial.value, 1000 + static_cast<std::uint32_t>(iteration));
  return random.chance(0.4);
}

Scenario Scenario::undisturbed() const {
  Scenario calm = *this;
  calm.trouble = {};
  return calm;
}

std::string Scenario::describe() const {
  std::ostringstream out;
  const auto& t = definition.tune_config;
  const auto& r = definition.run_config;
  out << "scheduler " << (t.scheduler ? t.scheduler->name() : "fifo") << ", samples "
      << t.num_samples.value_or(1) << ", cpus " << cpus << ", reuse " << t.reuse_actors
      << ", function " << definition.is_function << ", deterministic " << t.deterministic
      << ", frequency " << r.checkpoint_config.checkpoint_frequency << ", keep "
      << r.checkpoint_config.num_to_keep.value_or(0) << ", max_failures "
      << r.failure_config.max_failures << ", fail_fast " << r.failure_config.fail_fast;
  return out.str();
}

Scenario random_scenario(std::uint64_t seed) {
  Random random = draw_for(seed, scenario_stream, 4);
  Scenario s = killed(seed);
  s.comparable = false;
  s.awkward_metrics = random.chance(0.5);
  tune::TuneConfig& t = s.definition.tune_config;
  tune::RunConfig& r = s.definition.run_config;
  const double kind = random.uniform();
  if (kind < 0.4)
    t.scheduler = std::make_shared<RandomPauser>();
  else if (kind < 0.7)
    t.scheduler = tune::asha({.max_t = 9, .reduction_factor = 2, .brackets = 2});
  if (draw_for(seed, scenario_stream, 7).chance(0.4))
    t.search_alg = std::make_shared<NearBest>();
  t.deterministic = random.chance(0.3);
  if (random.chance(0.3))
    t.max_concurrent_trials = static_cast<std::uint32_t>(random.uniform_int(1, 6));
  if (random.chance(0.2))
    t.time_budget = std::chrono::seconds(random.uniform_int(5, 200));
  if (random.chance(0.1))
    t.num_samples = -1, t.time_budget = std::chrono::seconds(random.uniform_int(5, 60));
  if (random.chance(0.3))
    r.resources_per_trial.cpus = random.chance(0.5) ? 0.5 : 0.25;
  if (random.chance(0.4))
    r.stop = {tune::metric("loss") <= random.uniform(0.1, 1.2), tune::max_iterations(6)};
  if (random.chance(0.1)) {
    r.failure_config.max_failures = 0;
    r.failure_config.fail_fast = true;
  } else if (random.chance(0.2)) {
    r.failure_config.max_failures = -1;
    s.poison = false;
  }
  if (random.chance(0.3) && !s.definition.is_function)
    r.checkpoint_config.checkpoint_at_end = true;
  if (random.chance(0.3))
    r.failure_config.max_infrastructure_failures =
        static_cast<std::int32_t>(random.uniform_int(0, 3));
  s.trouble.flaky = random.chance(0.5) ? 0.03 : 0;
  s.trouble.save_fails = random.chance(0.5) ? 0.03 : 0;
  s.trouble.damage = random.chance(0.5) ? 0.1 : 0;
  s.trouble.clean_stop = random.uniform(0, 0.4);
  s.cpus_change = random.chance(0.2);
  s.resume.errored = static_cast<tune::Resume>(random.below(3));
  if (random.chance(0.1))
    s.resume.unfinished = static_cast<tune::Resume>(random.below(3));
  return s;
}

Scenario faults_on_disk(std::uint64_t seed) {
  Scenario s = random_scenario(seed);
  s.trouble.power_loss = 0;  // what was written stays, here
  s.trouble.driver_dies = 0.2;
  s.trouble.fault = 0.93;
  s.trouble.clean_stop = 0.03;
  s.trouble.creation_fault = 1;
  s.trouble.opening_fault = 0.4;
  s.trouble.max_deaths = 16;
  // Most points lie where checkpoints are made and removed.
  tune::CheckpointConfig& c = s.definition.run_config.checkpoint_config;
  if (!s.definition.is_function)
    c.checkpoint_frequency = std::max<std::int64_t>(c.checkpoint_frequency, 1);
  c.num_to_keep = 1 + static_cast<std::uint32_t>(seed % 2);
  // A run must last until they have struck.
  tune::TuneConfig& t = s.definition.tune_config;
  t.num_samples = std::max<std::int64_t>(t.num_samples.value_or(1), 3);
  t.time_budget.reset();
  tune::FailureConfig& f = s.definition.run_config.failure_config;
  f.fail_fast = false;
  if (seed % 3 != 0) {
    f.max_failures = -1;
    s.poison = false;
  }
  return s;
}

Scenario fifo_under_kills(std::uint64_t seed) {
  Scenario s = killed(seed);
  if (draw_for(seed, scenario_stream, 5).chance(0.5))
    s.definition.run_config.stop = tune::metric("loss") <= 0.5;
  return s;
}

Scenario asha_under_kills(std::uint64_t seed) {
  Scenario s = killed(seed);
  s.definition.tune_config.deterministic = true;
  s.definition.tune_config.num_samples = 4;
  s.definition.tune_config.scheduler =
      tune::asha({.max_t = 8, .reduction_factor = 2, .brackets = 2});
  s.mean_length = 6;
  s.awkward_metrics = true;
  return s;
}

Scenario pauser_under_kills(std::uint64_t seed) {
  Scenario s = killed(seed);
  s.definition.tune_config.deterministic = true;
  s.definition.tune_config.scheduler = std::make_shared<RandomPauser>();
  return s;
}

Scenario learner_under_kills(std::uint64_t seed) {
  Scenario s = killed(seed);
  tune::TuneConfig& t = s.definition.tune_config;
  t.deterministic = true;
  t.num_samples = 8;
  t.search_alg = std::make_shared<NearBest>();
  if (draw_for(seed, scenario_stream, 6).chance(0.5))
    t.scheduler = tune::asha({.max_t = 8, .reduction_factor = 2});
  return s;
}

}  // namespace troupe::simulation
