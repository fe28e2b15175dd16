#include <troupe/runtime/store/keys.hpp>
#include <troupe/tune/detail/applier.hpp>
#include <troupe/tune/detail/loop_machine.hpp>
#include <troupe/tune/detail/planner.hpp>
#include <troupe/tune/detail/records_archive.hpp>
#include <troupe/tune/experiment_spec.hpp>

#include <algorithm>
#include <exception>
#include <utility>

TROUPE_DEFINE_RECORD(troupe::tune::detail::LoopSnapshot);

namespace troupe::tune::detail {
namespace {

// A snapshot costs its size; waiting for four times as much of events keeps the cost per event
// constant, and what a restart reads in proportion to the state.
constexpr std::size_t snapshot_factor = 4;

/// More actions than this for one event are a loop that does not end.
constexpr std::size_t max_actions = 10'000'000;

Error what_was_thrown() {
  try {
    throw;
  } catch (const Exception& e) {
    return e.error();
  } catch (const std::exception& e) {
    return Error(ErrorCode::user_code, e.what());
  } catch (...) {
    return Error(ErrorCode::user_code, "unknown exception");
  }
}

/// What a searcher suggested, as the decision has it.
const CreateTrial* first_created(const Decision& decision) {
  return decision.actions.empty() ? nullptr : std::get_if<CreateTrial>(&decision.actions.front());
}

}  // namespace

Result<std::unique_ptr<LoopMachine>> LoopMachine::make(ExperimentSpec spec,
                                                       const Searcher* searcher,
                                                       const Scheduler* scheduler,
                                                       LoopEnvironment environment) {
  const ResourceLedger ledger(
      ResourceRequest{.cpus = environment.cpus, .memory_bytes = environment.memory_bytes});
  if (const auto why = ledger.impossible(spec.resources))
    return Error(ErrorCode::invalid_argument,
                 "RunConfig.resources_per_trial can never be granted: " + *why +
                     "; ask for less, or raise RuntimeOptions.cpus where it is lower than what "
                     "the machine has");
  auto machine = std::unique_ptr<LoopMachine>(new LoopMachine);
  LoopParts& parts = machine->parts_;
  TROUPE_TRY(context, search_context(spec));
  TROUPE_TRY(own_searcher, searcher_for(spec, context, searcher));
  TROUPE_TRY(own_scheduler, scheduler_for(spec, scheduler));
  parts.search = Searching(std::move(own_searcher));
  parts.scheduler = std::move(own_scheduler);
  LoopSetting& setting = parts.setting;
  setting.required_metrics = parts.scheduler->required_metrics();
  setting.planned = parts.search.searcher().planned(context);
  setting.tag_paths = varying_parameters(context.space);
  setting.spec = std::move(spec);
  setting.search = std::move(context);
  setting.experiment_dir = std::move(environment.experiment_dir);
  setting.cpus = environment.cpus;
  machine->snapshot_interval_ = environment.snapshot_interval;
  return machine;
}

bool LoopMachine::anything_due(Duration run_time) const {
  return !broken_ && Planner(parts_, run_time, !deterministic()).next().has_value();
}

void LoopMachine::answered(const Answer& answer) {
  if (Trial* trial = parts_.state.trials.find(answer.key.trial))
    trial->last_message = answer.message;
}

Status LoopMachine::carry_out(Applier& applier, const RecordedBody& body, Decision& decision,
                              bool plan, Duration run_time) {
  const bool first = std::holds_alternative<RunBegan>(body);
  const bool answer = std::holds_alternative<Suggested>(body);
  const auto speaker = deterministic() ? judge(run_time).waits_for_turn(body) : std::nullopt;
  const Trial* trial = speaker ? parts_.state.trials.find(*speaker) : nullptr;
  if (trial != nullptr && trial->slot)
    parts_.state.turns.spoke(*trial->slot);
  applier.apply(body, decision);
  for (const Action& action : decision.actions)
    applier.apply(action);
  const Planner planner(parts_, run_time, !deterministic() || first || answer || speaker);
  // Before a run begins nothing is started.
  const bool before_run =
      std::holds_alternative<ErroredTaken>(body) || std::holds_alternative<RowsRestored>(body);
  while (plan && !before_run) {
    std::optional<Action> action = planner.next();
    if (!action)
      break;
    applier.apply(*action);
    decision.actions.push_back(std::move(*action));
    if (decision.actions.size() > max_actions)
      return Error(ErrorCode::internal, "the trial loop decides without end");
  }
  wants_suggestion_ = !before_run && planner.wants_suggestion();
  applier.forget_given_up();
  return ok();
}

Status LoopMachine::record(RecordedBody body, Decision decision, Duration run_time,
                           std::int64_t wall_ms, Step& step) {
  if (broken_)
    return *broken_;
  try {
    const bool was_done = parts_.state.done;
    Applier applier(parts_, last_.next(), run_time, wall_ms);
    TROUPE_RETURN_IF_ERROR(carry_out(applier, body, decision, true, run_time));
    WriteSet write;
    write.event = encode(EventRecord{run_time, wall_ms, std::move(body), std::move(decision)});
    bytes_since_snapshot_ += write.event.size();
    add_snapshot(last_.next(), parts_.state.done && !was_done, applier);
    applier.write_rows();
    last_ = last_.next();
    Output& output = applier.output();
    write.rows = std::move(output.rows);
    step.writes.push_back(std::move(write));
    std::move(output.when_accepted.begin(), output.when_accepted.end(),
              std::back_inserter(step.when_accepted));
    std::move(output.when_durable.begin(), output.when_durable.end(),
              std::back_inserter(step.when_durable));
    return ok();
  } catch (...) {
    broken_ = what_was_thrown().with_context("trial loop");
    return *broken_;
  }
}

Status LoopMachine::replay(Sequence sequence, const EventRecord& event, std::size_t bytes,
                           std::vector<RowWrite>* rows) {
  try {
    Applier applier(parts_, sequence, event.run_time, event.wall_ms);
    Decision decision = event.decision;
    TROUPE_RETURN_IF_ERROR(carry_out(applier, event.body, decision, false, event.run_time));
    if (rows != nullptr) {
      applier.write_rows();
      *rows = std::move(applier.output().rows);
    }
    last_ = sequence;
    bytes_since_snapshot_ += bytes;
    return ok();
  } catch (...) {
    return what_was_thrown().with_context("event " + to_string(sequence));
  }
}

Status LoopMachine::verify(Sequence sequence, const EventRecord& event, std::string_view bytes) {
  RecordedBody body = event.body;
  if (auto* suggested = std::get_if<Suggested>(&body))
    if (const auto* created = first_created(event.decision)) {
      suggested->config = created->config;
      suggested->note = created->note;
    }
  Judgement judgement = judge(event.run_time)(body);
  Step step;
  last_ = Sequence(sequence.value - 1);
  TROUPE_RETURN_IF_ERROR(
      record(std::move(body), std::move(judgement.decision), event.run_time, event.wall_ms, step));
  if (step.writes.at(0).event != bytes)
    return Error(ErrorCode::internal,
                 "event " + to_string(sequence) + ": this version decides otherwise than recorded");
  return ok();
}

void LoopMachine::add_snapshot(Sequence sequence, bool wanted, Applier& applier) {
  const std::size_t due = std::max(snapshot_interval_, snapshot_factor * snapshot_bytes_);
  if (!wanted && bytes_since_snapshot_ < due)
    return;
  bytes_since_snapshot_ = 0;
  std::vector<RowWrite> rows;
  try {
    rows.push_back({Table::state, std::string(keys::state_loop),
                    encode(LoopSnapshot{sequence, parts_.state})});
    rows.push_back({Table::state, std::string(keys::state_searcher),
                    encode(AlgorithmSnapshot{sequence, parts_.search.searcher().name(),
                                             parts_.search.searcher().save()})});
    rows.push_back(
        {Table::state, std::string(keys::state_scheduler),
         encode(AlgorithmSnapshot{sequence, parts_.scheduler->name(), parts_.scheduler->save()})});
  } catch (const Exception& e) {
    // Too large for one record. The older snapshot and the events after it say the same.
    if (e.code() != ErrorCode::resource_exhausted)
      throw;
    snapshot_bytes_ = limits::max_record_bytes;
    return;
  }
  snapshot_bytes_ = 0;
  for (RowWrite& row : rows) {
    snapshot_bytes_ += row.value->size();
    applier.output().rows.push_back(std::move(row));
  }
  applier.touch_status();
}

Result<Sequence> LoopMachine::load_snapshot(const JournalReader& journal) {
  TROUPE_TRY(loop, journal.get(Table::state, keys::state_loop));
  if (!loop)
    return Sequence();
  TROUPE_TRY(snapshot, decode<LoopSnapshot>(*loop));
  const auto load = [&](std::string_view key, auto& algorithm) -> Status {
    TROUPE_TRY(bytes, journal.get(Table::state, key));
    if (!bytes)
      return Error(ErrorCode::corrupt, "the snapshot of the " + std::string(key) + " is missing");
    TROUPE_TRY(saved, decode<AlgorithmSnapshot>(*bytes));
    if (saved.as_of != snapshot.as_of || saved.name != algorithm.name())
      return Error(ErrorCode::corrupt, "the snapshot of the " + std::string(key) +
                                           " does not belong to that of the loop");
    return algorithm.restore(saved.state);
  };
  TROUPE_RETURN_IF_ERROR(load(keys::state_searcher, parts_.search.searcher()));
  TROUPE_RETURN_IF_ERROR(load(keys::state_scheduler, *parts_.scheduler));
  snapshot_bytes_ = loop->size();
  last_ = snapshot.as_of;
  parts_.state = std::move(snapshot.state);
  ResourceLedger& ledger = parts_.state.ledger;
  ledger = ResourceLedger(
      ResourceRequest{.cpus = parts_.state.status.cpus, .memory_bytes = parts_.state.memory_bytes});
  for (const auto& [id, trial] : parts_.state.trials.all())
    parts_.state.last_rest = std::max(parts_.state.last_rest, trial.rests_until);
  for (const auto& [id, trial] : parts_.state.trials.all())
    if (trial.holds_resources && !ledger.acquire(parts_.setting.spec.resources))
      return Error(ErrorCode::corrupt, "the snapshot of the loop holds more than there is");
  return snapshot.as_of;
}

std::string LoopMachine::fingerprint() const {
  return encode(LoopSnapshot{last_, parts_.state}) +
         encode(AlgorithmSnapshot{last_, parts_.search.searcher().name(),
                                  parts_.search.searcher().save()}) +
         encode(AlgorithmSnapshot{last_, parts_.scheduler->name(), parts_.scheduler->save()});
}

}  // namespace troupe::tune::detail
