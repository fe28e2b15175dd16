#pragma once

#include <troupe/runtime/store/keys.hpp>
#include <troupe/runtime/store/memory_journal.hpp>
#include <troupe/tune/records.hpp>

#include <string>
#include <utility>
#include <vector>

namespace troupe::tune::testing {

/// Writes the journal of a small experiment by hand, in the way the trial loop does.
class Story {
public:
  explicit Story(Journal& journal) : journal_(journal) {
    spec.name = "story";
    spec.trainable = "Quadratic";
    spec.metric = "loss";
    spec.mode = Mode::min;
    status.cpus = 2;
  }

  ExperimentSpec spec;
  ExperimentRow status;
  bool durable = true;  ///< what is written is synced at once

  void begin(bool restored = false) {
    if (!restored)
      row(Table::experiment, std::string(keys::experiment_spec), encode(spec));
    RunBegan run;
    run.restored = restored;
    run.cpus = 2;
    write(run);
  }

  TrialId create(Config config) {
    TrialRow trial;
    trial.id = TrialId(static_cast<std::uint32_t>(trials.size()));
    trial.name = "Quadratic_0000" + to_string(trial.id);
    trial.dir = trial.name;
    trial.config = std::move(config);
    trials.push_back(trial);
    put(trial);
    decision_.actions.push_back(CreateTrial{
        .trial = trial.id, .name = trial.name, .dir = trial.dir, .config = trial.config});
    ++status.created;
    write(Tick{});
    return trial.id;
  }

  void start(TrialId id, bool fresh = true) {
    TrialRow& trial = at(id);
    trial.state = TrialState::running;
    put(trial);
    decision_.actions.push_back(StartTrial{.key = {id, trial.attempt}, .fresh = fresh});
    status.actor_starts += fresh ? 1 : 0;
    write(Tick{});
  }

  void report(TrialId id, Metrics metrics, bool last = false) {
    TrialRow& trial = at(id);
    Reported reported;
    reported.key = {id, trial.attempt};
    reported.iteration = ++trial.iteration;
    reported.metrics = std::move(metrics);
    trial.metrics = reported.metrics;
    const Sequence next(journal_.watermarks().accepted.value + 1);
    row(Table::results, keys::result_key(id, trial.iteration), encode(EventPointer{next}));
    decision_.trial = id;
    decision_.accepted = true;
    if (last)
      decision_.outcome = Outcome::stopping;
    ++status.results;
    write(reported);
  }

  void end(TrialId id, const std::string& reason) {
    TrialRow& trial = at(id);
    trial.state = TrialState::terminated;
    trial.stop_reason = reason;
    put(trial);
    ++status.terminated;
    decide(id, Outcome::terminated, reason);
    write(TrialEnded{});
  }

  /// Its worker found checkpoints damaged and goes on from an earlier iteration.
  void lose_checkpoint(TrialId id, std::uint64_t from, const std::string& why) {
    decision_.trial = id;
    write(TrialStarted{{}, {id, at(id).attempt}, from, {}, {1}, why});
  }

  /// The last result, with the order to save; nothing is saved.
  void report_and_fail_to_save(TrialId id, Metrics metrics, const std::string& why) {
    decision_.save = 0;
    report(id, std::move(metrics), true);
    decide(id, Outcome::terminated, "done");
    TrialFailed failed;
    failed.message = why;
    write(failed);
  }

  void fail(TrialId id, const std::string& why, bool retried) {
    TrialRow& trial = at(id);
    trial.state = retried ? TrialState::pending : TrialState::error;
    trial.error = why;
    ++trial.failures;
    ++trial.attempt;
    put(trial);
    status.errored += retried ? 0 : 1;
    decide(id, retried ? Outcome::retried : Outcome::error, why);
    write(TrialFailed{});
  }

  /// The used worker of a trial refuses it; a fresh one follows.
  void refuse_reset(TrialId id) {
    ++at(id).attempt;
    put(at(id));
    ++status.resets_refused;
    decide(id, Outcome::restarted, {});
    decision_.actions.push_back(StartTrial{.key = {id, at(id).attempt}, .fresh = true});
    ++status.actor_starts;
    write(ResetRefused{});
  }

  TrialRow& at(TrialId id) { return trials[id.value]; }

  std::vector<TrialRow> trials;

private:
  void decide(TrialId id, Outcome outcome, const std::string& reason) {
    decision_.trial = id;
    decision_.outcome = outcome;
    decision_.reason = reason;
  }
  void put(const TrialRow& trial) { row(Table::trials, keys::trial_key(trial.id), encode(trial)); }
  void row(Table table, std::string key, std::string value) {
    rows_.push_back({table, std::move(key), std::move(value)});
  }
  void write(RecordedBody body) {
    row(Table::experiment, std::string(keys::experiment_status), encode(status));
    EventRecord event;
    event.wall_ms = 1'770'000'000'000;
    event.body = std::move(body);
    event.decision = std::exchange(decision_, {});
    const WriteSet set{encode(event), std::exchange(rows_, {})};
    journal_.append(std::span(&set, 1)).value_or_throw();
    if (durable)
      journal_.sync().value_or_throw();
  }

  Journal& journal_;
  Decision decision_;
  std::vector<RowWrite> rows_;
};

/// Two trials: one that ends, one that fails, is tried again and still runs.
inline void tell(Story& story) {
  story.begin();
  const TrialId first = story.create({{"x", 1.5}});
  const TrialId second = story.create({{"x", 2.5}});
  story.start(first);
  story.start(second);
  story.report(first, {{"loss", 2.0}, {"time_total_s", 1.0}});
  story.report(second, {{"loss", 3.0}, {"time_total_s", 1.0}});
  story.report(first, {{"loss", 1.0}, {"time_total_s", 2.0}, {"late", 7}});
  story.fail(second, "std::runtime_error: it broke\nmore", true);
  story.end(first, "done");
  story.start(second, false);
  story.report(second, {{"loss", 2.5}, {"time_total_s", 2.0}});
}

}  // namespace troupe::tune::testing
