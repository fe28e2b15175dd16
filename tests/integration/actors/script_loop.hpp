#pragma once

#include <troupe/actors/loop.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tests/support/journal_records.hpp>

namespace troupe::testing {

/// What became of one trial.
struct Outcome {
  std::vector<Metrics> results;
  std::vector<CheckpointRef> checkpoints;
  std::optional<TrialStarted> started;
  std::string ended;    ///< "returned", "stopped", "failed", "worker exited"
  std::string message;  ///< of the failure
  FailureKind kind = FailureKind::user;
};

/// A decision machine for tests of what is around it: runs trials in order, a few at a time, and
/// remembers what it hears.
class ScriptLoop : public Loop {
public:
  struct TrialScript {
    std::string trainable;
    Config config;
    uint64_t stop_after = 3;          ///< results until it is told to stop
    uint64_t save_every = 0;          ///< checkpoint with each so-many-th result
    std::vector<CheckpointRef> from;  ///< newest first
    std::string trial_dir;
    uint64_t memory_bytes = 0;
  };

  Isolation isolation = Isolation::process;
  std::size_t concurrency = 2;
  bool reuse = false;
  bool verdict_pause = false;
  std::deque<TrialScript> trials;
  std::vector<std::string> worker_ends;  ///< messages of WorkerExited, in order
  uint64_t worker_starts = 0;
  uint64_t reset_refused = 0;
  std::string fail_at;  ///< `handle` fails when a trial of this trainable reports
  bool quiet_after_stop = false;

  std::map<uint32_t, Outcome> outcomes;

  Result<Step> start(TimePoint, int64_t) override {
    Step step = made_step();
    fill_slots(step);
    return step;
  }

  Result<Step> handle(const Event& event) override {
    Step step = made_step();
    if (Status went = std::visit([&](const auto& body) { return on(body, step); }, event.body);
        !went) {
      return std::move(went).error();
    }
    fill_slots(step);
    return step;
  }

  bool finished() const override {
    return (stopping_ || next_ == trials.size()) && running_.empty() && alive_.empty();
  }
  std::optional<TimePoint> next_deadline() const override { return std::nullopt; }

private:
  struct Running {
    WorkerId worker;
    uint64_t results = 0;
    uint32_t saved = 0;
  };

  Step made_step() {
    Step step;
    step.writes.push_back({sealed(event_payload(++events_)), {}});
    return step;
  }

  void fill_slots(Step& step) {
    while (!stopping_ && next_ < trials.size() && running_.size() < concurrency) {
      bool reset = false;
      WorkerId worker;
      if (reuse && !idle_.empty()) {
        worker = idle_.back();
        idle_.pop_back();
        reset = true;
      } else {
        worker = WorkerId(next_worker_++);
        alive_.insert(worker);
        ++worker_starts;
        step.when_accepted.push_back(
            StartWorker{worker, isolation, {1.0, trials[next_].memory_bytes}});
      }
      give(step, static_cast<uint32_t>(next_++), worker, reset);
    }
    if (stopping_ || next_ == trials.size()) {
      for (const WorkerId worker : std::exchange(idle_, {})) {
        step.when_accepted.push_back(StopWorker{worker, false});
      }
    }
  }

  void give(Step& step, uint32_t number, WorkerId worker, bool reset) {
    const TrialScript& script = trials[number];
    RunTrial order;
    order.worker = worker;
    order.key = {TrialId(number), attempts_[number]};
    order.trainable = script.trainable;
    order.config = script.config;
    order.trial_name = script.trainable + "_" + std::to_string(number);
    order.trial_dir = script.trial_dir;
    order.reset = reset;
    order.checkpoints = script.from;
    running_[number] = {worker, 0, 0};
    step.when_accepted.push_back(std::move(order));
  }

  void let_go(Step& step, WorkerId worker, bool reusable) {
    if (reuse && reusable) {
      idle_.push_back(worker);
    } else {
      step.when_accepted.push_back(StopWorker{worker, false});
    }
  }

  Status on(const WorkerStarted&, Step&) { return ok(); }
  Status on(const TrialStarted& event, Step&) {
    outcomes[event.key.trial.value].started = event;
    return ok();
  }
  Status on(const ResetRefused& event, Step& step) {
    ++reset_refused;
    ++attempts_[event.key.trial.value];
    step.when_accepted.push_back(StopWorker{event.worker, false});
    const WorkerId fresh(next_worker_++);
    alive_.insert(fresh);
    ++worker_starts;
    step.when_accepted.push_back(StartWorker{fresh, isolation, {}});
    give(step, event.key.trial.value, fresh, false);
    return ok();
  }
  Status on(const Reported& event, Step& step) {
    const uint32_t number = event.key.trial.value;
    const TrialScript& script = trials[number];
    if (script.trainable == fail_at)
      return Error(ErrorCode::internal, "the script fails here");
    Outcome& outcome = outcomes[number];
    outcome.results.push_back(event.metrics);
    if (event.checkpoint)
      outcome.checkpoints.push_back(*event.checkpoint);
    Running& running = running_[number];
    const bool stop = stopping_ || event.done || ++running.results >= script.stop_after;
    Answer answer{event.worker, event.key, event.message,
                  stop ? (verdict_pause ? Verdict::pause : Verdict::stop) : Verdict::go_on,
                  std::nullopt};
    if ((script.save_every > 0 && event.iteration % script.save_every == 0) ||
        event.wants_checkpoint) {
      answer.save = running.saved++;
    }
    step.when_accepted.push_back(answer);
    return ok();
  }
  Status on(const CheckpointSaved& event, Step&) {
    outcomes[event.key.trial.value].checkpoints.push_back(event.checkpoint);
    return ok();
  }
  Status on(const TrialEnded& event, Step& step) {
    outcomes[event.key.trial.value].ended = event.returned ? "returned" : "stopped";
    running_.erase(event.key.trial.value);
    let_go(step, event.worker, event.reusable);
    return ok();
  }
  Status on(const TrialFailed& event, Step& step) {
    Outcome& outcome = outcomes[event.key.trial.value];
    outcome.ended = "failed";
    outcome.message = event.message;
    running_.erase(event.key.trial.value);
    let_go(step, event.worker, false);
    return ok();
  }
  Status on(const WorkerExited& event, Step&) {
    worker_ends.push_back(event.message);
    alive_.erase(event.worker);
    std::erase(idle_, event.worker);
    std::erase_if(running_, [&](const auto& entry) {
      if (entry.second.worker != event.worker)
        return false;
      Outcome& outcome = outcomes[entry.first];
      outcome.ended = "worker exited";
      outcome.message = event.message;
      outcome.kind = event.kind;
      return true;
    });
    return ok();
  }
  Status on(const Tick&, Step&) { return ok(); }
  Status on(const Computed&, Step&) { return ok(); }
  Status on(const StopRequested&, Step& step) {
    stopping_ = true;
    for (const auto& [number, running] : running_) {
      step.when_accepted.push_back(
          StopTrial{running.worker, {TrialId(number), attempts_[number]}, std::nullopt});
    }
    return ok();
  }

  uint64_t events_ = 0;
  std::size_t next_ = 0;
  uint64_t next_worker_ = 1;
  bool stopping_ = false;
  std::map<uint32_t, uint32_t> attempts_;
  std::map<uint32_t, Running> running_;
  std::set<WorkerId> alive_;
  std::vector<WorkerId> idle_;
};

}  // namespace troupe::testing
