#include <troupe/tune/search/detail/state_reading.hpp>
#include <troupe/tune/search/detail/wrappers.hpp>

#include <algorithm>

namespace troupe::tune::detail {
namespace {

Value data_of(const std::optional<Metrics>& metrics) {
  return metrics ? Value(*metrics) : Value();
}

}  // namespace

std::unique_ptr<Searcher> ConcurrencyLimiter::clone() const {
  auto copy = std::make_unique<ConcurrencyLimiter>(searcher_->clone(), limit_);
  copy->running_ = running_;
  copy->planned_ = planned_;
  copy->created_ = created_;
  copy->in_batch_ = in_batch_;
  copy->held_ = held_;
  return copy;
}

Status ConcurrencyLimiter::setup(const SearchContext& context) {
  TROUPE_RETURN_IF_ERROR(check_options());
  TROUPE_RETURN_IF_ERROR(searcher_->setup(context));
  running_.clear();
  planned_ = planned(context);
  created_ = 0;
  in_batch_ = 0;
  held_.clear();
  return ok();
}

Result<Suggestion> ConcurrencyLimiter::suggest(TrialId trial) const {
  if (planned_ && created_ >= *planned_)
    return Suggestion::exhausted();
  const std::uint64_t taken = limit_.batch ? in_batch_ : running_.size();
  // A batch that is full and of which nothing runs was told, so something runs here.
  if (taken >= limit_.max_concurrent && !running_.empty())
    return Suggestion::nothing_now();
  return searcher_->suggest(trial);
}

void ConcurrencyLimiter::record(TrialId trial, const Config& config, const Value& note) {
  running_.insert(trial.value);
  ++created_;
  ++in_batch_;
  searcher_->record(trial, config, note);
}

void ConcurrencyLimiter::on_result(TrialId trial, const Metrics& metrics) {
  searcher_->on_result(trial, metrics);
}

void ConcurrencyLimiter::on_complete(TrialId trial, Ending ending, const Metrics* last) {
  const bool mine = running_.erase(trial.value) > 0;
  if (!limit_.batch || !mine) {
    searcher_->on_complete(trial, ending, last);
    return;
  }
  held_.push_back({trial, ending, last != nullptr ? std::optional(*last) : std::nullopt});
  if (running_.empty())
    tell_held();
}

/// Whether the batch is full or not: nothing of it runs, and waiting could be for ever.
void ConcurrencyLimiter::tell_held() {
  in_batch_ = 0;
  for (const Over& over : std::exchange(held_, {}))
    searcher_->on_complete(over.trial, over.ending, over.last ? &*over.last : nullptr);
}

Value ConcurrencyLimiter::save() const {
  List running(running_.begin(), running_.end());
  List held;
  for (const Over& over : held_)
    held.push_back(
        List{over.trial.value, static_cast<std::int64_t>(over.ending), data_of(over.last)});
  return Map{{"searcher", searcher_->save()},
             {"created", created_},
             {"running", std::move(running)},
             {"in_batch", in_batch_},
             {"held", std::move(held)}};
}

std::optional<std::vector<ConcurrencyLimiter::Over>> ConcurrencyLimiter::over_of(const List& held) {
  std::vector<Over> all;
  for (const Value& element : held) {
    const List* parts = element.get_if<List>();
    if (parts == nullptr || parts->size() != 3 || !is_trial((*parts)[0]) ||
        !is_ending((*parts)[1]) || !((*parts)[2].is_null() || (*parts)[2].is_map()))
      return std::nullopt;
    Over& over = all.emplace_back();
    over.trial = *trial_of((*parts)[0]);
    over.ending = static_cast<Ending>((*parts)[1].as_int());
    if ((*parts)[2].is_map())
      over.last = (*parts)[2].as_map();
  }
  return all;
}

Status ConcurrencyLimiter::restore(const Value& state) {
  const Value* inner = find_state(state, "searcher");
  const List* running = find_list(state, "running");
  const List* held = find_list(state, "held");
  const auto created = find_count(state, "created", most_trials);
  const auto in_batch = find_count(state, "in_batch", created.value_or(0));
  if (inner == nullptr || running == nullptr || held == nullptr || !created || !in_batch)
    return incomplete_state(name());
  std::set<std::uint32_t> trials;
  bool sound = std::all_of(running->begin(), running->end(), [&](const Value& value) {
    const auto trial = trial_of(value);
    const bool ascending = trial && (trials.empty() || trial->value > *trials.rbegin());
    return ascending && trials.insert(trial->value).second;
  });
  const auto over = over_of(*held);
  sound = sound && over && trials.size() + over->size() <= *in_batch;
  // A batch is told, and the next one begins, when none of it runs.
  if (limit_.batch)
    sound =
        sound && trials.size() + over->size() == *in_batch && (!trials.empty() || *in_batch == 0);
  else
    sound = sound && over->empty();
  if (!sound)
    return incomplete_state(name());
  TROUPE_RETURN_IF_ERROR(searcher_->restore(*inner));
  running_ = std::move(trials);
  created_ = *created;
  in_batch_ = *in_batch;
  held_ = *over;
  return ok();
}

}  // namespace troupe::tune::detail
