#include "world.hpp"

#include <algorithm>
#include <utility>

namespace troupe::simulation {
namespace {

constexpr std::uint64_t max_events = 200'000;

Duration ms(double milliseconds) {
  return Duration(static_cast<std::int64_t>(milliseconds * 1e6));
}

}  // namespace

World::World(const Scenario& scenario, std::unique_ptr<Disk> disk)
    : scenario_(scenario),
      random_(scenario.seed, std::uint64_t{1} << 41, RandomPurpose::test),
      clock_(TimePoint{1'000'000'000}, 1'700'000'000'000),
      disk_(std::move(disk)),
      faults_(disk_->faults(), scenario.seed) {}

World::~World() = default;

Duration World::delay() {
  const double draw = random_.uniform();
  return draw < 0.9 ? ms(1 + 500 * random_.uniform()) : ms(5000 * random_.uniform());
}

void World::problem(const std::string& what) {
  if (report_.problems.size() < 20)
    report_.problems.push_back("event " + std::to_string(report_.events) + ": " + what);
}

void World::note(const std::string& what) {
  report_.trace.push_back("event " + std::to_string(report_.events) + " at " +
                          std::to_string(clock_.now().ns) + " ns: " + what);
}

void World::at(TimePoint when, std::function<void()> what) {
  agenda_.emplace(When(std::max(when, clock_.now()), agenda_counter_++),
                  [this, life = life_, what = std::move(what)] {
                    if (life == life_)
                      what();
                  });
}

void World::after(Duration delay, WorkerId, std::function<void()> what) {
  at(clock_.now() + delay, std::move(what));
}

// -- between driver and workers -----------------------------------------------------------------

void World::send(EventBody body, WorkerId from) {
  TimePoint& last = last_message_[from];
  last = std::max(last, clock_.now() + ms(20 * random_.uniform()));
  at(last, [this, body = std::move(body)]() mutable { deliver(std::move(body)); });
}

void World::to_worker(WorkerId worker, std::function<void(FakeWorker&)> what) {
  TimePoint& last = last_command_[worker];
  last = std::max(last, clock_.now() + ms(5 * random_.uniform()));
  at(last, [this, worker, what = std::move(what)] {
    const auto found = workers_.find(worker);
    if (found != workers_.end() && found->second->alive())
      what(*found->second);
  });
}

void World::deliver(EventBody body) {
  ++report_.events;
  core_->handle(Event{clock_.now(), clock_.wall_ms(), std::move(body)});
  check_live();
  if (core_->finished() || core_->error())
    return end_of_driver();
  schedule_tick();
  maybe_strike();
}

void World::schedule_tick() {
  const auto deadline = core_->next_deadline();
  if (!deadline || (tick_at_ && *tick_at_ <= *deadline && *tick_at_ > clock_.now()))
    return;
  tick_at_ = std::max(*deadline, clock_.now() + ms(1));
  at(*tick_at_, [this] { deliver(Tick{}); });
}

void World::execute(Command command) {
  std::visit([this](const auto& c) { carry_out(Command(c)); }, command);
}

void World::carry_out(const Command& command) {
  if (const auto* start = std::get_if<StartWorker>(&command)) {
    const WorkerId id = start->worker;
    if (!workers_.emplace(id, std::make_unique<FakeWorker>(*this, id)).second)
      problem("worker " + to_string(id) + " is started twice");
    to_worker(id, [](FakeWorker& worker) { worker.start(); });
  } else if (const auto* run = std::get_if<RunTrial>(&command)) {
    for (const auto& [id, worker] : workers_)
      if (worker->active() && worker->active()->trial == run->key.trial)
        problem("trial " + to_string(run->key) + " has two live attempts");
    for (const CheckpointRef& ref : run->checkpoints)
      if (!disk_->has(run->key.trial, ref))
        problem("checkpoint " + std::to_string(ref.number) + " of trial " + to_string(run->key) +
                " is gone, but still counted on");
    to_worker(run->worker, [run = *run](FakeWorker& worker) { worker.run(run); });
  } else if (const auto* answer = std::get_if<Answer>(&command)) {
    to_worker(answer->worker, [answer = *answer](FakeWorker& worker) { worker.answer(answer); });
  } else if (const auto* halt = std::get_if<StopTrial>(&command)) {
    to_worker(halt->worker, [halt = *halt](FakeWorker& worker) { worker.stop_trial(halt); });
  } else if (const auto* stop = std::get_if<StopWorker>(&command)) {
    if (const auto found = workers_.find(stop->worker); found != workers_.end())
      found->second->mark_stopped();
    to_worker(stop->worker, [](FakeWorker& worker) { worker.stop(); });
  } else if (const auto* gone = std::get_if<DeleteCheckpoint>(&command)) {
    remove_checkpoint(*gone);
  } else if (const auto* compute = std::get_if<Compute>(&command)) {
    // It may take longer than a step, and the driver may be gone when it is done.
    at(clock_.now() + ms(3000 * random_.uniform()), [this, job = compute->computation] {
      job->run();
      deliver(Computed{job});
    });
  }
}

/// As the remover beside the driver does it.
void World::remove_checkpoint(const DeleteCheckpoint& command) {
  const auto remove = [&] { return disk_->remove(command.trial, command.checkpoint); };
  if (faults_.die_in("checkpoint.delete.", [&] { (void)remove().is_ok(); })) {
    at(clock_.now(), [this] { kill_driver(); });
    return;
  }
  const std::pair key(command.trial, command.checkpoint.number);
  if (remove())
    not_removed_.erase(key);
  else
    not_removed_.insert(key);
}

std::optional<Result<CheckpointRef>> World::store_checkpoint(TrialId trial, std::uint32_t number,
                                                             std::uint64_t iteration) {
  const bool damaged = chance(trouble().damage);
  const auto save = [&] { return disk_->save(trial, number, iteration, damaged); };
  if (faults_.die_in("checkpoint.write.", [&] { (void)save().has_value(); }))
    return std::nullopt;
  try {
    return save();
  } catch (const Exception& thrown) {  // as around all user code
    return thrown.error();
  }
}

bool World::is_intact(TrialId trial, const CheckpointRef& ref) const {
  return disk_->is_intact(trial, ref);
}

void World::was_answered(TrialId trial, std::uint64_t iteration, Verdict verdict) {
  // "stop" may also be the answer to a result that was not accepted.
  if (verdict == Verdict::stop)
    return;
  const auto event = accepted_once_.event_of(trial, iteration);
  if (!event || *event > disk_->journal().watermarks().accepted)
    problem("result " + std::to_string(iteration) + " of trial " + to_string(trial) +
            " is answered before it is accepted");
  ++answered_[{trial, iteration}];
}

// -- the store ----------------------------------------------------------------------------------

Result<Sequence> World::submit(std::vector<WriteSet> writes) {
  submitted_ = Sequence(submitted_.value + writes.size());
  for (const WriteSet& set : writes)
    for (std::string& what : accepted_once_.look_at(set))
      problem(what);
  queued_.push_back(std::move(writes));
  if (!append_due_) {
    append_due_ = true;
    at(clock_.now() + ms(3 * random_.uniform()), [this] { append(); });
  }
  return submitted_;
}

void World::append() {
  append_due_ = false;
  std::vector<WriteSet> batch;
  for (auto& writes : queued_)
    std::move(writes.begin(), writes.end(), std::back_inserter(batch));
  queued_.clear();
  if (batch.empty())
    return;
  const Result<Sequence> last = disk_->journal().append(batch);
  if (!last) {
    core_->store_failed(last.error());
    return end_of_driver();
  }
  told_accepted_ = *last;
  core_->on_accepted(*last);
  check_live();
  if (!sync_due_) {
    sync_due_ = true;
    at(clock_.now() + ms(30 * random_.uniform()), [this] { sync(); });
  }
  if (core_->error() || core_->finished())
    return end_of_driver();
  schedule_tick();  // events that were held back may have been handled
}

void World::sync() {
  sync_due_ = false;
  const Result<Sequence> durable = disk_->journal().sync();
  if (!durable) {
    core_->store_failed(durable.error());
    return end_of_driver();
  }
  told_durable_ = *durable;
  core_->on_durable(*durable);
  check_live();
  if (core_->error() || core_->finished())
    return end_of_driver();
  schedule_tick();
}

// -- life and death of the driver ---------------------------------------------------------------

Status World::open_disk() {
  try {
    return disk_->open();
  } catch (const Exception& thrown) {  // whoever calls `fit` gets it
    return thrown.error();
  }
}

void World::start_driver() {
  struck_.clear();
  // A new life begins with an opening, and that can fail, too.
  const Moment moment = submitted_ == Sequence() ? Moment::creation : Moment::opening;
  const double fault =
      report_.driver_deaths == 0 ? trouble().creation_fault : trouble().opening_fault;
  if (report_.driver_deaths < trouble().max_deaths && chance(fault))
    choose_fault(moment, 0);
  faults_.enter(moment);
  const Status opened = open_disk();
  note_faults();
  faults_.drop(moment);
  faults_.rest();
  if (opened)
    return begin_life();
  if (!is_injected(opened.error()))
    problem("the store does not open: " + opened.error().to_string());
  ++report_.driver_deaths;
  note("the opening failed");
  at(clock_.now() + ms(1000), [this] { start_driver(); });
}

void World::begin_life() {
  cpus_ = scenario_.cpus_change ? static_cast<double>(random_.uniform_int(1, 4)) : scenario_.cpus;
  const tune::LoopEnvironment environment{"/sim/experiment", cpus_, scenario_.snapshot_interval};
  const auto& config = scenario_.definition.tune_config;
  const bool fresh = disk_->journal().watermarks().accepted == Sequence();
  Result<std::unique_ptr<tune::TrialLoop>> loop =
      fresh ? tune::TrialLoop::create(tune::make_spec(scenario_.definition).value_or_throw(),
                                      config.search_alg.get(), config.scheduler.get(), environment)
            : tune::TrialLoop::restore(disk_->journal(), config.search_alg.get(),
                                       config.scheduler.get(), environment, scenario_.resume);
  loop_ = std::move(loop).value_or_throw();
  submitted_ = disk_->journal().watermarks().accepted;
  accepted_once_ = AcceptedOnce(disk_->journal());
  faults_.enter(Moment::running);
  queued_.clear();
  append_due_ = sync_due_ = stop_requested_ = false;
  tick_at_.reset();
  room_ = 1 + random_.below(16);
  ControllerCore::Sink& store = *this;
  core_ = std::make_unique<ControllerCore>(*loop_, store, submitted_);
  core_->start(clock_.now(), clock_.wall_ms());
  if (core_->error())
    return end_of_driver();
  schedule_tick();
  if (core_->finished())
    end_of_driver();
}

void World::maybe_strike() {
  const Trouble& trouble = this->trouble();
  if (report_.driver_deaths >= trouble.max_deaths || !chance(trouble.driver_dies))
    return;
  const double kind = random_.uniform();
  if (kind < trouble.clean_stop) {
    if (!stop_requested_) {
      stop_requested_ = true;
      deliver(StopRequested{"interrupted"});
    }
  } else if (kind < trouble.clean_stop + trouble.fault) {
    choose_fault(Moment::running, random_.below(3));
    faults_.enter(Moment::running);
  } else {
    // At another moment, between two events.
    at(clock_.now() + ms(100 * random_.uniform()), [this] { kill_driver(); });
  }
}

void World::choose_fault(Moment moment, std::uint64_t skip) {
  if (const auto fault = faults_.choose(moment, skip))
    note("waiting, after " + std::to_string(skip) + ": " + fault->name());
}

void World::note_faults() {
  for (const Fault& fault : faults_.take_fired()) {
    note("fired: " + fault.name());
    report_.fired.push_back(fault.name());
    struck_.insert(fault.point);
  }
}

bool World::is_injected(const Error& error) const {
  if (error.code() == ErrorCode::resource_exhausted && struck_.contains("storage.space.probe"))
    return true;
  return std::any_of(struck_.begin(), struck_.end(), [&](const std::string& point) {
    return error.message().find("fault point '" + point + "'") != std::string::npos;
  });
}

void World::kill_driver() {
  note_faults();
  note("the driver dies");
  ++report_.driver_deaths;
  faults_.rest();
  const bool power = chance(trouble().power_loss);
  ++life_;
  workers_.clear();
  core_.reset();
  loop_.reset();
  disk_->crash(power, random_);
  check_journal(power);
  at(clock_.now() + ms(1000), [this] { start_driver(); });
}

void World::end_of_driver() {
  note_faults();
  if (core_->error()) {
    if (!is_injected(*core_->error()))
      problem("the loop failed: " + core_->error()->to_string());
    return kill_driver();
  }
  const tune::ExperimentState state = loop_->status().state;
  if (state == tune::ExperimentState::running)
    problem("finished, but the status says running");
  if (state == tune::ExperimentState::interrupted) {
    note("the driver was told to stop");
    faults_.rest();
    ++life_;
    ++report_.driver_deaths;
    workers_.clear();
    check_journal(false);
    at(clock_.now() + ms(1000), [this] { start_driver(); });
    return;
  }
  ++life_;
  over_ = true;
}

RunReport World::run() {
  start_driver();
  while (!over_ && report_.problems.empty()) {
    if (agenda_.empty()) {
      problem("nothing is left to happen, but the experiment is not over: loop finished " +
              std::to_string(loop_ && loop_->finished()) + ", workers of the core " +
              std::to_string(core_ ? core_->live_workers().size() : 0) + ", fakes " +
              std::to_string(workers_.size()) + ", submitted " + std::to_string(submitted_.value) +
              ", accepted " + std::to_string(disk_->journal().watermarks().accepted.value) +
              ", durable " + std::to_string(disk_->journal().watermarks().durable.value));
      break;
    }
    auto next = agenda_.extract(agenda_.begin());
    clock_.advance_to(next.key().first);
    next.mapped()();
    note_faults();
    // Whatever happens, it ends: late in a run the troubles do.
    calm_ = report_.events > max_events / 4;
    if (report_.events > max_events)
      problem("the experiment does not end");
  }
  faults_.rest();
  if (over_) {
    const std::string state = loop_->fingerprint();
    check_journal(false);
    check_storage();
    const auto& config = scenario_.definition.tune_config;
    const auto replayed = tune::TrialLoop::verify_replay(disk_->journal(), config.search_alg.get(),
                                                         config.scheduler.get());
    if (replayed && *replayed != state)
      problem("the live state differs from the replayed one");
    report_.table = final_table(disk_->journal());
  }
  report_.chain = disk_->journal().watermarks().chain;
  return report_;
}

}  // namespace troupe::simulation
