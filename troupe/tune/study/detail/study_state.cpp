#include <troupe/base/crc32c.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/given.hpp>
#include <troupe/tune/search/tpe.hpp>
#include <troupe/tune/study/detail/study_state.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace troupe::tune::detail {
namespace {

Exception refused(const std::string& what) {
  return Exception(ErrorCode::invalid_argument, what);
}

/// What data knows.
constexpr auto max_step = static_cast<std::uint64_t>(INT64_MAX);

std::string quoted(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names)
    all += (all.empty() ? "'" : ", '") + name + "'";
  return all;
}

std::vector<Objective> objectives_of(const StudyOptions& options) {
  if (options.modes.size() < 2)
    return {{"value", options.modes.empty() ? options.mode : options.modes[0]}};
  std::vector<Objective> objectives;
  for (const Mode mode : options.modes)
    objectives.push_back({"value_" + std::to_string(objectives.size()), mode});
  return objectives;
}

}  // namespace

StudyState::StudyState(StudyOptions options)
    : options_(std::move(options)), objectives_(objectives_of(options_)) {
  options_.searcher = guarded(options_.searcher ? *options_.searcher : *tpe()).value_or_throw();
  check_objectives(objectives_,
                   options_.modes.empty() ? "StudyOptions::mode" : "StudyOptions::modes")
      .value_or_throw();
  for (const std::string& name : options_.constraints) {
    if (name.empty() ||
        std::count(options_.constraints.begin(), options_.constraints.end(), name) > 1)
      throw refused("StudyOptions::constraints: '" + name +
                    "' is empty or comes twice; give each constraint a name of its own");
    constraint_metrics_.push_back(std::string(constraints_key) + '/' + name);
  }
  if (!options_.scheduler)
    return;
  if (several())
    throw refused("StudyOptions::scheduler compares trials by one objective, and the study has " +
                  std::to_string(objectives_.size()) +
                  ": leave out the scheduler or all modes but one");
  scheduler_ = user_copy(scheduler_name, *options_.scheduler);
  const ScheduleContext context{
      .metric = objectives_[0].metric, .mode = objectives_[0].mode, .seed = options_.seed};
  scheduler_call("setup", [&] { return scheduler_->setup(context); }).value_or_throw();
}

// -- trials -------------------------------------------------------------------------------------

void StudyState::enqueue(Config params) {
  log_.push_back(List{"enqueue", params});
  queue_.push_back(std::move(params));
}

TrialId StudyState::begin(const std::optional<Suggestion>& given) {
  const TrialId id(static_cast<std::uint32_t>(trials_.size()));
  if (stale_)
    prepare();
  const Suggestion suggestion = given ? *given : wanted(suggest(id));
  // First, for it may throw: then the searcher must not have taken note of the trial.
  if (scheduler_)
    scheduler_call("on_trial_add", [&] { scheduler_->on_trial_add(id, {}); });
  if (searcher_ && !suggestion.config.empty())
    searcher_->record(id, suggestion.config, suggestion.note);
  Live& trial = trials_[id];
  trial.shown.number = id;
  trial.shown.pending = true;
  trial.asked = suggestion.config;
  if (!queue_.empty()) {
    trial.fixed = std::move(queue_.front());
    queue_.pop_front();
  }
  log_.push_back(List{"ask", suggestion.config, suggestion.note});
  return id;
}

Suggestion StudyState::suggest(TrialId id) const {
  if (!searcher_)
    return Suggestion::of({});
  Suggestion suggestion = searcher_->suggest(id).value_or_throw();
  return suggestion.kind == Suggestion::Kind::config ? suggestion : Suggestion::of({});
}

/// The suggestion with what the first one in the queue wants to see in it. Then its origin is
/// another one, so the searcher gets no note back.
Suggestion StudyState::wanted(Suggestion suggestion) const {
  if (queue_.empty())
    return suggestion;
  for (const auto& [name, value] : queue_.front()) {
    Value* suggested = suggestion.config.find_key(name);
    const auto known = space_.find(name);
    if (suggested == nullptr || known == space_.end())
      continue;
    const auto taken = known->second.adopt(value);
    if (!taken || *taken == *suggested)
      continue;
    *suggested = *taken;
    suggestion.note = Value();
  }
  return suggestion;
}

Value StudyState::parameter(TrialId id, const std::string& name, const Domain& domain) {
  Live& trial = pending(id);
  if (const Value* before = trial.shown.params.find_key(name)) {
    const Domain& first = trial.shown.domains.at(name);
    if (first != domain)
      throw refused("parameter '" + name + "' was asked for as " + first.to_string() +
                    " before in this trial, and now as " + domain.to_string());
    return *before;
  }
  const auto known = space_.find(name);
  const bool is_new = known == space_.end() || known->second != domain;
  if (is_new) {
    ParamSpace alone;
    alone.add(name, domain);
    alone.check().with_context("parameter '" + name + "'").value_or_throw();
  }
  Value value = value_for(trial, name, domain);
  if (is_new) {
    space_.insert_or_assign(name, domain);
    stale_ = true;
  }
  trial.shown.domains.insert_or_assign(name, domain);
  trial.shown.params[name] = value;
  log_.push_back(List{"param", std::int64_t{id.value}, name, domain.to_value()});
  return value;
}

Value StudyState::value_for(const Live& trial, const std::string& name,
                            const Domain& domain) const {
  if (const Value* fixed = trial.fixed.find_key(name))
    return domain.adopt(*fixed)
        .with_context("parameter '" + name + "': the value " + to_json(*fixed) +
                      " that was enqueued")
        .value_or_throw();
  const Value* asked = trial.asked.find_key(name);
  if (asked != nullptr && domain.contains(*asked))
    return *asked;
  Random random(options_.seed, trial.shown.number.value, RandomPurpose::sample_config,
                crc32c(name));
  return domain.sample(random);
}

void StudyState::constrain(TrialId id, const std::string& name, double value) {
  Live& trial = pending(id);
  const auto& names = options_.constraints;
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw refused("there is no constraint '" + name + "' in this study; " +
                  (names.empty() ? "StudyOptions::constraints is empty"
                                 : "StudyOptions::constraints has " + quoted(names)));
  trial.shown.constraints[name] = value;
  log_.push_back(List{"constraint", std::int64_t{id.value}, name, value});
}

void StudyState::report(TrialId id, double value, std::uint64_t step) {
  Live& trial = pending(id);
  if (several())
    throw Exception(ErrorCode::failed_precondition,
                    "trial " + to_string(id) + " reports one value, and the study has " +
                        std::to_string(objectives_.size()) +
                        " objectives: return all of them at the end");
  const std::uint64_t last = trial.shown.step;
  if (step <= last || step > max_step)
    throw refused("trial " + to_string(id) + ", step " + std::to_string(step) +
                  ": steps count 1, 2, ... up to 2^63 - 1, and the last one of this trial was " +
                  std::to_string(last));
  const Metrics metrics = [&] {
    Trial next = trial.shown;
    next.value = value;
    next.step = step;
    return metrics_of(next);
  }();
  std::optional<ScheduleDecision> decision;
  if (scheduler_ && !trial.prune)
    decision =
        scheduler_call("decide", [&] { return scheduler_->decide(id, metrics); }).value_or_throw();
  if (searcher_)
    searcher_->on_result(id, metrics);
  if (decision)
    scheduler_call("record", [&] { scheduler_->record(id, metrics, *decision); });
  trial.shown.value = value;
  trial.shown.step = step;
  if (decision) {
    trial.prune = decision->action != ScheduleAction::go_on;
    trial.had_all = decision->action == ScheduleAction::finish;
  }
  log_.push_back(List{"report", std::int64_t{id.value}, value, step});
}

void StudyState::end(TrialId id, Ending ending, std::vector<double> values) {
  Live& trial = pending(id);
  if (ending == Ending::finished)
    check_values(trial.shown, values.size())
        .with_context("trial " + to_string(id))
        .value_or_throw();
  const Value logged = values.empty() ? Value() : Value(List(values.begin(), values.end()));
  List entry{"tell", std::int64_t{id.value}, static_cast<std::int64_t>(ending), logged};
  Trial over = trial.shown;
  if (!values.empty()) {
    if (several())
      over.values = std::move(values);
    else
      over.value = values[0];
    over.step = std::max<std::uint64_t>(over.step, 1);
  }
  over.pending = false;
  if (ending == Ending::stopped && trial.had_all && !missing_constraint(over))
    ending = Ending::finished;
  over.ending = ending;
  for (const auto& [name, value] : trial.fixed)
    if (!over.params.find_key(name))
      over.unused.push_back(name);
  const Metrics metrics = metrics_of(over);
  const Metrics* last = over.value || !over.values.empty() ? &metrics : nullptr;
  const bool unheard = trial.asked.empty();
  if (searcher_ && !unheard && over.params != trial.asked)
    searcher_->amend(id, fitting(space_, over.params));
  if (searcher_)
    searcher_->on_complete(id, ending, last);
  if (scheduler_)
    scheduler_call("on_complete", [&] { scheduler_->on_complete(id, ending, last); });
  stale_ = stale_ || unheard;
  log_.push_back(std::move(entry));
  trial.shown = std::move(over);
}

const StudyState::Live& StudyState::live(TrialId id) const {
  const auto found = trials_.find(id);
  if (found == trials_.end())
    throw Exception(ErrorCode::failed_precondition,
                    "the study has no trial " + to_string(id) +
                        ": its handle is from before the study was restored");
  return found->second;
}

StudyState::Live& StudyState::pending(TrialId id) {
  const auto found = trials_.find(id);
  if (found == trials_.end() || !found->second.shown.pending)
    throw Exception(ErrorCode::failed_precondition,
                    "trial " + to_string(id) + " of the study is over, or was never begun");
  return found->second;
}

// -- results from elsewhere ---------------------------------------------------------------------

void StudyState::add(Trial trial) {
  const TrialId id(static_cast<std::uint32_t>(trials_.size()));
  adopt_added(trial).with_context("the trial to add").value_or_throw();
  Map domains;
  Space space = space_;
  for (const auto& [name, domain] : trial.domains) {
    domains[name] = domain.to_value();
    // What the objective asked for last is what counts; here nobody asked.
    space.emplace(name, domain);
  }
  trial.number = id;
  const bool has_value = trial.value || !trial.values.empty();
  if (has_value)
    trial.step = std::max<std::uint64_t>(trial.step, 1);
  if (searcher_) {
    const Metrics metrics = metrics_of(trial);
    searcher_->record(id, fitting(space, trial.params), Value());
    searcher_->on_complete(id, trial.ending, has_value ? &metrics : nullptr);
  }
  stale_ = stale_ || space.size() != space_.size();
  space_ = std::move(space);
  log_.push_back(List{"add", trial.params, std::move(domains),
                      trial.value ? Value(*trial.value) : Value(),
                      List(trial.values.begin(), trial.values.end()), trial.step, trial.constraints,
                      static_cast<std::int64_t>(trial.ending)});
  trials_.emplace(id, Live{std::move(trial), {}, {}});
}

/// Checks a result, and gives its values the form of the study.
Status StudyState::adopt_added(Trial& trial) const {
  const auto wrong = [](const std::string& what) {
    return Error(ErrorCode::invalid_argument, what);
  };
  if (trial.pending)
    return wrong("it is pending; add what came out of it when it is over");
  if (trial.step > max_step)
    return wrong("its step is " + std::to_string(trial.step) + ", and at most 2^63 - 1");
  if (several() ? trial.value.has_value() : !trial.values.empty())
    return wrong(several() ? "the study has several objectives: set `values`, not `value`"
                           : "the study has one objective: set `value`, not `values`");
  const std::size_t count = several() ? trial.values.size() : trial.value.has_value();
  if (trial.ending == Ending::finished || (several() && count != 0))
    TROUPE_RETURN_IF_ERROR(check_values(trial, count));
  for (const std::string& name : trial.constraints.keys()) {
    Value& value = *trial.constraints.find_key(name);
    if (!value.is_number() || std::find(options_.constraints.begin(), options_.constraints.end(),
                                        name) == options_.constraints.end())
      return wrong("its constraint '" + name +
                   "' is no number, or none of StudyOptions::constraints");
    value = value.as_double();
  }
  for (const auto& [name, domain] : trial.domains) {
    ParamSpace alone;
    alone.add(name, domain);
    TROUPE_RETURN_IF_ERROR(alone.check().with_context("parameter '" + name + "'"));
    Value* value = trial.params.find_key(name);
    if (value == nullptr)
      return wrong("its parameter '" + name + "' has a domain and no value");
    TROUPE_TRY(adopted,
               domain.adopt(*value).with_context("parameter '" + name + "' = " + to_json(*value)));
    *value = std::move(adopted);
  }
  return ok();
}

Status StudyState::check_values(const Trial& trial, std::size_t count) const {
  if (count != objectives_.size())
    return Error(ErrorCode::invalid_argument,
                 std::to_string(count) + " values, and the study has " +
                     std::to_string(objectives_.size()) +
                     (several() ? " objectives: one value for each of StudyOptions::modes"
                                : " objective: name several in StudyOptions::modes"));
  if (trial.ending == Ending::finished)
    if (const auto missing = missing_constraint(trial))
      return Error(ErrorCode::invalid_argument,
                   "constraint '" + *missing +
                       "' has no value: set each of StudyOptions::constraints (set_constraint) "
                       "before the trial ends");
  return ok();
}

// -- the searcher -------------------------------------------------------------------------------

/// What of a trial's parameters lies in a space.
Config StudyState::fitting(const Space& space, const Config& params) {
  Config config;
  for (const auto& [name, value] : params) {
    const auto known = space.find(name);
    if (known == space.end())
      continue;
    if (auto adopted = known->second.adopt(value))
      config[name] = adopted.take();
  }
  return config;
}

/// A searcher for the space as it is known now, that has seen everything.
void StudyState::prepare() {
  SearchContext context{.objectives = objectives_,
                        .constraints = constraint_metrics_,
                        .seed = options_.seed,
                        .allow_repeats = true};
  for (const auto& [name, domain] : space_)
    context.space.add(name, maybe(domain));
  for (const auto& [id, trial] : trials_)
    if (!trial.shown.pending)
      context.known_results.push_back(
          {fitting(space_, trial.shown.params), metrics_of(trial.shown), trial.shown.ending});
  auto searcher = options_.searcher->clone();
  searcher->setup(context).value_or_throw();
  for (const auto& [id, trial] : trials_)
    if (trial.shown.pending) {
      // What a running trial has asked for so far, and what it was suggested for the rest.
      Config used = trial.asked;
      for (const auto& [name, value] : trial.shown.params)
        used[name] = value;
      searcher->record(id, fitting(space_, used), Value());
    }
  searcher_ = std::move(searcher);
  stale_ = false;
}

}  // namespace troupe::tune::detail
