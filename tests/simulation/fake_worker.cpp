#include "fake_worker.hpp"

#include <utility>

#include "world.hpp"

namespace troupe::simulation {
namespace {

bool is_full(const Error& error) {
  return error.code() == ErrorCode::resource_exhausted;
}

}  // namespace

FakeWorker::FakeWorker(World& world, WorkerId id) : world_(world), id_(id) {}

std::optional<TrialKey> FakeWorker::active() const {
  if (!alive_ || told_to_stop_ || told_to_leave_ || !trial_)
    return std::nullopt;
  return trial_->key;
}

void FakeWorker::later(void (FakeWorker::*what)()) {
  const std::uint64_t generation = ++generation_;
  world_.after(world_.delay(), id_, [this, what, generation] {
    if (alive_ && generation == generation_)
      (this->*what)();
  });
}

void FakeWorker::start() {
  if (world_.chance(world_.trouble().start_fails))
    return die(FailureKind::start, "the worker did not start within 30 s");
  later(&FakeWorker::up);
}

void FakeWorker::up() {
  up_ = true;
  world_.send(WorkerStarted{id_, 1000 + static_cast<std::int64_t>(id_.value), "simulated"}, id_);
  if (trial_)
    begin();
}

void FakeWorker::run(const RunTrial& command) {
  trial_ = command;
  told_to_leave_ = false;
  message_ = 0;
  said_done_ = false;
  waiting_for_answer_ = false;
  to_save_.reset();
  next_checkpoint_ = command.next_checkpoint;
  if (up_)
    later(&FakeWorker::begin);
}

void FakeWorker::begin() {
  if (trial_->reset && world_.chance(world_.trouble().reset_refused)) {
    world_.send(ResetRefused{id_, trial_->key}, id_);
    trial_.reset();
    return;
  }
  TrialStarted started{id_, trial_->key, 0, {}, {}, {}};
  for (const CheckpointRef& ref : trial_->checkpoints) {
    if (!world_.is_intact(trial_->key.trial, ref)) {
      started.damaged.push_back(ref.number);
      started.note = "checkpoint " + std::to_string(ref.number) + " is damaged";
      continue;
    }
    started.iteration = ref.iteration;
    started.checkpoint = ref.number;
    break;
  }
  iteration_ = started.iteration;
  world_.send(started, id_);
  step();
}

void FakeWorker::step() {
  later(&FakeWorker::finish_step);
}

void FakeWorker::finish_step() {
  const Behaviour behaviour = world_.scenario().behaviour(trial_->key.trial);
  if (told_to_leave_)
    return end(false);
  if (world_.chance(world_.trouble().worker_dies))
    return die(FailureKind::infrastructure, "killed by SIGKILL from outside");
  if (world_.chance(world_.trouble().flaky))
    return fail("flaky");
  const bool poisoned = behaviour.poison == iteration_ + 1;
  if (poisoned && behaviour.hangs)
    return die(FailureKind::user, "step did not end within 10 s");
  if (poisoned && behaviour.poison_kills)
    return die(FailureKind::user, "killed by SIGSEGV");
  if (poisoned)
    return fail("poison at " + std::to_string(behaviour.poison));
  if (iteration_ >= behaviour.length && world_.scenario().definition.is_function)
    return end(true);
  ++iteration_;
  report();
}

void FakeWorker::report() {
  const Scenario& scenario = world_.scenario();
  const TrialId trial = trial_->key.trial;
  const Behaviour behaviour = scenario.behaviour(trial);
  Reported report;
  report.worker = id_;
  report.key = trial_->key;
  report.message = ++message_;
  report.iteration = iteration_;
  report.metrics = {{"time_total_s", static_cast<double>(iteration_)}, {"n", iteration_}};
  if (!(behaviour.forgets_metric && iteration_ == 2))
    report.metrics["loss"] = scenario.loss(trial, iteration_);
  if (scenario.definition.is_function) {
    if (scenario.function_saves(trial, iteration_)) {
      auto saved = world_.store_checkpoint(trial, next_checkpoint_++, iteration_);
      if (!saved)
        return die(FailureKind::infrastructure, "killed by SIGKILL while saving");
      if (!*saved)
        return fail("report threw: " + saved->error().message(), is_full(saved->error()));
      report.checkpoint = saved->take();
    }
  } else {
    report.done = iteration_ >= behaviour.length;
    report.wants_checkpoint = scenario.function_saves(trial, iteration_ + 500);
  }
  said_done_ = report.done;
  waiting_for_answer_ = true;
  world_.send(report, id_);
}

void FakeWorker::answer(const Answer& command) {
  if (!trial_ || command.key != trial_->key || !waiting_for_answer_ || command.message != message_)
    return;
  waiting_for_answer_ = false;
  verdict_ = command.verdict;
  world_.was_answered(command.key.trial, iteration_, command.verdict);
  if (verdict_ != Verdict::go_on)
    told_to_leave_ = true;
  if (command.save) {
    to_save_ = command.save;
    const std::uint64_t generation = ++generation_;
    world_.after(world_.delay(), id_, [this, generation] {
      if (alive_ && generation == generation_)
        save(*to_save_);
    });
    return;
  }
  if (verdict_ == Verdict::go_on)
    step();
  else
    end(false);
}

void FakeWorker::save(std::uint32_t number) {
  if (world_.chance(world_.trouble().worker_dies))
    return die(FailureKind::infrastructure, "killed by SIGKILL from outside while saving");
  if (world_.chance(world_.trouble().save_fails))
    return fail("save_checkpoint threw");
  const auto saved = world_.store_checkpoint(trial_->key.trial, number, iteration_);
  if (!saved)
    return die(FailureKind::infrastructure, "killed by SIGKILL while saving");
  if (!*saved)
    return fail("the checkpoint was not saved: " + saved->error().message(),
                is_full(saved->error()));
  if (world_.chance(world_.trouble().worker_dies))
    return die(FailureKind::infrastructure, "killed by SIGKILL from outside after saving");
  world_.send(CheckpointSaved{id_, trial_->key, **saved}, id_);
  if (verdict_ == Verdict::go_on && !told_to_leave_)
    step();
  else
    end(false);
}

void FakeWorker::stop_trial(const StopTrial& command) {
  if (!trial_ || command.key != trial_->key)
    return;
  told_to_leave_ = true;
  if (!up_)
    return;
  if (!waiting_for_answer_)
    later(&FakeWorker::finish_step);
}

void FakeWorker::end(bool returned) {
  const TrialKey key = trial_->key;
  trial_.reset();
  world_.send(TrialEnded{id_, key, returned, true}, id_);
  if (!told_to_stop_ && world_.chance(world_.trouble().worker_dies))
    die(FailureKind::infrastructure, "killed by SIGKILL from outside between trials");
}

void FakeWorker::fail(const std::string& message, bool storage_full) {
  const TrialKey key = trial_->key;
  trial_.reset();
  world_.send(TrialFailed{id_, key, message, storage_full || world_.is_disk_full()}, id_);
}

void FakeWorker::stop() {
  if (world_.chance(0.5)) {
    // Takes its time; what it was about to send is still sent.
    world_.after(world_.delay(), id_, [this] { die(FailureKind::user, "stopped"); });
    return;
  }
  die(FailureKind::infrastructure, "stopped");
}

void FakeWorker::die(FailureKind kind, const std::string& message) {
  if (!alive_)
    return;
  alive_ = false;
  ++generation_;
  world_.send(WorkerExited{id_, kind, message}, id_);
}

}  // namespace troupe::simulation
