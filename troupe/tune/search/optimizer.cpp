#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/detail/given.hpp>
#include <troupe/tune/search/detail/guarded.hpp>
#include <troupe/tune/search/optimizer.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace troupe::tune {
namespace {

constexpr std::string_view step_name = "training_iteration";

/// The step of a result: what it says, or else that of the last report, or 1.
Status set_step(Metrics& metrics, std::int64_t last) {
  const std::int64_t least = std::max<std::int64_t>(last, 1);
  const Value* given = metrics.find_key(step_name);
  if (given == nullptr)
    metrics[step_name] = least;
  else if (!given->is_int() || given->as_int() < least)
    return Error(ErrorCode::invalid_argument, std::string(step_name) + " = " + to_json(*given) +
                                                  ": it is a whole number of at least " +
                                                  std::to_string(least) + ", or left out");
  return ok();
}

std::int64_t last_step(const Optimizer::Trial& trial) {
  const Value* step = trial.metrics.find_key(step_name);
  return step != nullptr ? step->as_int() : 0;
}

}  // namespace

Optimizer::Optimizer(const Searcher& searcher, SearchContext context)
    : context_(std::move(context)), searcher_(detail::guarded(searcher).value_or_throw()) {
  context_.space.check().value_or_throw();
  design_ = std::make_shared<detail::Design>(context_.space);
  detail::check_objectives(context_.objectives, "SearchContext.objectives").value_or_throw();
  detail::check_constraints(context_.constraints, "SearchContext.constraints").value_or_throw();
  context_.points_to_evaluate =
      detail::adopt_points(*design_, std::move(context_.points_to_evaluate),
                           "SearchContext.points_to_evaluate")
          .value_or_throw();
  if (auto left_out = detail::adopt_known_results(*design_, context_.objectives,
                                                  context_.constraints, context_.known_results))
    warnings_.push_back(std::move(*left_out));
  searcher_->setup(context_).value_or_throw();
}

Optimizer::Optimizer(Optimizer&&) noexcept = default;
Optimizer& Optimizer::operator=(Optimizer&&) noexcept = default;
Optimizer::~Optimizer() = default;

// -- configurations -----------------------------------------------------------------------------

void Optimizer::enqueue(Config config) {
  const Config given =
      detail::adopt_point(*design_, std::move(config)).with_context("enqueue").value_or_throw();
  put(design_->complete_point(given, context_.seed, trials_.size() + queue_.size())
          .with_context("enqueue")
          .value_or_throw());
}

void Optimizer::put(Config config) {
  log_.push_back(List{"enqueue", config});
  queue_.push_back(std::move(config));
  exhausted_ = false;
}

void Optimizer::add(KnownResult result) {
  result.config =
      detail::adopt_whole(*design_, std::move(result.config)).with_context("add").value_or_throw();
  const bool says_something = result.ending == Ending::finished || !result.metrics.empty();
  if (says_something && result.ending != Ending::failed)
    check_result(result.metrics).with_context("add").value_or_throw();
  if (says_something)
    set_step(result.metrics, 0).with_context("add").value_or_throw();
  const TrialId id = next_id();
  searcher_->record(id, result.config, Value());
  searcher_->on_complete(id, result.ending, result.metrics.empty() ? nullptr : &result.metrics);
  log_.push_back(
      List{"add", result.config, result.metrics, static_cast<std::int64_t>(result.ending)});
  trials_[id] = {.id = id,
                 .config = std::move(result.config),
                 .metrics = std::move(result.metrics),
                 .pending = false,
                 .ending = result.ending};
}

TrialId Optimizer::next_id() const {
  return TrialId(static_cast<std::uint32_t>(trials_.size()));
}

Optimizer::Asked Optimizer::begin(Suggestion suggestion) {
  const TrialId id = next_id();
  searcher_->record(id, suggestion.config, suggestion.note);
  trials_[id] = {.id = id, .config = suggestion.config};
  if (!queue_.empty())
    queue_.pop_front();
  log_.push_back(List{"ask", suggestion.config, std::move(suggestion.note)});
  return {id, std::move(suggestion.config)};
}

std::optional<Optimizer::Asked> Optimizer::ask() {
  if (!queue_.empty())
    return begin(Suggestion::of(queue_.front()));
  const TrialId id = next_id();
  Suggestion suggestion = searcher_->suggest(id).value_or_throw();
  exhausted_ = suggestion.kind == Suggestion::Kind::exhausted;
  if (suggestion.kind != Suggestion::Kind::config)
    return std::nullopt;
  return begin(std::move(suggestion));
}

std::vector<Optimizer::Asked> Optimizer::ask(std::size_t count) {
  std::vector<Asked> all;
  while (all.size() < count) {
    auto asked = ask();
    if (!asked)
      break;
    all.push_back(std::move(*asked));
  }
  return all;
}

// -- results ------------------------------------------------------------------------------------

Optimizer::Trial& Optimizer::pending(TrialId id) {
  const auto found = trials_.find(id);
  if (found == trials_.end() || !found->second.pending)
    throw Exception(ErrorCode::not_found,
                    "trial " + to_string(id) + " is not pending: " +
                        (found == trials_.end() ? "it was never asked for"
                                                : "it was told how it ended before"));
  return found->second;
}

Status Optimizer::check_result(const Metrics& metrics) const {
  if (const Status status =
          detail::check_result(metrics, context_.objectives, context_.constraints);
      !status)
    return Error(ErrorCode::invalid_argument,
                 status.error().message() +
                     "; a result has all objectives and constraints of the SearchContext, null for "
                     "what could not be measured");
  return ok();
}

void Optimizer::report(TrialId id, std::uint64_t step, Metrics metrics) {
  Trial& trial = pending(id);
  const std::string where = "trial " + to_string(id) + ", step " + std::to_string(step);
  const std::int64_t last = last_step(trial);
  if (step <= static_cast<std::uint64_t>(last) || step > std::uint64_t{INT64_MAX})
    throw Exception(
        ErrorCode::invalid_argument,
        where + ": steps count 1, 2, ... up to 2^63 - 1, and the last one of this trial was " +
            std::to_string(last));
  check_result(metrics).with_context(where).value_or_throw();
  metrics[step_name] = step;
  searcher_->on_result(id, learned(metrics));
  shorten_report(id);
  reports_[id] = log_.size();
  log_.push_back(List{"report", id.value, metrics});
  trial.metrics = std::move(metrics);
}

/// What searchers learn of a result on the way.
Metrics Optimizer::learned(const Metrics& metrics) const {
  Metrics some;
  const auto take = [&](const std::string& name) {
    if (const Value* value = metrics.find(name))
      some.set(name, *value);
  };
  for (const Objective& objective : context_.objectives)
    take(objective.metric);
  for (const std::string& constraint : context_.constraints)
    take(constraint);
  take(std::string(step_name));
  return some;
}

/// The last report of a trial has all metrics, because they may remain those of the trial; those
/// before would only make the state larger.
void Optimizer::shorten_report(TrialId id) {
  const auto last = reports_.find(id);
  if (last == reports_.end())
    return;
  Value& metrics = log_[last->second].as_list()[2];
  metrics = learned(metrics.as_map());
  reports_.erase(last);
}

void Optimizer::tell(TrialId id, Metrics metrics) {
  Trial& trial = pending(id);
  const std::string where = "trial " + to_string(id);
  check_result(metrics).with_context(where).value_or_throw();
  set_step(metrics, last_step(trial)).with_context(where).value_or_throw();
  searcher_->on_complete(id, Ending::finished, &metrics);
  shorten_report(id);
  log_.push_back(List{"tell", id.value, metrics});
  trial.metrics = std::move(metrics);
  trial.pending = false;
  trial.ending = Ending::finished;
}

void Optimizer::tell(TrialId id, double value) {
  if (context_.objectives.size() != 1)
    throw Exception(ErrorCode::failed_precondition, "there are " +
                                                        std::to_string(context_.objectives.size()) +
                                                        " objectives: tell all of them as metrics");
  Metrics metrics;
  metrics.set(context_.objectives[0].metric, value);
  tell(id, std::move(metrics));
}

void Optimizer::tell_pruned(TrialId id) {
  end_early(id, Ending::stopped, "pruned");
}

void Optimizer::tell_failed(TrialId id) {
  end_early(id, Ending::failed, "failed");
}

void Optimizer::end_early(TrialId id, Ending ending, const char* entry) {
  Trial& trial = pending(id);
  searcher_->on_complete(id, ending, trial.metrics.empty() ? nullptr : &trial.metrics);
  reports_.erase(id);
  log_.push_back(List{entry, id.value});
  trial.pending = false;
  trial.ending = ending;
}

bool Optimizer::feasible(const Metrics& metrics) const {
  return constraint_violation(metrics, context_.constraints) == 0;
}

std::optional<Optimizer::Trial> Optimizer::best() const {
  const Trial* best = nullptr;
  double best_score = std::nan("");
  if (context_.objectives.empty())
    return std::nullopt;
  const auto& [metric, mode] = context_.objectives[0];
  for (const auto& [id, trial] : trials_) {
    if (trial.pending || trial.ending != Ending::finished || !feasible(trial.metrics))
      continue;
    const auto value = metric_number(trial.metrics, metric);
    if (!value || !better_score(score_of(*value, mode), best_score))
      continue;
    best = &trial;
    best_score = score_of(*value, mode);
  }
  return best != nullptr ? std::optional(*best) : std::nullopt;
}

}  // namespace troupe::tune
