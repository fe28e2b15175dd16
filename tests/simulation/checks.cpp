#include "checks.hpp"

#include <troupe/runtime/store/keys.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/serialization/record.hpp>

#include <algorithm>
#include <set>
#include <sstream>

namespace troupe::simulation {

using tune::EventRecord;
using tune::TrialRow;
using tune::TrialState;

std::vector<std::string> check_loop(const tune::TrialLoop& loop, const Scenario& scenario,
                                    double cpus) {
  std::vector<std::string> problems;
  std::size_t running = 0;
  std::size_t pending = 0;
  std::size_t paused = 0;
  std::set<WorkerId> workers;
  for (const auto& trial : loop.live_trials()) {
    running += trial.row.state == TrialState::running;
    pending += trial.row.state == TrialState::pending;
    paused += trial.row.state == TrialState::paused;
    if (trial.worker && !workers.insert(*trial.worker).second)
      problems.push_back("worker " + to_string(*trial.worker) + " has two trials");
    if (trial.worker && trial.row.state != TrialState::running)
      problems.push_back("trial " + to_string(trial.row.id) + " has a worker, but does not run");
  }
  const double used =
      static_cast<double>(workers.size()) * scenario.definition.run_config.resources_per_trial.cpus;
  if (used > cpus + 1e-9)
    problems.push_back(std::to_string(workers.size()) + " trials run on too few CPUs");
  const auto limit = scenario.definition.tune_config.max_concurrent_trials;
  if (limit && running > *limit)
    problems.push_back(std::to_string(running) + " trials run, more than max_concurrent_trials");
  // While a question to the searcher is out, a trial is about to come.
  const bool goes_on = loop.status().state == tune::ExperimentState::running && !loop.is_asking();
  if (goes_on && running == 0 && pending == 0 && paused > 0)
    problems.push_back("only paused trials are left");
  return problems;
}

AcceptedOnce::AcceptedOnce(const JournalReader& journal) {
  tune::for_each_event(journal, Sequence(), [&](Sequence, const EventRecord& event) {
    (void)look_at(event);  // what is wrong with the journal, check_records says
    return true;
  }).value_or_throw();
}

std::vector<std::string> AcceptedOnce::look_at(const WriteSet& writes) {
  const EventRecord event = decode<EventRecord>(writes.event).value_or_throw();
  std::vector<std::string> problems = look_at(event);
  const auto result = tune::result_of(last_, event);
  const auto indexed = std::count_if(
      writes.rows.begin(), writes.rows.end(),
      [](const RowWrite& row) { return row.table == Table::results && row.value.has_value(); });
  if (indexed != (result ? 1 : 0))
    problems.push_back("event " + to_string(last_) + " writes " + std::to_string(indexed) +
                       " rows into the index of results");
  if (!result || indexed != 1)
    return problems;
  const std::string key =
      keys::result_key(std::get<Reported>(event.body).key.trial, result->iteration);
  if (std::none_of(writes.rows.begin(), writes.rows.end(), [&](const RowWrite& row) {
        return row.table == Table::results && row.key == key;
      }))
    problems.push_back("event " + to_string(last_) + " is indexed as another result");
  return problems;
}

std::vector<std::string> AcceptedOnce::look_at(const EventRecord& event) {
  last_ = last_.next();
  const auto* report = std::get_if<Reported>(&event.body);
  if (report == nullptr || !event.decision.accepted)
    return {};
  std::vector<Sequence>& results = events_[report->key.trial];
  results.push_back(last_);
  if (report->iteration == results.size())
    return {};
  return {"event " + to_string(last_) + ": result " + std::to_string(report->iteration) +
          " of trial " + to_string(report->key.trial) + " is accepted out of order or twice"};
}

std::optional<Sequence> AcceptedOnce::event_of(TrialId trial, std::uint64_t iteration) const {
  const auto results = events_.find(trial);
  if (results == events_.end() || iteration == 0 || iteration > results->second.size())
    return std::nullopt;
  return results->second[iteration - 1];
}

std::map<std::pair<TrialId, std::uint64_t>, Metrics> accepted_results(
    const JournalReader& journal) {
  std::map<std::pair<TrialId, std::uint64_t>, Metrics> results;
  tune::for_each_event(journal, Sequence(), [&](Sequence, const EventRecord& event) {
    const auto* report = std::get_if<Reported>(&event.body);
    if (report != nullptr && event.decision.accepted)
      results[{report->key.trial, report->iteration}] = report->metrics;
    return true;
  }).value_or_throw();
  return results;
}

std::vector<std::string> check_records(const JournalReader& journal) {
  std::vector<std::string> problems;
  std::map<TrialId, std::uint64_t> accepted;
  tune::for_each_event(journal, Sequence(), [&](Sequence sequence, const EventRecord& event) {
    const auto* report = std::get_if<Reported>(&event.body);
    if (report == nullptr || !event.decision.accepted)
      return true;
    if (report->iteration != ++accepted[report->key.trial])
      problems.push_back("event " + to_string(sequence) + ": result " +
                         std::to_string(report->iteration) + " of trial " +
                         to_string(report->key.trial) + " is accepted out of order or twice");
    return true;
  }).value_or_throw();
  for (const TrialRow& row : tune::read_trials(journal).value_or_throw()) {
    const auto results = tune::read_results(journal, row.id).value_or_throw();
    if (results.size() != accepted[row.id])
      problems.push_back("the index has " + std::to_string(results.size()) + " results of trial " +
                         to_string(row.id) + ", accepted were " + std::to_string(accepted[row.id]));
    const auto last = tune::read_last_result(journal, row).value_or_throw();
    if ((last ? last->iteration : 0) != accepted[row.id])
      problems.push_back("read_last_result disagrees about trial " + to_string(row.id));
    if (row.is_over() && row.iteration != accepted[row.id])
      problems.push_back("the row of trial " + to_string(row.id) + " lacks its last result");
    if (row.is_over() && row.state == TrialState::terminated && row.stop_reason.empty())
      problems.push_back("trial " + to_string(row.id) + " has no stop reason");
  }
  return problems;
}

namespace {

template <class E>
std::string key_text(const E& event) {
  if constexpr (requires { event.key; })
    return ' ' + to_string(event.key);
  else
    return {};
}

struct BodyText {
  std::string operator()(const tune::RunBegan&) const { return "began"; }
  std::string operator()(const tune::ErroredTaken&) const { return "errored taken"; }
  std::string operator()(const tune::RowsRestored&) const { return "rows restored"; }
  std::string operator()(const WorkerStarted&) const { return "worker started"; }
  std::string operator()(const TrialStarted&) const { return "trial started"; }
  std::string operator()(const ResetRefused&) const { return "reset refused"; }
  std::string operator()(const Reported& e) const {
    return "result " + std::to_string(e.iteration);
  }
  std::string operator()(const CheckpointSaved& e) const {
    return "checkpoint " + std::to_string(e.checkpoint.number);
  }
  std::string operator()(const TrialEnded&) const { return "ended"; }
  std::string operator()(const TrialFailed& e) const { return "failed: " + e.message; }
  std::string operator()(const WorkerExited& e) const {
    return "worker " + to_string(e.worker) + " exited: " + e.message;
  }
  std::string operator()(const Tick&) const { return "tick"; }
  std::string operator()(const StopRequested&) const { return "stop requested"; }
  std::string operator()(const tune::Suggested& e) const {
    return "suggested for " + to_string(e.trial);
  }
};

struct ActionText {
  std::string operator()(const tune::CreateTrial& a) const {
    return "create " + to_string(a.trial);
  }
  std::string operator()(const tune::StartTrial& a) const { return "start " + to_string(a.key); }
  std::string operator()(const tune::EndTrial& a) const {
    return "end " + to_string(a.trial) + " (" + a.reason + ')';
  }
  std::string operator()(const tune::HaltTrial& a) const { return "halt " + to_string(a.trial); }
  std::string operator()(const tune::EndWorker&) const { return "end worker"; }
  std::string operator()(const tune::EndSearch& a) const { return "end search: " + a.reason; }
  std::string operator()(const tune::Drain& a) const { return "drain: " + a.reason; }
  std::string operator()(const tune::FinishExperiment&) const { return "finish"; }
};

}  // namespace

std::string event_log(const JournalReader& journal) {
  std::ostringstream log;
  tune::for_each_event(journal, Sequence(), [&](Sequence sequence, const EventRecord& event) {
    const tune::Decision& decision = event.decision;
    log << sequence << std::visit([](const auto& e) { return key_text(e); }, event.body) << ' '
        << std::visit(BodyText(), event.body);
    if (decision.accepted)
      log << " accepted";
    if (decision.outcome != tune::Outcome::none)
      log << " -> outcome " << static_cast<int>(decision.outcome) << ' ' << decision.reason;
    for (const tune::Action& action : decision.actions)
      log << "; " << std::visit(ActionText(), action);
    log << '\n';
    return true;
  }).value_or_throw();
  return log.str();
}

std::string final_table(const JournalReader& journal) {
  std::ostringstream table;
  tune::for_each_trial(journal, [&](const TrialRow& row) {
    table << row.name << ' ' << row.dir << ' ' << to_string(row.state) << " stop '"
          << row.stop_reason << "' config " << to_json(row.config) << " results";
    if (row.state == TrialState::error)
      table << " error '" << row.error << "'";
    for (const auto& result : tune::read_results(journal, row.id).value_or_throw())
      table << ' ' << to_json(result.metrics);
    table << '\n';
    return true;
  }).value_or_throw();
  return table.str();
}

}  // namespace troupe::simulation
