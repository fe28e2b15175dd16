#include <troupe/tune/search/detail/state_reading.hpp>
#include <troupe/tune/study/detail/study_state.hpp>

#include <exception>
#include <string>
#include <utility>

/// A study as data, and back.
namespace troupe::tune::detail {
namespace {

constexpr auto not_given = "it is not what save() gave: restore another copy of it";
/// Of data in order with a call that is refused.
constexpr auto not_taken =
    "it is not what save() gave, or an earlier version took what this one refuses: restore another "
    "copy of it, or begin the study anew";

Error bad(const std::string& what, const char* why = not_given) {
  return Error(ErrorCode::corrupt, "the state of a study: " + what + "; " + why);
}

Error not_an_entry() {
  return Error(ErrorCode::corrupt, "no call leaves such an entry");
}

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
  return Map{{"searcher", options_.searcher->name()},
             {"searcher_options", options_.searcher->options()},
             {"scheduler", scheduler_ ? Value(scheduler_->name()) : Value()},
             {"scheduler_options", scheduler_ ? scheduler_->options() : Value()},
             {"modes", std::move(modes)},
             {"constraints", List(options_.constraints.begin(), options_.constraints.end())},
             // As the whole number of the same bits: the data knows no others.
             {"seed", static_cast<std::int64_t>(options_.seed)}};
}

Value StudyState::save() const {
  return Map{{"options", options_data()}, {"study", log_}};
}

Status StudyState::load(const Value& state) {
  const Map* map = state.get_if<Map>();
  const Value* options = map != nullptr ? map->find_key("options") : nullptr;
  const Value* log = map != nullptr ? map->find_key("study") : nullptr;
  if (options == nullptr || !options->is_map() || log == nullptr || !log->is_list())
    return bad("its options or the list of what happened are missing");
  if (const auto other = difference(*options, options_data()))
    return Error(ErrorCode::invalid_argument,
                 "the study was saved with " + *other +
                     ": restore it into a study with the same StudyOptions");
  for (std::size_t i = 0; i < log->as_list().size(); ++i) {
    const std::string where = "entry " + std::to_string(i) + ": ";
    try {
      const Status status = take(log->as_list()[i]);
      if (!status)
        return bad(where + status.error().message());
    } catch (const Exception& e) {
      return bad(where + e.error().message(), not_taken);
    } catch (const std::exception& e) {
      return Error(ErrorCode::user_code,
                   "the state of a study: " + where +
                       "its searcher or scheduler throws: " + std::string(e.what()));
    }
  }
  return ok();
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
