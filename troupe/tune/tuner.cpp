#include <troupe/actors/registry.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/base/file.hpp>
#include <troupe/base/log.hpp>
#include <troupe/runtime/resources/host.hpp>
#include <troupe/runtime/storage/experiment_path.hpp>
#include <troupe/runtime/store/secondary_reader.hpp>
#include <troupe/runtime/store/store.hpp>
#include <troupe/tune/detail/mend_rows.hpp>
#include <troupe/tune/experiment.hpp>
#include <troupe/tune/experiment_reader.hpp>
#include <troupe/tune/experiment_spec.hpp>
#include <troupe/tune/report/text.hpp>
#include <troupe/tune/search/detail/given.hpp>
#include <troupe/tune/tuner.hpp>

#include <cmath>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <utility>

#include <unistd.h>

namespace troupe::tune {

namespace fs = std::filesystem;

namespace {

/// The one place where something random comes in. It is stored with the experiment.
std::uint64_t draw_seed() {
  std::random_device device;  // style: allow(std::random_device) the seed that is stored
  return (std::uint64_t{device()} << 32) | device();
}

/// "Quadratic_2026-01-31_14-02-05", with a number behind it where that is taken.
Result<std::string> default_name(const RunConfig& run, const std::string& trainable) {
  std::string name = trainable + '_' + local_time_text(real_clock().wall_ms());
  for (char& c : name) {
    if (c == ' ')
      c = '_';
    if (c == ':')
      c = '-';
  }
  for (int count = 1;; ++count) {
    std::string candidate = count == 1 ? name : name + '_' + std::to_string(count);
    TROUPE_TRY(dir, experiment_directory(run.storage_path, candidate));
    if (!fs::exists(dir))
      return candidate;
  }
}

/// A store whose process ended between making it and the first decision: as good as none. One that
/// lost its events is another matter, and refused as such.
bool is_unused(const fs::path& dir) {
  const auto reader = open_secondary(dir, {.refuse_loss = true});
  return reader && (*reader)->watermarks().accepted == Sequence(0);
}

Status check_free(const fs::path& dir, const std::string& name) {
  if (!store_exists(dir) || is_unused(dir))
    return ok();
  return Error(
      ErrorCode::already_exists,
      "experiment '" + name + "' is there already, in '" + dir.string() +
          "': choose another RunConfig.name, or go on with it by Tuner::restore(runtime, \"" +
          dir.string() + "\")");
}

/// What is to be gone on with. The store is read as the opening for writing will read it, so that
/// what that would refuse is refused here.
Result<ExperimentSpec> stored_spec(const fs::path& dir) {
  auto opened = open_secondary(dir, {.refuse_loss = true});
  if (!opened && opened.error().code() == ErrorCode::not_found)
    return std::move(opened).error().with_context(
        "there is no experiment in '" + dir.string() +
        "' (a path is expected, not a name below the storage path)");
  TROUPE_TRY(reader, std::move(opened));
  if (reader->watermarks().accepted == Sequence(0)) {
    return Error(ErrorCode::not_found, "the experiment in '" + dir.string() +
                                           "' was never begun: its process ended before the first "
                                           "decision. Start it with Tuner::fit, under that name");
  }
  auto spec = read_spec(*reader);
  if (spec || spec.error().code() != ErrorCode::not_found)
    return spec;
  return Error(ErrorCode::data_loss, dir.string() + ": " + spec.error().message() +
                                         ", although events are. Restore the folder from a backup");
}

void tell_notes(const OpenedStore& store) {
  for (const std::string& note : store.notes)
    log::warning(note);
}

struct Plan {
  std::optional<std::uint64_t> trials{};
  bool ends = true;  ///< does the search, by itself?
};

Result<Plan> plan_of(const ExperimentSpec& spec, const Searcher* given) {
  TROUPE_TRY(context, search_context(spec));
  TROUPE_TRY(searcher, searcher_for(spec, context, given));
  const auto trials = searcher->planned(context);
  return Plan{trials, trials || (searcher->enumerates() && !context.allow_repeats)};
}

/// The same of an experiment that is gone on with: an earlier version may have taken a space, or
/// points to evaluate, that this one refuses.
Result<Plan> stored_plan(const fs::path& dir, const ExperimentSpec& spec, const Searcher* given) {
  auto plan = plan_of(spec, given);
  if (plan || plan.error().code() != ErrorCode::invalid_argument)
    return plan;
  const std::string other =
      given == nullptr ? "" : ", or the searcher that was passed has other settings";
  return Error(plan.error().code(),
               "the experiment in '" + dir.string() +
                   "' was made by a version that allowed what this one refuses" + other + ": " +
                   plan.error().message() +
                   ". It cannot go on: start it anew, under another name and without that; with "
                   "TuneConfig.known_results = ResultGrid::open(\"" +
                   dir.string() + "\").known_results() it learns from what was found");
}

Result<ResumeConfig> resume_config(const RestoreOptions& options) {
  if (options.resume_errored && options.restart_errored) {
    return Error(ErrorCode::invalid_argument,
                 "RestoreOptions: resume_errored and restart_errored contradict each other; set "
                 "one of them");
  }
  ResumeConfig resume;
  resume.unfinished = options.resume_unfinished ? Resume::resume : Resume::skip;
  if (options.resume_errored)
    resume.errored = Resume::resume;
  if (options.restart_errored)
    resume.errored = Resume::restart;
  return resume;
}

}  // namespace

class Tuner::Impl {
public:
  Impl(Runtime& runtime, std::string trainable, TunerOptions options)
      : runtime_(runtime),
        trainable_(std::move(trainable)),
        options_(std::move(options)),
        verbose_(options_.run_config.verbose),
        handle_signals_(options_.handle_signals) {}

  Impl(Runtime& runtime, fs::path dir, const ExperimentSpec& spec, RestoreOptions options)
      : runtime_(runtime),
        trainable_(spec.trainable),
        dir_(std::move(dir)),
        restore_(std::move(options)),
        verbose_(restore_->verbose.value_or(spec.verbose)),
        handle_signals_(restore_->handle_signals),
        results_(std::in_place, ResultGrid::of(dir_)) {}

  ResultGrid fit() {
    if (fitted_) {
      throw Exception(ErrorCode::failed_precondition,
                      "fit() was called before; Tuner::restore(runtime, \"" + dir_.string() +
                          "\") goes on with the experiment");
    }
    // A view of before the run would keep the files on the disk that the run replaces.
    if (restore_)
      results_.emplace(ResultGrid::of(dir_));
    {
      auto experiment = (restore_ ? open() : create()).value_or_throw();
      fitted_ = true;  // what was refused may be tried again
      const std::lock_guard lock(mutex_);
      experiment_ = std::move(experiment);
      if (stop_reason_)
        experiment_->request_stop(*stop_reason_);
    }
    Status status = experiment_->run();
    {
      const std::lock_guard lock(mutex_);
      experiment_.reset();
    }
    if (!status) {
      throw Exception(status.error().code(),
                      "experiment '" + dir_.string() + "' ended: " + status.error().message() +
                          ". Nothing that was accepted is lost: mend the cause, then " +
                          restore_hint());
    }
    results_.emplace(ResultGrid::of(dir_));
    if (verbose_ > 0)
      tell_end();
    else if (results_->state() == ExperimentState::failed)
      log::error("an experiment failed", {{"why", results_->message()}, {"then", restore_hint()}});
    return *results_;
  }

  ResultGrid get_results() const {
    if (!results_) {
      throw Exception(ErrorCode::failed_precondition,
                      "there are no results yet: call fit(), or make the tuner with "
                      "Tuner::restore");
    }
    return *results_;
  }

  void request_stop(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    stop_reason_ = reason;
    if (experiment_)
      experiment_->request_stop(reason);
  }

private:
  Result<std::unique_ptr<Experiment>> create() {
    TROUPE_TRY(entry, find_trainable(trainable_));
    RunConfig& run = options_.run_config;
    if (run.name.empty()) {
      TROUPE_TRY(name, default_name(run, trainable_));
      run.name = std::move(name);
    }
    TROUPE_TRY(dir, experiment_directory(run.storage_path, run.name));
    TROUPE_RETURN_IF_ERROR(check_free(dir, run.name));
    dir_ = std::move(dir);
    TROUPE_TRY(spec, make_spec({.name = run.name,
                                .trainable = trainable_,
                                .is_function = entry.is_function(),
                                .saves_checkpoints = entry.saves_checkpoints,
                                .param_space = options_.param_space,
                                .tune_config = options_.tune_config,
                                .run_config = run,
                                .seed = draw_seed(),
                                .now_ms = real_clock().wall_ms()}));
    const Searcher* searcher = options_.tune_config.search_alg.get();
    TROUPE_TRY(plan, plan_of(spec, searcher));
    auto known = options_.tune_config.known_results;
    const auto left_out = detail::adopt_known_results(detail::Design(options_.param_space),
                                                      objectives_of(spec), spec.constraints, known);
    TROUPE_TRY(loop, TrialLoop::create(std::move(spec), searcher,
                                       options_.tune_config.scheduler.get(), environment()));
    TROUPE_RETURN_IF_ERROR(check_location());
    // Only now something is written.
    TROUPE_RETURN_IF_ERROR(create_experiment_directory(dir_).with_context(
        "RunConfig.storage_path or TROUPE_STORAGE_PATH must name a place that can be written"));
    const OpenMode mode = store_exists(dir_) ? OpenMode::existing : OpenMode::create;
    TROUPE_TRY(store, open_store({.experiment_dir = dir_, .mode = mode}));
    if (left_out)
      log::warning(*left_out);
    return make_experiment(std::move(loop), std::move(store), plan);
  }

  Result<std::unique_ptr<Experiment>> open() {
    TROUPE_TRY(resume, resume_config(*restore_));
    TROUPE_RETURN_IF_ERROR(check_location());
    TROUPE_TRY(store, open_store({.experiment_dir = dir_, .mode = OpenMode::existing}));
    TROUPE_TRY(spec, read_spec(*store.journal));
    const Searcher* searcher = restore_->search_alg.get();
    TROUPE_TRY(plan, stored_plan(dir_, spec, searcher));
    TROUPE_TRY(mended, detail::mend_rows(*store.journal, searcher, restore_->scheduler.get(),
                                         real_clock().wall_ms()));
    if (mended > 0)
      store.notes.push_back(plural(mended, "row") +
                            " that a repair had dropped were written again from the events");
    TROUPE_TRY(loop, TrialLoop::restore(*store.journal, searcher, restore_->scheduler.get(),
                                        environment(), resume));
    if (loop->status().planned)
      plan.trials = loop->status().planned;  // with those that were repeated
    return make_experiment(std::move(loop), std::move(store), plan);
  }

  std::unique_ptr<Experiment> make_experiment(std::unique_ptr<TrialLoop> loop, OpenedStore store,
                                              const Plan& plan) {
    tell_notes(store);
    if (verbose_ > 0) {
      log::info(restore_ ? "going on with an experiment" : "starting an experiment",
                {{"trainable", trainable_},
                 {"folder", dir_.string()},
                 {"seed", loop->spec().seed},
                 {"cpus", runtime_.cpus()}});
      warn_of_surprises(loop->spec(), loop->status(), plan);
    }
    return std::make_unique<Experiment>(runtime_, std::move(loop), std::move(store.journal),
                                        ExperimentOptions{.dir = dir_,
                                                          .planned = plan.trials,
                                                          .verbose = verbose_,
                                                          .handle_signals = handle_signals_});
  }

  /// What is allowed, but perhaps not what was meant.
  void warn_of_surprises(const ExperimentSpec& spec, const ExperimentRow& status,
                         const Plan& plan) const {
    if (!plan.ends && !spec.time_budget)
      log::warning(
          "nothing ends this experiment: num_samples sets no number of trials, and there is no "
          "time_budget (stop criteria end trials only); Ctrl-C stops it");
    const double at_a_time =
        spec.resources.cpus > 0 ? std::floor(runtime_.cpus() / spec.resources.cpus + 1e-9) : 1e9;
    if (spec.max_concurrent_trials && *spec.max_concurrent_trials > at_a_time)
      log::warning(
          "fewer trials than max_concurrent_trials run at a time: raise "
          "RuntimeOptions.cpus or lower RunConfig.resources_per_trial.cpus for more",
          {{"max_concurrent_trials", *spec.max_concurrent_trials},
           {"at_a_time", at_a_time},
           {"cpus", runtime_.cpus()},
           {"cpus_per_trial", spec.resources.cpus}});
    if (restore_ && !restore_->resume_errored && !restore_->restart_errored && status.errored > 0)
      log::info(
          "trials that failed stay as they are; RestoreOptions.resume_errored or "
          "restart_errored takes them up",
          {{"failed", status.errored}});
  }

  LoopEnvironment environment() const {
    return {.experiment_dir = dir_,
            .cpus = runtime_.cpus(),
            .memory_bytes = detect_host_resources().memory_bytes};
  }

  Status check_location() const {
    TROUPE_TRY(warning, check_store_location(dir_));
    if (warning)
      log::warning(*warning);
    return ok();
  }

  std::string restore_hint() const {
    return "go on with Tuner::restore(runtime, \"" + dir_.string() + "\")";
  }

  /// On stderr, where the progress was. Which trial was best a program prints itself.
  void tell_end() const {
    std::string text = text_of(*results_) + '\n';
    if (verbose_ > 1 && !results_->spec().metric.empty()) {
      try {
        text += "Best: " + text_of(results_->best_result()) + '\n';
      } catch (const Exception& error) {
        text += "Best: " + error.error().message() + '\n';
      }
    }
    if (results_->state() == ExperimentState::finished && !results_->message().empty())
      text += "Note: " + results_->message() + '\n';
    if (results_->interrupted())
      text += "Trials are left (" + results_->message() + "): " + restore_hint() + '\n';
    const Status shown = write_all(STDERR_FILENO, text, "results");
    if (!shown)
      log::debug("results could not be shown", {{"error", shown.error()}});
  }

  template <class T>
  static std::string text_of(const T& value) {
    std::ostringstream out;
    out << value;
    return out.str();
  }

  Runtime& runtime_;
  const std::string trainable_;
  TunerOptions options_;
  fs::path dir_;
  const std::optional<RestoreOptions> restore_;
  const std::int32_t verbose_;
  const bool handle_signals_;
  bool fitted_ = false;
  std::optional<ResultGrid> results_;

  std::mutex mutex_;  ///< of the two below
  std::unique_ptr<Experiment> experiment_;
  std::optional<std::string> stop_reason_;
};

Tuner::Tuner(Runtime& runtime, std::string trainable, TunerOptions options)
    : impl_(std::make_unique<Impl>(runtime, std::move(trainable), std::move(options))) {}
Tuner::Tuner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tuner::~Tuner() = default;
Tuner::Tuner(Tuner&&) noexcept = default;
Tuner& Tuner::operator=(Tuner&&) noexcept = default;

Tuner Tuner::restore(Runtime& runtime, const fs::path& path, RestoreOptions options) {
  if (path.empty())
    throw Exception(ErrorCode::invalid_argument,
                    "Tuner::restore: the path is empty; name the folder of an experiment");
  const fs::path dir = fs::absolute(path).lexically_normal();
  resume_config(options).value_or_throw();
  const ExperimentSpec spec = stored_spec(dir).value_or_throw();
  if (!options.trainable.empty() && options.trainable != spec.trainable) {
    throw Exception(ErrorCode::failed_precondition, "the experiment in '" + dir.string() +
                                                        "' is one of trainable '" + spec.trainable +
                                                        "', not of '" + options.trainable + "'");
  }
  if (const auto entry = find_trainable(spec.trainable); !entry) {
    throw Exception(ErrorCode::failed_precondition, "the experiment in '" + dir.string() +
                                                        "' needs the trainable '" + spec.trainable +
                                                        "': " + entry.error().message());
  }
  return Tuner(std::make_unique<Impl>(runtime, dir, spec, std::move(options)));
}

bool Tuner::can_restore(const fs::path& path) {
  return store_exists(path) && !is_unused(path);
}

ResultGrid Tuner::fit() {
  return impl_->fit();
}

ResultGrid Tuner::get_results() const {
  return impl_->get_results();
}

void Tuner::request_stop(const std::string& reason) {
  impl_->request_stop(reason);
}

}  // namespace troupe::tune
