#include <troupe/tune/search/detail/state_reading.hpp>
#include <troupe/tune/search/detail/wrappers.hpp>

#include <algorithm>
#include <cmath>

namespace troupe::tune::detail {

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
  TROUPE_RETURN_IF_ERROR(check_options());
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
  const Value* number = find_state(note, "group");
  // A trial from elsewhere is a group of its own, of one trial.
  const bool mine = number != nullptr && is_trial(*number) && number->as_int() <= next_;
  const std::uint32_t group = mine ? static_cast<std::uint32_t>(number->as_int()) : next_;
  if (group >= next_) {
    const Value* inner = find_state(note, "searcher");
    searcher_->record(TrialId(group), config, inner != nullptr ? *inner : Value());
    groups_[group].config = config;
    next_ = group + 1;
    if (!mine)
      groups_[group].asked = groups_[group].over = repeats_ - 1;
  }
  const auto found = groups_.find(group);
  if (found == groups_.end() || found->second.asked >= repeats_)
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
    return incomplete_state(name());
  std::map<std::uint32_t, Group> restored;
  for (const Value& element : *groups) {
    const List* parts = element.get_if<List>();
    const auto number = parts != nullptr && parts->size() == 5 && next_ > 0
                            ? count_of((*parts)[0], next_ - 1)
                            : std::nullopt;
    const auto asked = number ? count_of((*parts)[2], most_trials) : std::nullopt;
    const auto over =
        asked ? count_of((*parts)[3], std::min<std::uint64_t>(*asked, repeats_ - 1)) : std::nullopt;
    if (!over || !(*parts)[1].is_map() || !(*parts)[4].is_list() ||
        (*parts)[4].as_list().size() > *over)
      return incomplete_state(name());
    if (!restored.empty() && *number <= restored.rbegin()->first)
      return incomplete_state(name());
    Group& group = restored[static_cast<std::uint32_t>(*number)];
    group.config = (*parts)[1].as_map();
    group.asked = *asked;
    group.over = *over;
    for (const Value& result : (*parts)[4].as_list()) {
      const List* pair = result.get_if<List>();
      if (pair == nullptr || pair->size() != 2 || !is_ending((*pair)[0]) || !(*pair)[1].is_map())
        return incomplete_state(name());
      group.results.emplace_back(static_cast<Ending>((*pair)[0].as_int()), (*pair)[1].as_map());
    }
  }
  std::map<std::uint32_t, std::uint32_t> of_trial;
  std::map<std::uint32_t, std::uint64_t> running;
  for (const Value& element : *trials) {
    const List* pair = element.get_if<List>();
    const auto trial = pair != nullptr && pair->size() == 2 ? trial_of((*pair)[0]) : std::nullopt;
    const auto group = trial ? trial_of((*pair)[1]) : std::nullopt;
    if (!group || (!of_trial.empty() && trial->value <= of_trial.rbegin()->first))
      return incomplete_state(name());
    of_trial.emplace(trial->value, group->value);
    ++running[group->value];
  }
  for (const auto& [number, group] : restored)
    if (running[number] != group.asked - group.over)
      return incomplete_state(name());
  if (running.size() != restored.size())
    return incomplete_state(name());
  groups_ = std::move(restored);
  trial_ = std::move(of_trial);
  return ok();
}

Status Repeater::restore(const Value& state) {
  const Value* inner = find_state(state, "searcher");
  const auto created = find_count(state, "created", most_trials);
  const auto next = find_count(state, "next", std::min(created.value_or(0), most_trials - 1));
  if (inner == nullptr || !next || !created)
    return incomplete_state(name());
  Repeater copy(searcher_->clone(), repeats_);
  copy.next_ = static_cast<std::uint32_t>(*next);
  TROUPE_RETURN_IF_ERROR(copy.restore_groups(state));
  TROUPE_RETURN_IF_ERROR(searcher_->restore(*inner));
  groups_ = std::move(copy.groups_);
  trial_ = std::move(copy.trial_);
  next_ = copy.next_;
  created_ = *created;
  return ok();
}

}  // namespace troupe::tune::detail
