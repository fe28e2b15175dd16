#include <troupe/base/crc32c.hpp>
#include <troupe/tune/search/tpe.hpp>
#include <troupe/tune/study/study.hpp>

#include <cmath>
#include <map>
#include <string_view>
#include <utility>

namespace troupe::tune {
namespace {

constexpr std::string_view objective_name = "value";

Error bad(const std::string& what) {
  return Error(ErrorCode::corrupt, "the state of a study: " + what);
}

}  // namespace

/// What happened is a list of entries, and the state follows from it: a restored study takes the
/// entries again, with the suggestions that stand in them.
class Study::Impl {
public:
  explicit Impl(StudyOptions options) : options_(std::move(options)) {
    if (!options_.searcher)
      options_.searcher = tpe();
    if (options_.scheduler) {
      scheduler_ = options_.scheduler->clone();
      scheduler_
          ->setup(
              {.metric = std::string(objective_name), .mode = options_.mode, .seed = options_.seed})
          .value_or_throw();
    }
  }

  // -- what changes the state; each leaves an entry in the log

  TrialId begin(const std::optional<Suggestion>& given) {
    const TrialId id(static_cast<std::uint32_t>(trials_.size()));
    if (stale_)
      prepare();
    Suggestion suggestion = given ? *given : suggest(id);
    Live& trial = trials_[id];
    trial.shown.number = id;
    trial.asked = suggestion.config;
    if (searcher_ && !trial.asked.empty())
      searcher_->record(id, suggestion.config, suggestion.note);
    if (scheduler_)
      scheduler_->on_trial_add(id, {});
    log_.push_back(List{"ask", suggestion.config, suggestion.note});
    return id;
  }

  Value parameter(TrialId id, const std::string& name, const Domain& domain) {
    Live& trial = pending(id);
    domain.check().with_context("parameter '" + name + "'").value_or_throw();
    if (const Value* before = trial.shown.params.find_key(name)) {
      const Domain& first = trial.domains.at(name);
      if (first != domain)
        throw Exception(ErrorCode::invalid_argument,
                        "parameter '" + name + "' was asked for as " + first.to_string() +
                            " before in this trial, and now as " + domain.to_string());
      return *before;
    }
    const auto known = space_.find(name);
    if (known == space_.end() || known->second != domain) {
      space_.insert_or_assign(name, domain);
      stale_ = true;
    }
    const Value* asked = trial.asked.find_key(name);
    Value value;
    if (asked != nullptr && domain.contains(*asked)) {
      value = *asked;
    } else {
      Random random(options_.seed, id.value, RandomPurpose::sample_config, crc32c(name));
      value = domain.sample(random);
    }
    trial.domains.insert_or_assign(name, domain);
    trial.shown.params[name] = value;
    log_.push_back(List{"param", std::int64_t{id.value}, name, domain.to_value()});
    return value;
  }

  void report(TrialId id, double value, std::uint64_t step) {
    Live& trial = pending(id);
    trial.shown.value = value;
    trial.shown.step = step;
    const Metrics metrics = metrics_of(trial.shown);
    if (searcher_)
      searcher_->on_result(id, metrics);
    if (scheduler_ && !trial.prune) {
      const ScheduleDecision decision = scheduler_->decide(id, metrics).value_or_throw();
      scheduler_->record(id, metrics, decision);
      trial.prune = decision.action != ScheduleAction::go_on;
      trial.had_all = decision.action == ScheduleAction::finish;
    }
    log_.push_back(List{"report", std::int64_t{id.value}, value, step});
  }

  void end(TrialId id, Ending ending, std::optional<double> value) {
    Live& trial = pending(id);
    if (value) {
      trial.shown.value = value;
      trial.shown.step = std::max<std::uint64_t>(trial.shown.step, 1);
    }
    trial.shown.pending = false;
    if (ending == Ending::stopped && trial.had_all)
      ending = Ending::finished;
    trial.shown.ending = ending;
    const Metrics metrics = metrics_of(trial.shown);
    const Metrics* last = trial.shown.value ? &metrics : nullptr;
    if (trial.asked.empty())
      stale_ = true;  // the searcher has never heard of it
    else if (searcher_ && trial.shown.params != trial.asked)
      searcher_->amend(id, fitting(trial.shown.params));
    if (searcher_)
      searcher_->on_complete(id, ending, last);
    if (scheduler_)
      scheduler_->on_complete(id, ending, last);
    log_.push_back(List{"tell", std::int64_t{id.value}, static_cast<std::int64_t>(ending),
                        value ? Value(*value) : Value()});
  }

  // -- what looks at it

  bool should_prune(TrialId id) const { return trials_.at(id).prune; }
  const Config& params(TrialId id) const { return trials_.at(id).shown.params; }
  const List& log() const { return log_; }
  const StudyOptions& options() const { return options_; }

  std::vector<Trial> trials() const {
    std::vector<Trial> all;
    for (const auto& [id, trial] : trials_)
      all.push_back(trial.shown);
    return all;
  }

  std::optional<Trial> best() const {
    std::optional<Trial> best;
    for (const auto& [id, trial] : trials_) {
      const Trial& t = trial.shown;
      if (t.pending || t.ending != Ending::finished || !t.value || *t.value != *t.value)
        continue;
      if (!best ||
          better_score(score_of(*t.value, options_.mode), score_of(*best->value, options_.mode)))
        best = t;
    }
    return best;
  }

  Status take(const Value& entry);

private:
  struct Live {
    Trial shown;
    Config asked;  ///< what the searcher suggested
    std::map<std::string, Domain> domains;
    bool prune = false;
    bool had_all = false;  ///< pruned where the scheduler lets nobody go further
  };

  Live& pending(TrialId id) {
    const auto found = trials_.find(id);
    if (found == trials_.end() || !found->second.shown.pending)
      throw Exception(ErrorCode::failed_precondition,
                      "trial " + to_string(id) + " of the study is over, or was never begun");
    return found->second;
  }

  static Metrics metrics_of(const Trial& trial) {
    Metrics metrics{{"training_iteration", std::max<std::uint64_t>(trial.step, 1)}};
    if (trial.value)
      metrics[objective_name] = *trial.value;
    return metrics;
  }

  /// What of a trial's parameters lies in the space as it is now.
  Config fitting(const Config& params) const {
    Config config;
    for (const auto& [name, value] : params) {
      const auto known = space_.find(name);
      if (known != space_.end() && known->second.contains(value))
        config[name] = value;
    }
    return config;
  }

  /// What a running trial has asked for so far, and what it was suggested for the rest.
  static Config used(const Live& trial) {
    Config config = trial.asked;
    for (const auto& [name, value] : trial.shown.params)
      config[name] = value;
    return config;
  }

  /// A searcher for the space as it is known now, that has seen everything.
  void prepare() {
    stale_ = false;
    SearchContext context{.objectives = {{std::string(objective_name), options_.mode}},
                          .seed = options_.seed,
                          .allow_repeats = true};
    for (const auto& [name, domain] : space_)
      context.space.add(name, maybe(domain));
    for (const auto& [id, trial] : trials_)
      if (!trial.shown.pending)
        context.known_results.push_back(
            {fitting(trial.shown.params), metrics_of(trial.shown), trial.shown.ending});
    searcher_ = options_.searcher->clone();
    searcher_->setup(context).value_or_throw();
    for (const auto& [id, trial] : trials_)
      if (trial.shown.pending)
        searcher_->record(id, fitting(used(trial)), Value());
  }

  Suggestion suggest(TrialId id) const {
    if (!searcher_)
      return Suggestion::of({});
    Suggestion suggestion = searcher_->suggest(id).value_or_throw();
    return suggestion.kind == Suggestion::Kind::config ? suggestion : Suggestion::of({});
  }

  StudyOptions options_;
  std::unique_ptr<Searcher> searcher_;  ///< nothing before the first parameter is known
  std::unique_ptr<Scheduler> scheduler_;
  std::map<std::string, Domain> space_;
  std::map<TrialId, Live> trials_;
  bool stale_ = false;  ///< the searcher does not fit the space
  List log_;
};

Status Study::Impl::take(const Value& entry) {
  const List* parts = entry.get_if<List>();
  if (parts == nullptr || parts->empty() || !(*parts)[0].is_string())
    return bad("an entry has no kind");
  const std::string& kind = (*parts)[0].as_string();
  const List& p = *parts;
  constexpr auto last_ending = static_cast<std::int64_t>(enum_last(Ending{}));
  const auto trial = [&] { return TrialId(static_cast<std::uint32_t>(p[1].as_int())); };
  if (kind == "ask" && p.size() == 3 && p[1].is_map()) {
    begin(Suggestion::of(p[1].as_map(), p[2]));
  } else if (kind == "param" && p.size() == 4 && p[1].is_int() && p[2].is_string()) {
    TROUPE_TRY(domain, Domain::from_value(p[3]));
    parameter(trial(), p[2].as_string(), domain);
  } else if (kind == "report" && p.size() == 4 && p[1].is_int() && p[2].is_double() &&
             p[3].is_int()) {
    report(trial(), p[2].as_double(), static_cast<std::uint64_t>(p[3].as_int()));
  } else if (kind == "tell" && p.size() == 4 && p[1].is_int() && p[2].is_int() &&
             p[2].as_int() >= 0 && p[2].as_int() <= last_ending &&
             (p[3].is_null() || p[3].is_double())) {
    end(trial(), static_cast<Ending>(p[2].as_int()),
        p[3].is_null() ? std::optional<double>() : p[3].as_double());
  } else {
    return bad("an entry '" + kind + "' that is none");
  }
  return ok();
}

// -- StudyTrial ---------------------------------------------------------------------------------

Value StudyTrial::suggest(const std::string& name, const Domain& domain) {
  return study_->impl_->parameter(number_, name, domain);
}

double StudyTrial::suggest_float(const std::string& name, double low, double high,
                                 const SuggestOptions& options) {
  if (options.log && options.step != 0)
    throw Exception(ErrorCode::invalid_argument, "parameter '" + name +
                                                     "': a step and a logarithm exclude each "
                                                     "other; leave one of them out");
  if (options.log)
    return suggest(name, loguniform(low, high)).as_double();
  return suggest(name, options.step != 0 ? quniform(low, high, options.step) : uniform(low, high))
      .as_double();
}

std::int64_t StudyTrial::suggest_int(const std::string& name, std::int64_t low, std::int64_t high,
                                     const SuggestOptions& options) {
  const bool stepped = options.step != 0 && options.step != 1;
  if (options.step != std::floor(options.step) || options.step < 0 || options.step > 1e15 ||
      (stepped && options.log))
    throw Exception(ErrorCode::invalid_argument,
                    "parameter '" + name +
                        "': the step of whole numbers is a whole number of at least 1, and "
                        "excludes a logarithm");
  if (options.log)
    return suggest(name, RandInt{low, high, 1, true}).as_int();
  return suggest(name,
                 RandInt{low, high, stepped ? static_cast<std::int64_t>(options.step) : 1, false})
      .as_int();
}

Value StudyTrial::suggest_categorical(const std::string& name, List choices) {
  return suggest(name, choice(std::move(choices)));
}

void StudyTrial::report(double value, std::uint64_t step) {
  study_->impl_->report(number_, value, step);
}

bool StudyTrial::should_prune() const {
  return study_->impl_->should_prune(number_);
}

const Config& StudyTrial::params() const {
  return study_->impl_->params(number_);
}

// -- Study --------------------------------------------------------------------------------------

Study::Study(StudyOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Study::~Study() = default;

void Study::optimize(const std::function<double(StudyTrial&)>& objective, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    StudyTrial trial = ask();
    try {
      tell(trial, objective(trial));
    } catch (const TrialPruned&) {
      tell_pruned(trial);
    } catch (...) {
      tell_failed(trial);
      throw;
    }
  }
}

StudyTrial Study::ask() {
  return StudyTrial(this, impl_->begin(std::nullopt));
}

void Study::tell(const StudyTrial& trial, double value) {
  impl_->end(trial.number(), Ending::finished, value);
}

void Study::tell_pruned(const StudyTrial& trial) {
  impl_->end(trial.number(), Ending::stopped, std::nullopt);
}

void Study::tell_failed(const StudyTrial& trial) {
  impl_->end(trial.number(), Ending::failed, std::nullopt);
}

std::optional<Study::Trial> Study::best_trial() const {
  return impl_->best();
}

std::vector<Study::Trial> Study::trials() const {
  return impl_->trials();
}

Value Study::save() const {
  return Map{{"study", impl_->log()}};
}

Status Study::restore(const Value& state) {
  const Map* map = state.get_if<Map>();
  const Value* log = map != nullptr ? map->find_key("study") : nullptr;
  if (log == nullptr || !log->is_list())
    return bad("a list of what happened is missing");
  auto restored = std::make_unique<Impl>(impl_->options());
  try {
    for (const Value& entry : log->as_list())
      TROUPE_RETURN_IF_ERROR(restored->take(entry));
  } catch (const Exception& e) {
    return bad(e.error().message());
  }
  impl_ = std::move(restored);
  return ok();
}

}  // namespace troupe::tune
