#include <troupe/tune/search/detail/replay.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>
#include <troupe/tune/study/detail/study_state.hpp>

#include <string>
#include <utility>

/// A study as data, and back.
namespace troupe::tune::detail {
namespace {

/// Real numbers only.
Result<std::vector<double>> read_numbers(const Value& value) {
  std::vector<double> numbers;
  const List* list = value.get_if<List>();
  if (list == nullptr)
    return not_an_entry();
  for (const Value& number : *list) {
    if (!number.is_double())
      return not_an_entry();
    numbers.push_back(number.as_double());
  }
  return numbers;
}

Result<std::map<std::string, Domain>> read_domains(const Map& map) {
  std::map<std::string, Domain> domains;
  for (const auto& [name, data] : map) {
    TROUPE_TRY(domain, Domain::from_value(data));
    domains.emplace(name, std::move(domain));
  }
  return domains;
}

}  // namespace

/// What suggestions depend on: with other options the same entries would give another study.
Value StudyState::options_data() const {
  List modes;
  for (const Objective& objective : objectives_)
    modes.push_back(std::string(to_string(objective.mode)));
  Value scheduler, scheduler_options;
  if (scheduler_) {
    scheduler = scheduler_call("name", [&] { return scheduler_->name(); });
    scheduler_options = scheduler_call("options", [&] { return scheduler_->options(); });
  }
  return Map{{"searcher", options_.searcher->name()},
             {"searcher_options", options_.searcher->options()},
             {"scheduler", scheduler},
             {"scheduler_options", scheduler_options},
             {"modes", std::move(modes)},
             {"constraints", List(options_.constraints.begin(), options_.constraints.end())},
             // As the whole number of the same bits: the data knows no others.
             {"seed", static_cast<std::int64_t>(options_.seed)}};
}

Value StudyState::save() const {
  return Map{{"options", options_data()}, {"study", log_}};
}

Result<std::unique_ptr<StudyState>> StudyState::restored(const Value& state) const {
  const std::string whose = "a study";
  const Value* options = find_state(state, "options");
  const List* log = find_list(state, "study");
  if (options == nullptr || !options->is_map() || log == nullptr)
    return bad_state(whose, "its options or the list of what happened are missing");
  std::unique_ptr<StudyState> restored;
  const auto begin = [&]() -> Status {
    if (const auto other = difference(*options, options_data()))
      return Error(ErrorCode::invalid_argument,
                   "the study was saved with " + *other +
                       ": restore it into a study with the same StudyOptions");
    restored = std::make_unique<StudyState>(options_);
    return ok();
  };
  TROUPE_RETURN_IF_ERROR(
      take_again(whose, *log, begin, [&](const Value& entry) { return restored->take(entry); }));
  return restored;
}

Status StudyState::take(const Value& entry) {
  const List* parts = entry.get_if<List>();
  if (parts == nullptr || parts->empty() || !(*parts)[0].is_string())
    return not_an_entry();
  const List& p = *parts;
  const std::string& kind = p[0].as_string();
  if (kind == "enqueue" && p.size() == 2 && p[1].is_map()) {
    enqueue(p[1].as_map());
    return ok();
  }
  if (kind == "ask" && p.size() == 3 && p[1].is_map()) {
    begin(Suggestion::of(p[1].as_map(), p[2]));
    return ok();
  }
  if (kind == "add" && p.size() == 8 && p[1].is_map() && p[2].is_map() &&
      (p[3].is_null() || p[3].is_double()) && p[5].is_int() && p[6].is_map() && is_ending(p[7])) {
    TROUPE_TRY(domains, read_domains(p[2].as_map()));
    TROUPE_TRY(values, read_numbers(p[4]));
    add({.params = p[1].as_map(),
         .domains = std::move(domains),
         .value = p[3].is_null() ? std::optional<double>() : p[3].as_double(),
         .values = std::move(values),
         .step = static_cast<std::uint64_t>(p[5].as_int()),
         .constraints = p[6].as_map(),
         .ending = static_cast<Ending>(p[7].as_int())});
    return ok();
  }
  return take_trial(p);
}

/// What happened to one of the trials.
Status StudyState::take_trial(const List& p) {
  const std::string& kind = p[0].as_string();
  if (p.size() != 4 || !is_trial(p[1]))
    return not_an_entry();
  const TrialId trial(static_cast<std::uint32_t>(p[1].as_int()));
  if (kind == "param" && p[2].is_string()) {
    TROUPE_TRY(domain, Domain::from_value(p[3]));
    parameter(trial, p[2].as_string(), domain);
  } else if (kind == "constraint" && p[2].is_string() && p[3].is_double()) {
    constrain(trial, p[2].as_string(), p[3].as_double());
  } else if (kind == "report" && p[2].is_double() && p[3].is_int()) {
    report(trial, p[2].as_double(), static_cast<std::uint64_t>(p[3].as_int()));
  } else if (kind == "tell" && is_ending(p[2])) {
    const auto ending = static_cast<Ending>(p[2].as_int());
    std::vector<double> values;
    if (ending == Ending::finished) {
      TROUPE_TRY(read, read_numbers(p[3]));
      values = std::move(read);
    } else if (!p[3].is_null()) {
      return not_an_entry();
    }
    end(trial, ending, std::move(values));
  } else {
    return not_an_entry();
  }
  return ok();
}

}  // namespace troupe::tune::detail
