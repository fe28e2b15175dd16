#include <troupe/tune/search/detail/state_reading.hpp>
#include <troupe/tune/search/detail/wrappers.hpp>

#include <algorithm>

namespace troupe::tune::detail {

std::unique_ptr<Searcher> SwitchSearcher::clone() const {
  auto copy = std::make_unique<SwitchSearcher>(first_->clone(), second_->clone(), trials_);
  copy->num_samples_ = num_samples_;
  copy->created_ = created_;
  return copy;
}

Status SwitchSearcher::setup(const SearchContext& context) {
  TROUPE_RETURN_IF_ERROR(check_options());
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
  const Value* first = find_state(note, "first");
  const Value* second = find_state(note, "second");
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
  const Value* first = find_state(state, "first");
  const Value* second = find_state(state, "second");
  const auto created = find_count(state, "created", most_trials);
  if (first == nullptr || second == nullptr || !created)
    return incomplete_state(name());
  auto restored = first_->clone();
  TROUPE_RETURN_IF_ERROR(restored->restore(*first));
  TROUPE_RETURN_IF_ERROR(second_->restore(*second));
  first_ = std::move(restored);
  created_ = *created;
  return ok();
}

}  // namespace troupe::tune::detail
