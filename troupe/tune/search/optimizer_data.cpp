#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/detail/given.hpp>
#include <troupe/tune/search/detail/replay.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>
#include <troupe/tune/search/optimizer.hpp>

#include <optional>
#include <string>
#include <utility>

// An optimizer as data, and back.

namespace troupe::tune {
/// What suggestions depend on: with other settings the same entries would be another search.
/// Without `num_samples`: a search may become longer.
Value Optimizer::setting() const {
  List objectives;
  for (const Objective& objective : context_.objectives)
    objectives.push_back(List{objective.metric, to_string(objective.mode)});
  List known;
  for (const KnownResult& result : context_.known_results)
    known.push_back(List{result.config, result.metrics, static_cast<std::int64_t>(result.ending)});
  return Map{{"searcher", Map{{"name", searcher_->name()}, {"options", searcher_->options()}}},
             {"SearchContext",
              Map{{"space", context_.space.to_value()},
                  {"objectives", std::move(objectives)},
                  {"constraints", List(context_.constraints.begin(), context_.constraints.end())},
                  // As the whole number of the same bits: the data knows no others.
                  {"seed", static_cast<std::int64_t>(context_.seed)},
                  {"points_to_evaluate",
                   List(context_.points_to_evaluate.begin(), context_.points_to_evaluate.end())},
                  {"known_results", std::move(known)},
                  {"allow_repeats", context_.allow_repeats}}}};
}

Value Optimizer::samples() const {
  return context_.num_samples ? Value(static_cast<std::int64_t>(*context_.num_samples)) : Value();
}

Value Optimizer::save() const {
  return Map{
      {"setting", setting()}, {"num_samples", samples()}, {"log", log_}, {"exhausted", exhausted_}};
}

Status Optimizer::restore(const Value& state) {
  const std::string whose = "an optimizer";
  const Value* saved = detail::find_state(state, "setting");
  const List* log = detail::find_list(state, "log");
  const Value* samples = detail::find_state(state, "num_samples");
  const Value* exhausted = detail::find_state(state, "exhausted");
  if (saved == nullptr || !saved->is_map() || log == nullptr || samples == nullptr ||
      !(samples->is_null() || samples->is_int()) || exhausted == nullptr || !exhausted->is_bool())
    return detail::bad_state(whose, "its settings or the list of what happened are missing");
  std::optional<Optimizer> restored;
  const auto begin = [&]() -> Status {
    if (const auto other = detail::difference(*saved, setting()))
      return Error(ErrorCode::invalid_argument,
                   "the optimizer was saved with " + *other +
                       ": restore it into one with the same searcher and SearchContext, of which "
                       "only num_samples may differ");
    restored.emplace(*searcher_, context_);
    return ok();
  };
  TROUPE_RETURN_IF_ERROR(detail::take_again(
      whose, *log, begin, [&](const Value& entry) { return restored->take(entry); }));
  // Whether a longer search has more to give is another question.
  restored->exhausted_ = exhausted->as_bool() && *samples == this->samples();
  restored->warnings_ = std::move(warnings_);
  *this = std::move(*restored);
  return ok();
}

/// One entry happens again. Throws what the call threw.
Status Optimizer::take(const Value& entry) {
  const List* parts = entry.get_if<List>();
  if (parts == nullptr || parts->size() < 2 || !(*parts)[0].is_string())
    return detail::not_an_entry();
  const List& p = *parts;
  const std::string& kind = p[0].as_string();
  if (kind == "enqueue" && p.size() == 2 && p[1].is_map()) {
    TROUPE_RETURN_IF_ERROR(detail::adopt_suggested(*design_, p[1].as_map()));
    put(p[1].as_map());
    return ok();
  }
  if (kind == "ask" && p.size() == 3 && p[1].is_map()) {
    const Config& config = p[1].as_map();
    TROUPE_RETURN_IF_ERROR(detail::adopt_suggested(*design_, config));
    if (!queue_.empty() && queue_.front() != config)
      return Error(ErrorCode::corrupt, "it is not the configuration that was enqueued");
    begin(Suggestion::of(config, p[2]));
    return ok();
  }
  if (kind == "add" && p.size() == 4 && p[1].is_map() && p[2].is_map() && detail::is_ending(p[3])) {
    add({p[1].as_map(), p[2].as_map(), static_cast<Ending>(p[3].as_int())});
    return ok();
  }
  return take_trial(p);
}

/// What happened to one of the trials.
Status Optimizer::take_trial(const List& entry) {
  const std::string& kind = entry[0].as_string();
  if (!detail::is_trial(entry[1]))
    return detail::not_an_entry();
  const TrialId id(static_cast<std::uint32_t>(entry[1].as_int()));
  const Map* metrics = entry.size() == 3 ? entry[2].get_if<Map>() : nullptr;
  if (kind == "pruned" && entry.size() == 2) {
    tell_pruned(id);
  } else if (kind == "failed" && entry.size() == 2) {
    tell_failed(id);
  } else if (kind == "tell" && metrics != nullptr) {
    tell(id, *metrics);
  } else if (kind == "report" && metrics != nullptr) {
    const auto step = detail::find_count(*metrics, "training_iteration", INT64_MAX);
    if (!step)
      return detail::not_an_entry();
    report(id, *step, *metrics);
  } else {
    return detail::not_an_entry();
  }
  return ok();
}

}  // namespace troupe::tune
