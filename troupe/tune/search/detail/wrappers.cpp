#include <troupe/tune/search/detail/wrappers.hpp>

#include <algorithm>
#include <cmath>

namespace troupe::tune::detail {
namespace {

Error incomplete(const std::string& name) {
  return Error(ErrorCode::corrupt, "the state of the searcher " + name + " is incomplete");
}

Value data_of(const std::optional<Metrics>& metrics) {
  return metrics ? Value(*metrics) : Value();
}

bool is_trial(const Value& value) {
  return value.is_int() && value.as_int() >= 0 && value.as_int() <= std::int64_t{UINT32_MAX};
}

bool is_ending(const Value& value) {
  return value.is_int() && value.as_int() >= 0 &&
         value.as_int() <= static_cast<std::int64_t>(Ending::failed);
}

const Value* find(const Value& state, std::string_view key) {
  const Map* map = state.get_if<Map>();
  return map != nullptr ? map->find_key(key) : nullptr;
}

const List* find_list(const Value& state, std::string_view key) {
  const Value* value = find(state, key);
  return value != nullptr ? value->get_if<List>() : nullptr;
}

/// A whole number >= 0 under `key`.
std::optional<std::uint64_t> find_count(const Value& state, std::string_view key) {
  const Value* value = find(state, key);
  if (value == nullptr || !value->is_int() || value->as_int() < 0)
    return std::nullopt;
  return static_cast<std::uint64_t>(value->as_int());
}

}  // namespace

// -- ConcurrencyLimiter -------------------------------------------------------------------------

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
  if (limit_.max_concurrent == 0)
    return Error(ErrorCode::invalid_argument,
                 "the searcher concurrency_limiter: max_concurrent = 0 would let nothing run; it "
                 "is at least 1");
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

Status ConcurrencyLimiter::restore(const Value& state) {
  const Value* inner = find(state, "searcher");
  const List* running = find_list(state, "running");
  const List* held = find_list(state, "held");
  const auto created = find_count(state, "created");
  const auto in_batch = find_count(state, "in_batch");
  if (inner == nullptr || running == nullptr || held == nullptr || !created || !in_batch ||
      !std::all_of(running->begin(), running->end(), is_trial))
    return incomplete(name());
  std::vector<Over> restored;
  for (const Value& element : *held) {
    const List* parts = element.get_if<List>();
    if (parts == nullptr || parts->size() != 3 || !is_trial((*parts)[0]) ||
        !is_ending((*parts)[1]) || !((*parts)[2].is_null() || (*parts)[2].is_map()))
      return incomplete(name());
    Over& over = restored.emplace_back();
    over.trial = TrialId(static_cast<std::uint32_t>((*parts)[0].as_int()));
    over.ending = static_cast<Ending>((*parts)[1].as_int());
    if ((*parts)[2].is_map())
      over.last = (*parts)[2].as_map();
  }
  TROUPE_RETURN_IF_ERROR(searcher_->restore(*inner));
  running_.clear();
  for (const Value& trial : *running)
    running_.insert(static_cast<std::uint32_t>(trial.as_int()));
  created_ = *created;
  in_batch_ = *in_batch;
  held_ = std::move(restored);
  return ok();
}

// -- Repeater -----------------------------------------------------------------------------------

std::unique_ptr<Searcher> Repeater::clone() const {
  auto copy = std::make_unique<Repeater>(searcher_->clone(), repeats_);
  copy->next_ = next_;
  copy->groups_ = groups_;
  copy->trial_ = trial_;
  copy->num_samples_ = num_samples_;
  copy->created_ = created_;
  return copy;
}

Status Repeater::setup(const SearchContext& context) {
  if (repeats_ == 0)
    return Error(ErrorCode::invalid_argument,
                 "the searcher repeater: repeats = 0 would try nothing; it is at least 1");
  next_ = 0;
  groups_.clear();
  trial_.clear();
  created_ = 0;
  num_samples_ = planned(context);
  SearchContext inner = context;
  if (inner.num_samples)
    inner.num_samples = (*inner.num_samples + repeats_ - 1) / repeats_;
  return searcher_->setup(inner);
}

std::optional<std::uint64_t> Repeater::planned(const SearchContext& context) const {
  return context.num_samples;
}

Result<Suggestion> Repeater::suggest(TrialId) const {
  if (num_samples_ && created_ >= *num_samples_)
    return Suggestion::exhausted();
  for (const auto& [number, group] : groups_)
    if (group.asked < repeats_)
      return Suggestion::of(group.config, Map{{"group", number}});
  TROUPE_TRY(suggestion, searcher_->suggest(TrialId(next_)));
  if (suggestion.kind == Suggestion::Kind::config)
    suggestion.note = Map{{"group", next_}, {"searcher", std::move(suggestion.note)}};
  return suggestion;
}

void Repeater::record(TrialId trial, const Config& config, const Value& note) {
  ++created_;
  const Value* number = find(note, "group");
  // A trial from elsewhere is a group of its own, of one trial.
  const bool mine = number != nullptr && is_trial(*number);
  const std::uint32_t group = mine ? static_cast<std::uint32_t>(number->as_int()) : next_;
  if (group >= next_) {
    const Value* inner = find(note, "searcher");
    searcher_->record(TrialId(group), config, inner != nullptr ? *inner : Value());
    groups_[group].config = config;
    next_ = group + 1;
    if (!mine)
      groups_[group].asked = groups_[group].over = repeats_ - 1;
  }
  const auto found = groups_.find(group);
  if (found == groups_.end())
    return;
  ++found->second.asked;
  trial_[trial.value] = group;
}

void Repeater::on_complete(TrialId trial, Ending ending, const Metrics* last) {
  const auto found = trial_.find(trial.value);
  if (found == trial_.end())
    return;
  const std::uint32_t number = found->second;
  trial_.erase(found);
  Group& group = groups_[number];
  ++group.over;
  if (last != nullptr && ending != Ending::failed)
    group.results.emplace_back(ending, *last);
  if (group.over < repeats_)
    return;
  tell(number, group);
  groups_.erase(number);
}

/// The mean of each number that all of them have; of those that finished, or else of those that
/// were stopped.
void Repeater::tell(std::uint32_t number, const Group& group) {
  const bool finished = std::any_of(group.results.begin(), group.results.end(),
                                    [](const auto& r) { return r.first == Ending::finished; });
  Metrics mean;
  double count = 0;
  for (const auto& [ending, metrics] : group.results) {
    if (finished && ending != Ending::finished)
      continue;
    if (count++ == 0)
      mean = metrics.flatten();
    else
      for (const auto& [name, value] : metrics.flatten())
        if (Value* sum = mean.find_key(name);
            sum != nullptr && sum->is_number() && value.is_number())
          *sum = sum->as_double() + value.as_double();
  }
  if (count == 0) {
    searcher_->on_complete(TrialId(number), Ending::failed, nullptr);
    return;
  }
  Metrics told;
  for (const auto& [name, value] : mean) {
    const bool whole = name == "training_iteration" && value.is_number();
    if (whole)
      told.set(name, static_cast<std::int64_t>(std::llround(value.as_double() / count)));
    else
      told.set(name, value.is_number() ? Value(value.as_double() / count) : value);
  }
  searcher_->on_complete(TrialId(number), finished ? Ending::finished : Ending::stopped, &told);
}

Value Repeater::save() const {
  List groups;
  for (const auto& [number, group] : groups_) {
    List results;
    for (const auto& [ending, metrics] : group.results)
      results.push_back(List{static_cast<std::int64_t>(ending), metrics});
    groups.push_back(List{number, group.config, group.asked, group.over, std::move(results)});
  }
  List trials;
  for (const auto& [trial, group] : trial_)
    trials.push_back(List{trial, group});
  return Map{{"searcher", searcher_->save()},
             {"next", next_},
             {"created", created_},
             {"groups", std::move(groups)},
             {"trials", std::move(trials)}};
}

Status Repeater::restore_groups(const Value& state) {
  const List* groups = find_list(state, "groups");
  const List* trials = find_list(state, "trials");
  if (groups == nullptr || trials == nullptr)
    return incomplete(name());
  std::map<std::uint32_t, Group> restored;
  for (const Value& element : *groups) {
    const List* parts = element.get_if<List>();
    if (parts == nullptr || parts->size() != 5 || !is_trial((*parts)[0]) || !(*parts)[1].is_map() ||
        !is_trial((*parts)[2]) || !is_trial((*parts)[3]) || !(*parts)[4].is_list())
      return incomplete(name());
    Group& group = restored[static_cast<std::uint32_t>((*parts)[0].as_int())];
    group.config = (*parts)[1].as_map();
    group.asked = static_cast<std::uint64_t>((*parts)[2].as_int());
    group.over = static_cast<std::uint64_t>((*parts)[3].as_int());
    for (const Value& result : (*parts)[4].as_list()) {
      const List* pair = result.get_if<List>();
      if (pair == nullptr || pair->size() != 2 || !is_ending((*pair)[0]) || !(*pair)[1].is_map())
        return incomplete(name());
      group.results.emplace_back(static_cast<Ending>((*pair)[0].as_int()), (*pair)[1].as_map());
    }
  }
  std::map<std::uint32_t, std::uint32_t> of_trial;
  for (const Value& element : *trials) {
    const List* pair = element.get_if<List>();
    if (pair == nullptr || pair->size() != 2 || !is_trial((*pair)[0]) || !is_trial((*pair)[1]) ||
        !restored.contains(static_cast<std::uint32_t>((*pair)[1].as_int())))
      return incomplete(name());
    of_trial[static_cast<std::uint32_t>((*pair)[0].as_int())] =
        static_cast<std::uint32_t>((*pair)[1].as_int());
  }
  groups_ = std::move(restored);
  trial_ = std::move(of_trial);
  return ok();
}

Status Repeater::restore(const Value& state) {
  const Value* inner = find(state, "searcher");
  const auto next = find_count(state, "next");
  const auto created = find_count(state, "created");
  if (inner == nullptr || !next || *next > UINT32_MAX || !created)
    return incomplete(name());
  Repeater copy(searcher_->clone(), repeats_);
  TROUPE_RETURN_IF_ERROR(copy.restore_groups(state));
  TROUPE_RETURN_IF_ERROR(searcher_->restore(*inner));
  groups_ = std::move(copy.groups_);
  trial_ = std::move(copy.trial_);
  next_ = static_cast<std::uint32_t>(*next);
  created_ = *created;
  return ok();
}

// -- SwitchSearcher -----------------------------------------------------------------------------

std::unique_ptr<Searcher> SwitchSearcher::clone() const {
  auto copy = std::make_unique<SwitchSearcher>(first_->clone(), second_->clone(), trials_);
  copy->num_samples_ = num_samples_;
  copy->created_ = created_;
  return copy;
}

Status SwitchSearcher::setup(const SearchContext& context) {
  created_ = 0;
  num_samples_ = context.num_samples;
  SearchContext later = context;
  // The first one has tried them by then, unless there are more of them than trials of it.
  const auto tried = std::min<std::uint64_t>(trials_, later.points_to_evaluate.size());
  later.points_to_evaluate.erase(
      later.points_to_evaluate.begin(),
      later.points_to_evaluate.begin() + static_cast<std::ptrdiff_t>(tried));
  TROUPE_RETURN_IF_ERROR(first_->setup(context));
  return second_->setup(later);
}

Result<Suggestion> SwitchSearcher::suggest(TrialId trial) const {
  if (num_samples_ && created_ >= *num_samples_)
    return Suggestion::exhausted();
  const bool early = created_ < trials_;
  TROUPE_TRY(suggestion, (early ? *first_ : *second_).suggest(trial));
  if (suggestion.kind == Suggestion::Kind::config)
    suggestion.note = Map{{early ? "first" : "second", std::move(suggestion.note)}};
  return suggestion;
}

void SwitchSearcher::record(TrialId trial, const Config& config, const Value& note) {
  ++created_;
  const Value* first = find(note, "first");
  const Value* second = find(note, "second");
  first_->record(trial, config, first != nullptr ? *first : Value());
  second_->record(trial, config, second != nullptr ? *second : Value());
}

void SwitchSearcher::on_result(TrialId trial, const Metrics& metrics) {
  first_->on_result(trial, metrics);
  second_->on_result(trial, metrics);
}

void SwitchSearcher::on_complete(TrialId trial, Ending ending, const Metrics* last) {
  first_->on_complete(trial, ending, last);
  second_->on_complete(trial, ending, last);
}

Value SwitchSearcher::save() const {
  return Map{{"first", first_->save()}, {"second", second_->save()}, {"created", created_}};
}

Status SwitchSearcher::restore(const Value& state) {
  const Value* first = find(state, "first");
  const Value* second = find(state, "second");
  const auto created = find_count(state, "created");
  if (first == nullptr || second == nullptr || !created)
    return incomplete(name());
  auto restored = first_->clone();
  TROUPE_RETURN_IF_ERROR(restored->restore(*first));
  TROUPE_RETURN_IF_ERROR(second_->restore(*second));
  first_ = std::move(restored);
  created_ = *created;
  return ok();
}

}  // namespace troupe::tune::detail
