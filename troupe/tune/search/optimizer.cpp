#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/detail/given.hpp>
#include <troupe/tune/search/optimizer.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace troupe::tune {
namespace {

Error bad(const std::string& what) {
  return Error(ErrorCode::corrupt, "the state of an optimizer: " + what);
}

Result<Optimizer::Trial> read_trial(const Value& value) {
  const List* parts = value.get_if<List>();
  if (parts == nullptr || parts->size() != 5 || !(*parts)[0].is_int() || !(*parts)[1].is_map() ||
      !(*parts)[2].is_map() || !(*parts)[3].is_bool() || !(*parts)[4].is_int())
    return bad("a trial is incomplete");
  const std::int64_t id = (*parts)[0].as_int();
  const std::int64_t ending = (*parts)[4].as_int();
  if (id < 0 || id > std::int64_t{UINT32_MAX} || ending < 0 ||
      ending > static_cast<std::int64_t>(enum_last(Ending{})))
    return bad("a trial has impossible numbers");
  return Optimizer::Trial{TrialId(static_cast<std::uint32_t>(id)), (*parts)[1].as_map(),
                          (*parts)[2].as_map(), (*parts)[3].as_bool(), static_cast<Ending>(ending)};
}

/// What the state of a searcher makes sense with only.
Map setting_of(const SearchContext& context, const Searcher& searcher) {
  List objectives;
  for (const Objective& objective : context.objectives)
    objectives.push_back(List{objective.metric, objective.mode == Mode::min ? "min" : "max"});
  return Map{{"space", context.space.to_value()},
             {"objectives", std::move(objectives)},
             {"constraints", List(context.constraints.begin(), context.constraints.end())},
             {"seed", static_cast<std::int64_t>(context.seed)},
             {"options of the searcher", searcher.options()}};
}

Status check_setting(const Value& stored, const Map& own) {
  const Map* map = stored.get_if<Map>();
  for (const auto& [name, value] : own) {
    const Value* other = map != nullptr ? map->find_key(name) : nullptr;
    if (other == nullptr || *other != value)
      return bad("it was made with other " + name);
  }
  return ok();
}

}  // namespace

Optimizer::Optimizer(const Searcher& searcher, SearchContext context)
    : context_(std::move(context)), searcher_(searcher.clone()) {
  context_.space.check().value_or_throw();
  detail::check_objectives(context_.objectives, "objectives").value_or_throw();
  context_.points_to_evaluate =
      detail::adopt_points(context_.space, std::move(context_.points_to_evaluate),
                           "points_to_evaluate")
          .value_or_throw();
  if (auto left_out = detail::adopt_known_results(context_.space, context_.known_results))
    warnings_.push_back(std::move(*left_out));
  searcher_->setup(context_).value_or_throw();
}

Optimizer::Optimizer(Optimizer&&) noexcept = default;
Optimizer& Optimizer::operator=(Optimizer&&) noexcept = default;
Optimizer::~Optimizer() = default;

void Optimizer::enqueue(Config config) {
  queue_.push_back(detail::adopt_point(context_.space, std::move(config))
                       .with_context("enqueue")
                       .value_or_throw());
  exhausted_ = false;
}

void Optimizer::add(KnownResult result) {
  result.config = detail::adopt_point(context_.space, std::move(result.config))
                      .with_context("add")
                      .value_or_throw();
  result.config =
      detail::Design(context_.space).adopt(result.config).with_context("add").value_or_throw();
  if (result.metrics.find_key("training_iteration") == nullptr && !result.metrics.empty())
    result.metrics["training_iteration"] = 1;
  const Asked asked = begin(next_id(), Suggestion::of(std::move(result.config)));
  Trial& trial = trials_.at(asked.id);
  trial.metrics = std::move(result.metrics);
  end(trial, result.ending);
}

TrialId Optimizer::next_id() const {
  return trials_.empty() ? TrialId(0) : trials_.rbegin()->first.next();
}

Optimizer::Asked Optimizer::begin(TrialId id, Suggestion suggestion) {
  searcher_->record(id, suggestion.config, suggestion.note);
  trials_[id] = {.id = id, .config = suggestion.config};
  return Asked{id, std::move(suggestion.config)};
}

std::optional<Optimizer::Asked> Optimizer::ask() {
  const TrialId id = next_id();
  if (!queue_.empty()) {
    const Config given = std::move(queue_.front());
    queue_.pop_front();
    Config config = detail::Design(context_.space)
                        .complete_point(given, context_.seed, id.value)
                        .with_context("enqueue")
                        .value_or_throw();
    return begin(id, Suggestion::of(std::move(config)));
  }
  Suggestion suggestion = searcher_->suggest(id).value_or_throw();
  exhausted_ = suggestion.kind == Suggestion::Kind::exhausted;
  if (suggestion.kind != Suggestion::Kind::config)
    return std::nullopt;
  return begin(id, std::move(suggestion));
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

Optimizer::Trial& Optimizer::pending(TrialId id) {
  const auto found = trials_.find(id);
  if (found == trials_.end() || !found->second.pending)
    throw Exception(ErrorCode::not_found,
                    "trial " + to_string(id) + " is not pending: " +
                        (found == trials_.end() ? "it was never asked for"
                                                : "it was told how it ended before"));
  return found->second;
}

void Optimizer::report(TrialId id, std::uint64_t step, Metrics metrics) {
  Trial& trial = pending(id);
  trial.metrics = std::move(metrics);
  trial.metrics["training_iteration"] = step;
  searcher_->on_result(id, trial.metrics);
}

void Optimizer::end(Trial& trial, Ending ending) {
  trial.pending = false;
  trial.ending = ending;
  searcher_->on_complete(trial.id, ending, trial.metrics.empty() ? nullptr : &trial.metrics);
}

void Optimizer::tell(TrialId id, Metrics metrics) {
  Trial& trial = pending(id);
  const Value* step = trial.metrics.find_key("training_iteration");
  if (metrics.find_key("training_iteration") == nullptr)
    metrics["training_iteration"] = step != nullptr ? *step : Value(1);
  trial.metrics = std::move(metrics);
  end(trial, Ending::finished);
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
  end(pending(id), Ending::stopped);
}

void Optimizer::tell_failed(TrialId id) {
  end(pending(id), Ending::failed);
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

Value Optimizer::save() const {
  List trials;
  for (const auto& [id, trial] : trials_)
    trials.push_back(List{std::int64_t{id.value}, trial.config, trial.metrics, trial.pending,
                          static_cast<std::int64_t>(trial.ending)});
  return Map{{"searcher", searcher_->name()},
             {"setting", setting_of(context_, *searcher_)},
             {"state", searcher_->save()},
             {"trials", std::move(trials)},
             {"queue", List(queue_.begin(), queue_.end())},
             {"exhausted", exhausted_}};
}

Status Optimizer::restore(const Value& state) {
  const Map* map = state.get_if<Map>();
  const auto find = [&](std::string_view key) {
    return map != nullptr ? map->find_key(key) : nullptr;
  };
  const Value* name = find("searcher");
  const Value* setting = find("setting");
  const Value* inner = find("state");
  const Value* trials = find("trials");
  const Value* queue = find("queue");
  const Value* exhausted = find("exhausted");
  if (name == nullptr || setting == nullptr || inner == nullptr || trials == nullptr ||
      queue == nullptr || exhausted == nullptr || !trials->is_list() || !queue->is_list() ||
      !exhausted->is_bool())
    return bad("something is missing");
  if (*name != Value(searcher_->name()))
    return bad("it was made with another searcher than " + searcher_->name());
  TROUPE_RETURN_IF_ERROR(check_setting(*setting, setting_of(context_, *searcher_)));
  std::map<TrialId, Trial> read;
  for (const Value& value : trials->as_list()) {
    TROUPE_TRY(trial, read_trial(value));
    const TrialId id = trial.id;
    if (!read.emplace(id, std::move(trial)).second)
      return bad("a trial comes twice");
  }
  std::deque<Config> waiting;
  for (const Value& config : queue->as_list()) {
    if (!config.is_map() || !detail::adopt_point(context_.space, config.as_map()))
      return bad("an enqueued configuration is none of the space");
    waiting.push_back(config.as_map());
  }
  auto searcher = searcher_->clone();
  TROUPE_RETURN_IF_ERROR(searcher->setup(context_));
  TROUPE_RETURN_IF_ERROR(searcher->restore(*inner));
  searcher_ = std::move(searcher);
  trials_ = std::move(read);
  queue_ = std::move(waiting);
  exhausted_ = exhausted->as_bool();
  return ok();
}

}  // namespace troupe::tune
