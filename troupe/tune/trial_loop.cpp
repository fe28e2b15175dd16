#include <troupe/serialization/value.hpp>
#include <troupe/tune/detail/loop_machine.hpp>
#include <troupe/tune/detail/planner.hpp>
#include <troupe/tune/detail/result_limits.hpp>
#include <troupe/tune/experiment_reader.hpp>
#include <troupe/tune/trial_loop.hpp>

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace troupe::tune {

using detail::Judge;
using detail::Judgement;
using detail::LoopMachine;
using detail::Phase;
using detail::Trial;

/// Time, turns and the conversion of events around the machine.
class TrialLoop::Impl {
public:
  explicit Impl(std::unique_ptr<LoopMachine> m) : machine(std::move(m)) {}

  /// The run time at a moment; never goes back.
  Duration run_time_at(TimePoint moment) const {
    return std::max(machine->state().run_time, base + (moment - origin));
  }

  Status process(RecordedBody body, Step& step, std::uint64_t& stale);
  Status take_in_turn(RecordedBody body, Step& step, std::uint64_t& stale);
  Status process_held(Step& step, std::uint64_t& stale);
  bool hold(RecordedBody& body);
  Error out_of_space(const TrialFailed& failed) const;
  Status answer_held(Step& step, std::size_t first_command, std::uint64_t& stale);
  Status take_answer(const Computed& computed, Step& step, std::uint64_t& stale);
  void ask(Step& step);

  std::unique_ptr<LoopMachine> machine;
  RunBegan began;
  std::vector<ErroredTaken> taken;  ///< before it
  TimePoint origin;
  Duration base{0};
  Duration now{0};
  std::int64_t wall_ms = 0;
  bool started = false;
  /// Events that came before the turn of their trial; only when the run is deterministic. Not part
  /// of the state: nothing of them was accepted.
  std::map<TrialId, std::deque<RecordedBody>> held;
  std::optional<TrialId> last_held;  ///< whose event was let in last
  /// The question that is out. Not part of the state: after a restart it is asked again.
  std::shared_ptr<detail::SuggestJob> asked;
  Sequence asked_at;               ///< the last event before it
  std::optional<Sequence> no_use;  ///< asked after this event, there was nothing to suggest
};

namespace {

/// What the loop records of an event.
template <class E>
RecordedBody recorded(const E& event) {
  return event;
}

/// The metrics get "training_iteration", unless the user set it.
RecordedBody recorded(const Reported& event) {
  if (auto problem = detail::result_problem(event))
    return TrialFailed{.worker = event.worker,
                       .key = event.key,
                       .message = std::move(*problem),
                       .permanent = true};
  Reported report = event;
  if (report.metrics.find_key("training_iteration") == nullptr)
    report.metrics["training_iteration"] = report.iteration;
  return report;
}

/// Events are bounded, and there may be many trials that failed.
constexpr std::size_t taken_per_event = 200;

Result<std::vector<ErroredTaken>> errored_trials(const JournalReader& journal, Resume how) {
  std::vector<ErroredTaken> all;
  Status failed = ok();
  TROUPE_RETURN_IF_ERROR(for_each_trial(journal, [&](const TrialRow& row) {
    if (row.state != TrialState::error || row.restarted_as)
      return true;
    auto checkpoints = read_checkpoints(journal, row.id);
    if (!checkpoints) {
      failed = std::move(checkpoints).error();
      return false;
    }
    if (all.empty() || all.back().rows.size() >= taken_per_event)
      all.push_back({how, {}, {}});
    all.back().rows.push_back(row);
    all.back().checkpoints.push_back(checkpoints.take());
    return true;
  }));
  TROUPE_RETURN_IF_ERROR(std::move(failed));
  return all;
}

}  // namespace

Status TrialLoop::Impl::process(RecordedBody body, Step& step, std::uint64_t& stale) {
  Judgement judgement = machine->judge(now)(body);
  switch (judgement.kind) {
    case Judgement::Kind::stale:
      ++stale;
      return ok();
    case Judgement::Kind::ignored:
      if (const auto* exited = std::get_if<WorkerExited>(&body))
        machine->worker_left(exited->worker);
      if (!std::holds_alternative<Tick>(body) || !machine->anything_due(now))
        return ok();
      break;
    case Judgement::Kind::answered:
      machine->answered(*judgement.answer);
      step.when_accepted.push_back(std::move(*judgement.answer));
      return ok();
    case Judgement::Kind::decided:
      break;
  }
  const std::size_t first_command = step.when_accepted.size();
  TROUPE_RETURN_IF_ERROR(
      machine->record(std::move(body), std::move(judgement.decision), now, wall_ms, step));
  if (!held.empty())
    TROUPE_RETURN_IF_ERROR(answer_held(step, first_command, stale));
  ask(step);
  return ok();
}

/// A worker that waits for an answer is not told to stop its step: the answer says so.
Status TrialLoop::Impl::answer_held(Step& step, std::size_t first_command, std::uint64_t& stale) {
  std::vector<RecordedBody> with_checkpoint;
  for (std::size_t i = first_command; i < step.when_accepted.size(); ++i) {
    const auto* stop = std::get_if<StopTrial>(&step.when_accepted[i]);
    const auto waiting = stop != nullptr ? held.find(stop->key.trial) : held.end();
    if (waiting == held.end())
      continue;
    const auto* report = std::get_if<Reported>(&waiting->second.front());
    if (report == nullptr)
      continue;
    if (report->checkpoint) {  // which is to be deleted
      with_checkpoint.push_back(std::move(waiting->second.front()));
      step.when_accepted.erase(step.when_accepted.begin() + static_cast<std::ptrdiff_t>(i--));
    } else {
      step.when_accepted[i] =
          Answer{report->worker, report->key, report->message, Verdict::stop, std::nullopt};
    }
    waiting->second.pop_front();
    if (waiting->second.empty())
      held.erase(waiting);
  }
  for (RecordedBody& report : with_checkpoint)
    TROUPE_RETURN_IF_ERROR(process(std::move(report), step, stale));
  return ok();
}

/// True: the event waits for the turn of its trial.
bool TrialLoop::Impl::hold(RecordedBody& body) {
  const Judge judge = machine->judge(now);
  if (const auto* exited = std::get_if<WorkerExited>(&body)) {
    const auto* worker = machine->state().workers.find(exited->worker);
    const auto waiting =
        worker != nullptr && worker->trial ? held.find(*worker->trial) : held.end();
    if (waiting != held.end()) {
      auto& queue = waiting->second;
      if (auto* ended = std::get_if<TrialEnded>(&queue.back())) {
        ended->reusable = false;
      } else if (exited->kind != FailureKind::user &&
                 !std::holds_alternative<TrialFailed>(queue.back())) {
        // What the dead attempt reported was not accepted; the next attempt reports it again.
        held.erase(waiting);
        return false;
      }
      queue.push_back(std::move(body));
      return true;
    }
  }
  const auto trial = judge.waits_for_turn(body);
  if (!trial || (trial == machine->turn() && !asked))
    return false;
  held[*trial].push_back(std::move(body));
  return true;
}

Status TrialLoop::Impl::process_held(Step& step, std::uint64_t& stale) {
  // What is suggested comes before what happens next: it decides who takes turns.
  while (!held.empty() && (!asked || machine->state().drain)) {
    auto next = held.end();
    if (machine->state().drain) {
      // The experiment stops: turns are over, and everything that waits is let in.
      next = held.begin();
    } else {
      // The end of a worker follows the end of its trial without a turn of its own.
      if (last_held)
        next = held.find(*last_held);
      if (next != held.end() && machine->judge(now).waits_for_turn(next->second.front()))
        next = held.end();
      const auto turn = machine->turn();
      if (next == held.end() && turn)
        next = held.find(*turn);
    }
    if (next == held.end())
      return ok();
    last_held = next->first;
    RecordedBody body = std::move(next->second.front());
    next->second.pop_front();
    if (next->second.empty())
      held.erase(next);
    TROUPE_RETURN_IF_ERROR(process(std::move(body), step, stale));
  }
  return ok();
}

Status TrialLoop::Impl::take_in_turn(RecordedBody body, Step& step, std::uint64_t& stale) {
  if (!machine->deterministic())
    return process(std::move(body), step, stale);
  if (!hold(body))
    TROUPE_RETURN_IF_ERROR(process(std::move(body), step, stale));
  return process_held(step, stale);
}

/// Puts the question of a trial that could be started. At most one is out.
void TrialLoop::Impl::ask(Step& step) {
  if (asked || !machine->wants_suggestion() || no_use == machine->last())
    return;
  asked = machine->ask();
  asked_at = machine->last();
  step.when_accepted.push_back(Compute{asked});
}

Status TrialLoop::Impl::take_answer(const Computed& computed, Step& step, std::uint64_t& stale) {
  if (!asked || computed.computation != asked) {
    ++stale;
    return ok();
  }
  const auto job = std::exchange(asked, nullptr);
  Suggested suggested{.trial = job->trial()};
  if (!job->answer()) {
    suggested.error = job->answer().error().message();
  } else {
    suggested.kind = job->answer()->kind;
    suggested.config = std::move(job->answer()->config);
    suggested.note = std::move(job->answer()->note);
  }
  // Nothing to suggest then; but something has happened since, so it is asked again.
  const bool nothing = suggested.error.empty() && suggested.kind == Suggestion::Kind::nothing_now;
  if (nothing && asked_at != machine->last())
    ask(step);
  else if (nothing)
    no_use = asked_at;
  if (!asked)
    TROUPE_RETURN_IF_ERROR(process(std::move(suggested), step, stale));
  return process_held(step, stale);
}

/// Not a decision: the run ends as if the journal had refused it, and a restore goes on with every
/// trial where it was.
Error TrialLoop::Impl::out_of_space(const TrialFailed& failed) const {
  const Trial* trial = machine->state().trials.find(failed.key.trial);
  return Error(ErrorCode::resource_exhausted,
               "no space is left in '" + machine->parts().setting.experiment_dir.string() + "' (" +
                   (trial != nullptr ? trial->row.name : "trial " + to_string(failed.key.trial)) +
                   ": " + failed.message + "): free some space there");
}

TrialLoop::TrialLoop(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TrialLoop::~TrialLoop() = default;

Result<std::unique_ptr<TrialLoop>> TrialLoop::create(ExperimentSpec spec, const Searcher* searcher,
                                                     const Scheduler* scheduler,
                                                     LoopEnvironment environment) {
  const double cpus = environment.cpus;
  const std::uint64_t memory = environment.memory_bytes;
  TROUPE_TRY(machine,
             LoopMachine::make(std::move(spec), searcher, scheduler, std::move(environment)));
  auto impl = std::make_unique<Impl>(std::move(machine));
  impl->began.cpus = cpus;
  impl->began.memory_bytes = memory;
  return std::unique_ptr<TrialLoop>(new TrialLoop(std::move(impl)));
}

Result<std::unique_ptr<TrialLoop>> TrialLoop::restore(const JournalReader& journal,
                                                      const Searcher* searcher,
                                                      const Scheduler* scheduler,
                                                      LoopEnvironment environment,
                                                      ResumeConfig resume) {
  TROUPE_TRY(spec, read_spec(journal));
  const double cpus = environment.cpus;
  const std::uint64_t memory = environment.memory_bytes;
  TROUPE_TRY(machine,
             LoopMachine::make(std::move(spec), searcher, scheduler, std::move(environment)));
  TROUPE_TRY(after, machine->load_snapshot(journal));
  Status failed = ok();
  const auto apply = [&](Sequence sequence, std::string_view bytes) {
    auto event = decode<EventRecord>(bytes);
    failed = event ? machine->replay(sequence, *event, bytes.size())
                   : Status(std::move(event).error().with_context("event " + to_string(sequence)));
    return failed.has_value();
  };
  TROUPE_RETURN_IF_ERROR(journal.events(after, apply));
  TROUPE_RETURN_IF_ERROR(std::move(failed));
  auto impl = std::make_unique<Impl>(std::move(machine));
  RunBegan& began = impl->began;
  began.restored = true;
  began.cpus = cpus;
  began.memory_bytes = memory;
  began.resume = resume;
  if (resume.errored != Resume::skip) {
    TROUPE_TRY(taken, errored_trials(journal, resume.errored));
    impl->taken = std::move(taken);
  }
  return std::unique_ptr<TrialLoop>(new TrialLoop(std::move(impl)));
}

Result<std::string> TrialLoop::verify_replay(const JournalReader& journal, const Searcher* searcher,
                                             const Scheduler* scheduler) {
  TROUPE_TRY(spec, read_spec(journal));
  LoopEnvironment environment{.cpus = 1e6};  // each event says how many there were
  TROUPE_TRY(machine,
             LoopMachine::make(std::move(spec), searcher, scheduler, std::move(environment)));
  Status failed = ok();
  const auto check = [&](Sequence sequence, std::string_view bytes) {
    auto event = decode<EventRecord>(bytes);
    failed = event ? machine->verify(sequence, *event, bytes)
                   : Status(std::move(event).error().with_context("event " + to_string(sequence)));
    return failed.has_value();
  };
  TROUPE_RETURN_IF_ERROR(journal.events(Sequence(), check));
  TROUPE_RETURN_IF_ERROR(std::move(failed));
  return machine->fingerprint();
}

Result<Step> TrialLoop::start(TimePoint now, std::int64_t wall_ms) {
  if (impl_->started)
    return Error(ErrorCode::failed_precondition, "the trial loop was started before");
  impl_->started = true;
  impl_->origin = now;
  impl_->base = impl_->machine->state().run_time;
  impl_->now = impl_->base;
  impl_->wall_ms = wall_ms;
  Step step;
  // Trials that had their last result when the driver died: nobody else will report their end.
  std::vector<TrialEnded> ends;
  for (const auto& [id, trial] : impl_->machine->state().trials.all())
    if (trial.row.state == TrialState::running &&
        (trial.phase == Phase::stopping || trial.phase == Phase::pausing))
      ends.push_back({WorkerId(), {id, trial.row.attempt}, false, false});
  for (ErroredTaken& taken : impl_->taken)
    TROUPE_RETURN_IF_ERROR(impl_->process(std::move(taken), step, stale_));
  impl_->taken.clear();
  TROUPE_RETURN_IF_ERROR(impl_->process(std::move(impl_->began), step, stale_));
  for (TrialEnded& end : ends)
    TROUPE_RETURN_IF_ERROR(impl_->take_in_turn(std::move(end), step, stale_));
  return step;
}

Result<Step> TrialLoop::handle(const Event& event) {
  if (!impl_->started)
    return Error(ErrorCode::failed_precondition, "the trial loop was not started");
  impl_->now = impl_->run_time_at(event.now);
  impl_->wall_ms = event.wall_ms;
  if (const auto* failed = std::get_if<TrialFailed>(&event.body); failed && failed->storage_full)
    return impl_->out_of_space(*failed);
  Step step;
  const auto take = [&](const auto& body) {
    if constexpr (std::is_same_v<std::decay_t<decltype(body)>, Computed>)
      return impl_->take_answer(body, step, stale_);
    else
      return impl_->take_in_turn(recorded(body), step, stale_);
  };
  TROUPE_RETURN_IF_ERROR(std::visit(take, event.body));
  return step;
}

bool TrialLoop::finished() const {
  const auto& state = impl_->machine->state();
  return impl_->started && state.done && state.workers.empty();
}

std::optional<TimePoint> TrialLoop::next_deadline() const {
  const auto at = detail::Planner::deadline(impl_->machine->parts());
  if (!impl_->started || !at)
    return std::nullopt;
  return impl_->origin + (*at - impl_->base);
}

const ExperimentSpec& TrialLoop::spec() const {
  return impl_->machine->parts().setting.spec;
}

const ExperimentRow& TrialLoop::status() const {
  return impl_->machine->state().status;
}

std::string TrialLoop::fingerprint() const {
  return impl_->machine->fingerprint();
}

bool TrialLoop::is_asking() const {
  return impl_->asked != nullptr;
}

std::vector<TrialLoop::LiveTrial> TrialLoop::live_trials() const {
  std::vector<LiveTrial> live;
  for (const auto& [id, trial] : impl_->machine->state().trials.all())
    live.push_back({trial.row, trial.has_worker() ? std::optional(trial.worker) : std::nullopt});
  return live;
}

}  // namespace troupe::tune
