#pragma once

#include <troupe/actors/protocol.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/runtime/resources/resources.hpp>
#include <troupe/runtime/store/durability.hpp>
#include <troupe/tune/schedule/asha.hpp>
#include <troupe/tune/schedule/fifo.hpp>
#include <troupe/tune/search/auto_searcher.hpp>
#include <troupe/tune/stop/stop.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What an experiment is told: plain aggregates for designated initialisers. Nothing is checked
/// here; `Tuner` checks everything before it touches the disk.
namespace troupe::tune {

/// What is searched, and how.
struct TuneConfig {
  /// The metric to optimise, a path such as "env/reward". Every result must have it. Empty: none;
  /// then nothing can be called the best, and schedulers that compare trials refuse to work.
  std::string metric{};
  Mode mode = Mode::max;

  /// Further metrics to optimise at the same time, for searchers that look for a Pareto front.
  /// Every result must have them. Schedulers and "the best" look at `metric` alone.
  std::vector<Objective> more_objectives{};
  /// Metrics that must be <= 0 for a configuration to be feasible. Every result must have them.
  /// Searchers that know constraints avoid what is infeasible.
  std::vector<std::string> constraints{};

  /// Configurations to try first, in this order. They count as samples; parameters that they leave
  /// out are drawn. Values must lie in the space; their form is that of `Domain::adopt`. Who gives
  /// a parameter with a condition gives what it depends on.
  std::vector<Config> points_to_evaluate{};
  /// Results from earlier, of this or a similar space, that searchers learn from before the first
  /// trial: `ResultGrid::known_results()` of another experiment, for example. Those that do not fit
  /// the space, break its rules, or lack an objective or constraint although they have metrics, are
  /// left out, with a warning.
  std::vector<KnownResult> known_results{};
  /// May a searcher suggest a configuration again when it has tried everything? Otherwise the
  /// experiment ends there. `basic_variant` does not look back: it may draw one twice.
  bool allow_repeats = false;

  /// How often the space is sampled; each grid multiplies it. Nothing: once, and with a searcher
  /// that enumerates (`brute_force`) as often as it has configurations. Fewer trials when a
  /// searcher has tried every configuration of a finite space before. -1: without end (set a time
  /// budget then: criteria to stop end trials only). Never 0.
  std::optional<std::int64_t> num_samples{};

  /// At most so many trials at a time, >= 1. Nothing: as many as the CPUs allow.
  std::optional<std::uint32_t> max_concurrent_trials{};

  /// The time that the experiment may run, pauses between restarts not counted. Then every trial
  /// ends with its next result, or after five seconds without one. > 0.
  std::optional<Duration> time_budget{};

  /// Let one worker run many trials: between them `reset_config` takes the place of a fresh start.
  bool reuse_actors = false;

  /// Nothing: `fifo()`. The object is copied when the experiment starts.
  std::shared_ptr<Scheduler> scheduler{};
  /// Nothing: `auto_searcher()`, which learns from `metric`; every cell of the grids where there is
  /// a `grid_search`, and random search where there is no metric. The object is copied.
  std::shared_ptr<Searcher> search_alg{};

  /// Of all randomness. Nothing: drawn once and stored with the experiment.
  std::optional<std::uint64_t> seed{};

  /// Take the results of the running trials in turn, so that a run equals every other run with the
  /// same seed even when the searcher learns or the scheduler compares trials, whatever the timing
  /// and whatever is killed and restored in between. The price: a fast trial waits for the slow
  /// ones beside it.
  bool deterministic = false;
};

struct FailureConfig {
  /// Failures of user code that a trial survives; it goes on from its newest checkpoint each time.
  /// -1: any number. What would be the same again is final at once: a metric that is missing, a
  /// function without any result to judge, a result too large to be sent.
  std::int32_t max_failures = 0;

  /// The first trial that fails for good stops the experiment; the others stay unfinished and can
  /// be restored. Only with `max_failures` 0.
  bool fail_fast = false;

  /// Deaths that are not the user's fault (killed from outside, host trouble) that a trial
  /// survives. They never count as failures. As after a failure the trial waits behind the others
  /// and goes on from its newest checkpoint; with `TuneConfig::deterministic` it keeps its place.
  /// -1: any number.
  std::int32_t max_infrastructure_failures = 10;

  /// The longest that one call of `step` or `save_checkpoint` may take (function API: from one
  /// report to the next). Then it is asked to return (`should_stop`), after
  /// `RuntimeOptions::stop_grace` its process is killed, or its thread left behind, and the trial
  /// fails, as a failure of user code. Nothing: no limit, and a warning in the log after 10
  /// minutes. `cleanup` has the same limit; where it is the last call of a worker, `stop_grace`, as
  /// has a function from the answer to its last report to its return.
  std::optional<Duration> step_timeout{};

  /// The same for `setup`, `reset_config` and `load_checkpoint` (with the check of the files before
  /// it), which are slow by design: one limit for each call.
  std::optional<Duration> setup_timeout{};
};

struct CheckpointConfig {
  /// Checkpoints kept per trial, >= 1. The newest is always kept, so there may be one more.
  /// Nothing: all of them.
  std::optional<std::uint32_t> num_to_keep{};

  /// The metric by which checkpoints are ranked for `num_to_keep`. Empty: newer is better.
  /// A checkpoint whose result lacks the metric, or has NaN, ranks lowest.
  std::string checkpoint_score_attribute{};
  Mode checkpoint_score_order = Mode::max;

  /// Save every so many iterations; 0: not by frequency. Class trainables only.
  std::int64_t checkpoint_frequency = 0;

  /// Save when a trial ends. Class trainables only. Nothing: true when `checkpoint_frequency` is
  /// set (the trainable saves, so the end is kept too), false otherwise.
  std::optional<bool> checkpoint_at_end{};
};

/// Threads and buffers of a worker take about so much before user code runs.
inline constexpr std::uint64_t least_worker_memory = std::uint64_t{32} << 20;

struct RunConfig {
  /// The experiment's folder below `storage_path`. Empty: trainable, date and time.
  std::string name{};
  /// Empty: $TROUPE_STORAGE_PATH, else "troupe_results" in the home directory.
  std::filesystem::path storage_path{};

  StopCriteria stop{};
  FailureConfig failure_config{};
  CheckpointConfig checkpoint_config{};

  Isolation isolation = Isolation::process;
  /// Trials run at a time while their CPUs and memory fit into those of this process. A trial that
  /// never could is refused. `cpus`: 0, then set `max_concurrent_trials`, or 0.0001 and more.
  /// `memory_bytes`: the limit of its process, `least_worker_memory` or more; 0: none, not counted.
  ResourceRequest resources_per_trial{};

  /// How long running trials have for one more result when the experiment is asked to stop (SIGINT,
  /// SIGTERM, `Tuner::request_stop`). With that result a class trainable saves a checkpoint, where
  /// `checkpoint_config` asks for any; without it the step is given up, and a restore goes on from
  /// the checkpoint before. >= 0. Nothing: 20 s where a checkpoint would be saved, else 5 s. A
  /// deterministic run does not wait: results that come out of turn would not count.
  std::optional<Duration> stop_patience{};

  /// Write what a trial prints to `output.log` in its folder, too (process isolation).
  bool log_to_file = false;
  /// What is shown on stderr. 0: only what is wrong. 1: the progress, and one line at the end: how
  /// it ended and where the results lie. 2: also what happens to each trial, and at the end the
  /// best one.
  std::int32_t verbose = 1;
  /// Write params.json, result.json and progress.csv.
  bool result_files = true;
  Durability durability = Durability::normal;
};

/// What a restore does with a group of trials.
enum class Resume : std::uint8_t {
  skip,     ///< leave them as they are; unfinished ones are declared TERMINATED
  resume,   ///< go on with the same trial from its newest checkpoint
  restart,  ///< a new trial with the same configuration, from the beginning
};

constexpr Resume enum_last(Resume) noexcept {
  return Resume::restart;
}

/// Finished trials are never touched.
struct ResumeConfig {
  Resume unfinished = Resume::resume;
  Resume errored = Resume::skip;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& unfinished& errored;
  }
};

/// Ok, or invalid_argument naming the field, what is wrong with it, and how to put it right.
/// `is_function`: the trainable uses the function API.
[[nodiscard]] Status check(const TuneConfig& config);
[[nodiscard]] Status check(const RunConfig& config, bool is_function,
                           bool saves_checkpoints = true);

}  // namespace troupe::tune
