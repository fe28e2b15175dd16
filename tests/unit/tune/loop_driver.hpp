#pragma once

#include <troupe/base/clock.hpp>
#include <troupe/runtime/store/memory_journal.hpp>
#include <troupe/tune/experiment_reader.hpp>
#include <troupe/tune/experiment_spec.hpp>
#include <troupe/tune/trial_loop.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::tune {

/// Drives a trial loop by hand: events in, commands out, everything accepted at once.
class LoopDriver {
public:
  explicit LoopDriver(ExperimentDefinition definition, double cpus = 1,
                      std::uint64_t memory_bytes = 0)
      : definition_(std::move(definition)), cpus_(cpus), memory_bytes_(memory_bytes) {
    if (definition_.name.empty())
      definition_.name = "experiment";
    if (definition_.trainable.empty())
      definition_.trainable = "T";
    loop_ = TrialLoop::create(make_spec(definition_).value_or_throw(), searcher(), scheduler(),
                              environment("/exp"))
                .value_or_throw();
    take(loop_->start(clock_.now(), clock_.wall_ms()));
  }

  /// As if the driver had been killed: what was accepted is there, the workers are gone.
  void kill_and_restore(ResumeConfig resume = {}, const std::string& experiment_dir = "/exp",
                        std::optional<double> cpus = {}) {
    workers_.clear();
    computations_.clear();
    commands.clear();
    cpus_ = cpus.value_or(cpus_);
    loop_ =
        TrialLoop::restore(journal, searcher(), scheduler(), environment(experiment_dir), resume)
            .value_or_throw();
    take(loop_->start(clock_.now(), clock_.wall_ms()));
  }

  void send(EventBody body) {
    take(loop_->handle(Event{clock_.now(), clock_.wall_ms(), std::move(body)}));
  }

  /// The next result of a running trial; returns the answer, when there is one.
  std::optional<Answer> report(std::uint32_t trial, Metrics metrics, bool done = false) {
    Running& running = workers_.at(TrialId(trial));
    return report_as(trial, ++running.iteration, std::move(metrics), done);
  }
  std::optional<Answer> report_as(std::uint32_t trial, std::uint64_t iteration, Metrics metrics,
                                  bool done = false) {
    Running& running = workers_.at(TrialId(trial));
    running.iteration = iteration;
    Reported report{running.run.worker,
                    running.run.key,
                    ++running.message,
                    iteration,
                    std::move(metrics),
                    done,
                    false,
                    {}};
    const std::size_t before = commands.size();
    send(report);
    for (std::size_t i = before; i < commands.size(); ++i)
      if (const auto* answer = std::get_if<Answer>(&commands[i]);
          answer != nullptr && answer->key == report.key)
        return *answer;
    return std::nullopt;
  }

  void save(std::uint32_t trial, std::uint32_t number) {
    const Running& running = workers_.at(TrialId(trial));
    send(CheckpointSaved{running.run.worker, running.run.key,
                         checkpoint(number, running.iteration)});
  }
  void end(std::uint32_t trial, bool returned = false, bool reusable = true) {
    const RunTrial run = workers_.at(TrialId(trial)).run;
    send(TrialEnded{run.worker, run.key, returned, reusable});
  }
  void fail(std::uint32_t trial, const std::string& message) {
    const RunTrial run = workers_.at(TrialId(trial)).run;
    send(TrialFailed{run.worker, run.key, message});
  }
  void worker_exits(std::uint32_t trial, FailureKind kind, const std::string& message) {
    send(WorkerExited{workers_.at(TrialId(trial)).run.worker, kind, message});
  }
  /// Reports once more with done, and ends.
  void finish(std::uint32_t trial, Metrics metrics = {{"loss", 1.0}}) {
    report(trial, std::move(metrics), true);
    end(trial);
  }
  /// Does what the loop wants computed beside it.
  void compute() {
    while (!computations_.empty()) {
      const auto computation = std::move(computations_.front());
      computations_.pop_front();
      computation->run();
      send(Computed{computation});
    }
  }
  void pass(Duration time) { clock_.advance(time); }
  /// Time passes until the loop wants to be called; false: it does not.
  bool pass_until_due() {
    const auto due = loop_->next_deadline();
    if (!due)
      return false;
    clock_.advance(std::max(Duration{0}, *due - clock_.now()));
    send(Tick{});
    return true;
  }

  static CheckpointRef checkpoint(std::uint32_t number, std::uint64_t iteration) {
    return {number, iteration, 0.5, 100, "checkpoint_" + std::to_string(number), "digest"};
  }

  template <class C>
  std::vector<C> all() const {
    std::vector<C> found;
    for (const Command& command : commands)
      if (const auto* wanted = std::get_if<C>(&command))
        found.push_back(*wanted);
    return found;
  }
  /// The trials that have a worker, in order.
  std::vector<std::uint32_t> running() const {
    std::vector<std::uint32_t> ids;
    for (const auto& live : loop_->live_trials())
      if (live.worker)
        ids.push_back(live.row.id.value);
    return ids;
  }
  const RunTrial& last_run(std::uint32_t trial) const { return workers_.at(TrialId(trial)).run; }
  TrialRow row(std::uint32_t trial) const {
    return read_trial(journal, TrialId(trial)).value_or_throw();
  }
  ExperimentRow status() const { return read_status(journal).value_or_throw(); }
  std::vector<TrialResult> results(std::uint32_t trial) const {
    return read_results(journal, TrialId(trial)).value_or_throw();
  }
  TrialLoop& loop() { return *loop_; }
  const Searcher* searcher() const { return definition_.tune_config.search_alg.get(); }
  const Scheduler* scheduler() const { return definition_.tune_config.scheduler.get(); }
  VirtualClock& clock() { return clock_; }

  MemoryJournal journal;
  bool compute_at_once = true;
  std::vector<Command> commands;  ///< all released so far; clear it as you like

private:
  LoopEnvironment environment(const std::string& dir) const {
    return {.experiment_dir = dir, .cpus = cpus_, .memory_bytes = memory_bytes_};
  }

  struct Running {
    RunTrial run;
    std::uint64_t iteration = 0;
    std::uint64_t message = 0;
  };

  void take(Result<Step> step) {
    REQUIRE_MESSAGE(step.has_value(), (step ? std::string() : step.error().to_string()));
    if (!step->writes.empty())
      journal.append(step->writes).value_or_throw();
    for (auto* part : {&step->when_accepted, &step->when_durable})
      for (Command& command : *part) {
        if (const auto* run = std::get_if<RunTrial>(&command)) {
          const std::uint64_t from =
              run->checkpoints.empty() ? 0 : run->checkpoints.front().iteration;
          workers_[run->key.trial] = {*run, from, 0};
        }
        if (const auto* compute = std::get_if<Compute>(&command))
          computations_.push_back(compute->computation);
        commands.push_back(std::move(command));
      }
    if (compute_at_once)
      compute();
  }

  ExperimentDefinition definition_;
  double cpus_;
  std::uint64_t memory_bytes_;
  VirtualClock clock_{TimePoint{1'000'000'000'000}, 1'700'000'000'000};
  std::unique_ptr<TrialLoop> loop_;
  std::map<TrialId, Running> workers_;
  std::deque<std::shared_ptr<Computation>> computations_;
};

}  // namespace troupe::tune
