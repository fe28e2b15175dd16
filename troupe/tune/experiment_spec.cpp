#include <troupe/base/version.hpp>
#include <troupe/tune/experiment_spec.hpp>
#include <troupe/tune/search/detail/given.hpp>
#include <troupe/tune/search/detail/guarded.hpp>

namespace troupe::tune {
namespace {

std::optional<std::uint64_t> samples_of(const TuneConfig& config, const Searcher& searcher) {
  if (!config.num_samples)
    return searcher.enumerates() ? std::nullopt : std::optional<std::uint64_t>(1);
  if (*config.num_samples < 0)
    return std::nullopt;
  return static_cast<std::uint64_t>(*config.num_samples);
}

void copy_tune_config(const TuneConfig& config, ExperimentSpec& spec) {
  spec.metric = config.metric;
  spec.mode = config.mode;
  spec.max_concurrent_trials = config.max_concurrent_trials;
  spec.time_budget = config.time_budget;
  spec.reuse_actors = config.reuse_actors;
  spec.deterministic = config.deterministic;
  spec.more_objectives = config.more_objectives;
  spec.constraints = config.constraints;
  spec.known_results = config.known_results;
  spec.allow_repeats = config.allow_repeats;
}

/// Called when everything else of the specification stands.
Duration default_stop_patience(const ExperimentSpec& spec) {
  const bool saves = !spec.is_function && (spec.checkpoint_frequency > 0 || spec.checkpoint_at_end);
  return std::chrono::seconds(saves ? 20 : 5);
}

void copy_run_config(const RunConfig& config, ExperimentSpec& spec) {
  const CheckpointConfig& checkpoints = config.checkpoint_config;
  spec.stop = config.stop;
  spec.max_failures = config.failure_config.max_failures;
  spec.fail_fast = config.failure_config.fail_fast;
  spec.max_infrastructure_failures = config.failure_config.max_infrastructure_failures;
  spec.step_timeout = config.failure_config.step_timeout;
  spec.setup_timeout = config.failure_config.setup_timeout;
  spec.num_to_keep = checkpoints.num_to_keep;
  spec.checkpoint_score_attribute = checkpoints.checkpoint_score_attribute;
  spec.checkpoint_score_order = checkpoints.checkpoint_score_order;
  spec.checkpoint_frequency = static_cast<std::uint64_t>(checkpoints.checkpoint_frequency);
  spec.checkpoint_at_end =
      checkpoints.checkpoint_at_end.value_or(checkpoints.checkpoint_frequency > 0);
  spec.isolation = config.isolation;
  spec.resources = config.resources_per_trial;
  spec.log_to_file = config.log_to_file;
  spec.verbose = config.verbose;
  spec.result_files = config.result_files;
  spec.durability = config.durability;
  spec.stop_patience = config.stop_patience.value_or(default_stop_patience(spec));
}

template <class Algorithm>
Status check_kind(const std::string& stored, const Algorithm* given, const std::string& what) {
  if (given != nullptr && given->name() != stored)
    return Error(ErrorCode::failed_precondition, "the experiment was made with the " + what + " '" +
                                                     stored + "', but '" + given->name() +
                                                     "' was passed; pass the same kind, or none");
  return ok();
}

}  // namespace

std::vector<Objective> objectives_of(const ExperimentSpec& spec) {
  if (spec.metric.empty())
    return {};
  std::vector<Objective> objectives{{spec.metric, spec.mode}};
  objectives.insert(objectives.end(), spec.more_objectives.begin(), spec.more_objectives.end());
  return objectives;
}

Result<ExperimentSpec> make_spec(const ExperimentDefinition& definition) {
  TROUPE_RETURN_IF_ERROR(check(definition.tune_config));
  TROUPE_RETURN_IF_ERROR(
      check(definition.run_config, definition.is_function, definition.saves_checkpoints));
  TROUPE_RETURN_IF_ERROR(definition.param_space.check());
  const TuneConfig& tune = definition.tune_config;
  if (definition.run_config.resources_per_trial.cpus == 0 && !tune.max_concurrent_trials)
    return Error(ErrorCode::invalid_argument,
                 "RunConfig.resources_per_trial.cpus: it is 0, so nothing limits how many trials "
                 "run at a time; set TuneConfig.max_concurrent_trials");
  ExperimentSpec spec;
  spec.name = definition.name;
  spec.trainable = definition.trainable;
  spec.is_function = definition.is_function;
  spec.param_space = definition.param_space.to_value();
  spec.created_ms = definition.now_ms;
  spec.written_by = version_string;
  spec.seed = tune.seed.value_or(definition.seed);
  copy_tune_config(tune, spec);
  const detail::Design design(definition.param_space);
  TROUPE_TRY(points, detail::adopt_points(design, tune.points_to_evaluate,
                                          "TuneConfig.points_to_evaluate"));
  spec.points_to_evaluate = std::move(points);
  // What does not fit is told by `Tuner`, which may log.
  (void)detail::adopt_known_results(design, objectives_of(spec), spec.constraints,
                                    spec.known_results);
  copy_run_config(definition.run_config, spec);
  TROUPE_TRY(searcher, detail::guarded(tune.search_alg ? *tune.search_alg : *auto_searcher()));
  spec.num_samples = samples_of(tune, *searcher);
  const auto scheduler = tune.scheduler ? tune.scheduler : fifo();
  spec.searcher = searcher->name();
  spec.searcher_options = searcher->options();
  spec.scheduler = scheduler->name();
  spec.scheduler_options = scheduler->options();
  TROUPE_TRY(context, search_context(spec));
  TROUPE_RETURN_IF_ERROR(searcher_for(spec, context, searcher.get()));
  TROUPE_RETURN_IF_ERROR(scheduler_for(spec, scheduler.get()));
  return spec;
}

Result<SearchContext> search_context(const ExperimentSpec& spec) {
  TROUPE_TRY(space, ParamSpace::from_value(spec.param_space));
  TROUPE_RETURN_IF_ERROR(space.check());
  return SearchContext{.space = std::move(space),
                       .objectives = objectives_of(spec),
                       .constraints = spec.constraints,
                       .seed = spec.seed,
                       .num_samples = spec.num_samples,
                       .points_to_evaluate = spec.points_to_evaluate,
                       .known_results = spec.known_results,
                       .allow_repeats = spec.allow_repeats};
}

std::vector<std::string> varying_parameters(const ParamSpace& space) {
  std::vector<std::string> paths;
  for (const ParamSpace::Leaf& leaf : space.leaves())
    if (leaf.entry->domain() != nullptr)
      paths.push_back(leaf.path);
  return paths;
}

Result<std::unique_ptr<Searcher>> searcher_for(const ExperimentSpec& spec,
                                               const SearchContext& context,
                                               const Searcher* given) {
  std::unique_ptr<Searcher> own;
  if (given == nullptr) {
    TROUPE_TRY(made, make_searcher(spec.searcher, spec.searcher_options));
    own = std::move(made);
  }
  TROUPE_TRY(searcher, detail::guarded(given != nullptr ? *given : *own));
  TROUPE_RETURN_IF_ERROR(check_kind(spec.searcher, searcher.get(), "searcher"));
  TROUPE_RETURN_IF_ERROR(searcher->setup(context));
  return searcher;
}

Result<std::unique_ptr<Scheduler>> scheduler_for(const ExperimentSpec& spec,
                                                 const Scheduler* given) {
  TROUPE_RETURN_IF_ERROR(check_kind(spec.scheduler, given, "scheduler"));
  const std::string who = "the scheduler " + spec.scheduler;
  std::unique_ptr<Scheduler> scheduler;
  try {
    if (given != nullptr) {
      scheduler = detail::user_copy(who, *given);
    } else {
      TROUPE_TRY(made, make_scheduler(spec.scheduler, spec.scheduler_options));
      scheduler = std::move(made);
    }
    TROUPE_RETURN_IF_ERROR(detail::user_call(who, "setup", [&] {
      return scheduler->setup({.metric = spec.metric, .mode = spec.mode, .seed = spec.seed});
    }));
  } catch (const Exception& e) {
    return e.error();
  }
  return scheduler;
}

}  // namespace troupe::tune
