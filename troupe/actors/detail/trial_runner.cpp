#include <troupe/actors/detail/exception_text.hpp>
#include <troupe/actors/detail/trial_runner.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/base/log.hpp>
#include <troupe/runtime/storage/checkpoint_store.hpp>
#include <troupe/runtime/storage/experiment_path.hpp>
#include <troupe/runtime/storage/space.hpp>

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>

namespace troupe::detail {

namespace {

std::atomic<bool> a_cleanup_failed{false};

}  // namespace

TrialRunner::TrialRunner(UserMailbox& mailbox, WorkerSetup setup)
    : mailbox_(mailbox), setup_(std::move(setup)) {
  if (setup_.memory_bytes > 0)
    reserve_ = std::make_unique<char[]>(limits::mib);
}

TrialRunner::~TrialRunner() = default;

void TrialRunner::run(RunTrial order) {
  const TrialKey key = order.key;
  const std::string dir = order.trial_dir;
  try {
    Result<TrainableEntry> entry = find_trainable(order.trainable);
    if (!entry)
      throw TrialFailure{.message = entry.error().message(), .permanent = true};
    if (const Status made = make_trial_folder(order.trial_dir); !made)
      throw TrialFailure{made.error().message()};
    if (entry->is_function()) {
      FunctionTrial trial(mailbox_, setup_, std::move(order));
      run_function(trial, *entry);
    } else {
      Trial trial(mailbox_, setup_, std::move(order));
      run_class(trial, *entry);
    }
  } catch (TrialFailure& failed) {
    if (object_)
      mailbox_.enter(UserActivity::cleanup, 0, failed.message);
    object_.reset();
    const bool full = failed.storage_full || out_of_space(std::filesystem::path(dir).parent_path());
    mailbox_.send(
        TrialFailed{setup_.worker, key, std::move(failed.message), full, failed.permanent});
  }
  mailbox_.enter(UserActivity::idle, 0);
}

void TrialRunner::run_class(Trial& trial, const TrainableEntry& entry) {
  const ScopedSession session(trial);
  if (!prepare(trial, entry)) {
    mailbox_.send(ResetRefused{setup_.worker, trial.order().key});
    return;
  }
  restore(trial, entry);
  while (step(trial)) {
  }
}

bool TrialRunner::prepare(Trial& trial, const TrainableEntry& entry) {
  if (!object_ || object_name_ != entry.name || !trial.order().reset) {
    let_go();
    make_object(trial, entry);
    return true;
  }
  mailbox_.enter(UserActivity::reset, 0);
  bool done = false;
  try {
    done = object_->reset_config(trial.order().config);
  } catch (...) {
    pass_forced_unwind();
    throw failure("reset_config failed");
  }
  fail_if_cancelled();
  return done;
}

void TrialRunner::make_object(Trial& trial, const TrainableEntry& entry) {
  mailbox_.enter(UserActivity::prepare, 0);
  try {
    object_.reset();
    object_ = entry.create();
    if (!object_)
      throw TrialFailure{"trainable '" + entry.name + "' made no object"};
    object_name_ = entry.name;
    object_->setup(trial.order().config);
  } catch (const TrialFailure&) {
    throw;
  } catch (...) {
    pass_forced_unwind();
    throw failure("setup failed");
  }
  fail_if_cancelled();
}

void TrialRunner::restore(Trial& trial, const TrainableEntry& entry) {
  std::span<const CheckpointRef> left(trial.order().checkpoints);
  std::vector<uint32_t> damaged;
  std::vector<std::string> notes;
  std::optional<TrialFailure> load_failed;
  bool loaded = false;
  mailbox_.enter(UserActivity::restore, 0);
  while (!left.empty() && !loaded) {
    const Result<std::size_t> found = pick_checkpoint(trial.order().trial_dir, left, notes);
    const std::size_t good = found ? *found : left.size();
    for (const CheckpointRef& ref : left.first(good))
      damaged.push_back(ref.number);
    left = left.subspan(good);
    if (left.empty())
      break;
    const CheckpointRef& ref = left.front();
    try {
      if (object_) {
        object_->load_checkpoint(std::filesystem::path(trial.order().trial_dir) / ref.directory);
      }
      fail_if_cancelled();
      trial.restored(ref);
      loaded = true;
    } catch (const TrialFailure&) {
      throw;
    } catch (...) {
      pass_forced_unwind();
      fail_if_cancelled();  // not the fault of this checkpoint
      // What it loaded may be half: the next one, and a start from nothing, need a fresh object.
      TrialFailure failed = failure("load_checkpoint of " + ref.directory + " failed");
      notes.push_back(failed.message);
      if (!load_failed)
        load_failed = std::move(failed);
      damaged.push_back(ref.number);
      left = left.subspan(1);
      if (!left.empty())
        make_object(trial, entry);
      mailbox_.enter(UserActivity::restore, 0);
    }
  }
  // A checkpoint that is whole and cannot be loaded: starting over in silence would hide a defect.
  if (load_failed && !loaded)
    throw TrialFailure{std::move(load_failed->message)};
  fail_if_cancelled();  // while files were checked and none was good
  std::string note;
  for (const std::string& each : notes)
    note += (note.empty() ? "" : "; ") + each;
  note.resize(std::min(note.size(), limits::max_error_message_bytes));
  trial.send_started(std::move(damaged), std::move(note));
}

bool TrialRunner::step(Trial& trial) {
  const uint64_t number = trial.iteration() + 1;
  if (const auto order = mailbox_.take_stop(trial.order().key)) {
    // The object stands where the last accepted result left it.
    if (order->save)
      save(trial, *order->save);
    trial.send_ended(false);
    return false;
  }
  Metrics metrics;
  mailbox_.enter(UserActivity::step, number);
  const TimePoint start = mailbox_.clock().now();
  try {
    metrics = object_->step();
  } catch (...) {
    pass_forced_unwind();
    throw failure("step " + std::to_string(number) + " failed");
  }
  const Duration took = mailbox_.clock().now() - start;
  fail_if_cancelled();

  std::optional<Answer> answer;
  if (!mailbox_.take_stop(trial.order().key)) {
    auto sent = trial.send_report(std::move(metrics), took, std::nullopt);
    if (!sent)
      throw TrialFailure{.message = sent.error().to_string(), .permanent = true};
    answer = std::move(*sent);
  }
  if (!answer) {  // told to stop: this step does not count, so nothing is saved after it
    trial.send_ended(false);
    return false;
  }
  if (answer->save)
    save(trial, *answer->save);
  if (answer->verdict == Verdict::go_on)
    return true;
  trial.send_ended(false);
  return false;
}

void TrialRunner::save(Trial& trial, uint32_t number) {
  mailbox_.enter(UserActivity::save, trial.iteration());
  std::optional<Result<CheckpointRef>> saved;
  try {
    saved = write_checkpoint(trial.order().trial_dir, number, trial.iteration(),
                             trial.time_total_s(), [this](const std::filesystem::path& folder) {
                               object_->save_checkpoint(folder);
                               fail_if_cancelled();
                             });
  } catch (const TrialFailure&) {
    throw;
  } catch (...) {
    pass_forced_unwind();
    throw failure("save_checkpoint failed");
  }
  if (!*saved) {
    throw TrialFailure{
        checkpoint_directory_name(number) + " could not be saved: " + saved->error().to_string(),
        saved->error().code() == ErrorCode::resource_exhausted};
  }
  trial.send_saved(std::move(*saved).value());
  fail_if_cancelled();
}

void TrialRunner::run_function(FunctionTrial& trial, const TrainableEntry& entry) {
  const ScopedSession session(trial);
  let_go();
  restore(trial, entry);
  bool returned = false;
  try {
    trial.begin();
    Metrics last = entry.function(trial.order().config);
    returned = !trial.stopped();
    if (returned && !last.empty())
      trial.report(std::move(last), nullptr);
  } catch (const TrialStopped&) {
    // The answer to a report; that it was the last one of a function that came back is remembered.
  } catch (...) {
    pass_forced_unwind();
    TrialFailure failed = failure("step " + std::to_string(trial.iteration() + 1) + " failed");
    failed.storage_full = trial.storage_full();
    failed.permanent = trial.unsendable();
    throw failed;
  }
  if (auto failed = trial.take_failure())
    throw TrialFailure{std::move(*failed)};
  trial.send_ended(returned);
}

void TrialRunner::let_go() {
  if (!object_)
    return;
  mailbox_.enter(UserActivity::cleanup, 0);
  try {
    object_->cleanup();
  } catch (...) {
    pass_forced_unwind();
    a_cleanup_failed.store(true);
    log::warning("cleanup failed", {{"trainable", object_name_},
                                    {"worker", setup_.worker},
                                    {"what", current_exception_text()}});
  }
  object_.reset();
  mailbox_.enter(UserActivity::idle, 0);  // from here on nobody cancels it
  // It returned after all, and the trial that comes next did nothing wrong.
  if (const auto slow = mailbox_.forgive_cancelled())
    log::warning("cleanup took long",
                 {{"trainable", object_name_}, {"worker", setup_.worker}, {"what", *slow}});
}

bool TrialRunner::any_cleanup_failed() {
  return a_cleanup_failed.load();
}

void TrialRunner::fail_if_cancelled() {
  if (auto reason = mailbox_.take_cancelled())
    throw TrialFailure{std::move(*reason)};
}

TrialFailure TrialRunner::failure(const std::string& where) {
  reserve_.reset();
  // It threw because it was asked to return.
  if (auto reason = mailbox_.take_cancelled())
    return {*reason + "; then it threw " + current_exception_text()};
  return {where + ": " + current_exception_text()};
}

}  // namespace troupe::detail
