#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/optimizer.hpp>

#include <cmath>
#include <cstdint>
#include <exception>
#include <string>

#include <doctest/doctest.h>
#include <tests/support/instrumented.hpp>
#include <tests/support/mutations.hpp>

#include "subjects.hpp"

/// Stored searches that somebody else wrote, or a disk damaged.
namespace troupe::tune {
namespace {

ParamSpace space_for(const Subject& subject) {
  ParamSpace space{{"x", subject.finite_only ? quniform(0, 1, 0.05) : uniform(0, 1)},
                   {"n", randint(0, 30)},
                   {"wide", lograndint(1, 1000)}};
  if (!subject.numbers_only) {
    space.add("kind", choice({"a", "b", nullptr}));
    space.add("only", when("kind", {"b"}, randint(0, 5)));
  }
  space.require(less("n", "wide"));
  return space;
}

SearchContext context_for(const Subject& subject) {
  SearchContext context{.space = space_for(subject),
                        .objectives = {{"loss", Mode::min}},
                        .constraints = {"memory"},
                        .seed = 11,
                        .points_to_evaluate = {{{"n", 3}}, {{"x", 0.25}}}};
  if (!subject.one_objective && !subject.slow && subject.from_results)
    context.objectives.push_back({"size", Mode::max});
  return context;
}

Metrics result_of(const Optimizer::Asked& asked) {
  const double x = asked.config.at("x").as_double();
  return {{"loss", asked.id.value % 9 == 8 ? std::nan("") : x * x},
          {"size", asked.config.at("n")},
          {"memory", x - 0.7}};
}

void go_on(Optimizer& optimizer, int steps) {
  for (int i = 0; i < steps; ++i)
    for (const auto& asked : optimizer.ask(2)) {
      const Metrics result = result_of(asked);
      if (asked.id.value % 3 == 1)
        optimizer.report(asked.id, 1, result);
      if (asked.id.value % 7 == 6)
        optimizer.tell_failed(asked.id);
      else if (asked.id.value % 5 == 4)
        optimizer.tell_pruned(asked.id);
      else if (asked.id.value % 11 != 10)
        optimizer.tell(asked.id, result);
    }
}

/// Calls are checked by the optimizer; what a suggestion noted, only its searcher knows.
Value with_other_note(Value state, Random& random) {
  List& log = state.as_map()["log"].as_list();
  for (;;) {
    List& entry = random.pick(log).as_list();
    if (entry[0] != Value("ask"))
      continue;
    entry[2] = testing::mutated(entry[2], random);
    return state;
  }
}

/// What came of a state: it was refused with an error and changed nothing, or is a search like any
/// other. Anything else is told.
std::string misbehaviour(const Value& state, const Subject& subject, bool& taken) {
  try {
    Optimizer optimizer(*subject.searcher, context_for(subject));
    const Value before = optimizer.save();
    const Status status = optimizer.restore(state);
    taken = status.has_value();
    if (!status && optimizer.save() != before)
      return "a refused state changed something";
    if (!status && status.error().code() != ErrorCode::corrupt &&
        status.error().code() != ErrorCode::invalid_argument)
      return "refused with " + status.error().to_string();
    if (!status)
      return "";
    go_on(optimizer, 2);
    (void)optimizer.best();
    Optimizer again(*subject.searcher, context_for(subject));
    again.restore(parse_json(to_json(optimizer.save())).value_or_throw()).value_or_throw();
    if (again.save() != optimizer.save())
      return "what it saves is not what it restores";
  } catch (const std::exception& e) {
    return std::string("it throws: ") + e.what();
  }
  return "";
}

TEST_CASE("a stored search that was changed is refused with an error, or goes on like any other") {
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.name);
    Optimizer optimizer(*subject.searcher, context_for(subject));
    go_on(optimizer, 12);
    const Value state = optimizer.save();
    bool taken = false;
    REQUIRE(misbehaviour(state, subject, taken) == "");
    REQUIRE(taken);
    int refused = 0, accepted = 0;
    const std::uint64_t rounds = (subject.slow ? 60 : 600) / testing::fewer;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      Random random(round, 0, RandomPurpose::test);
      const Value changed =
          round % 2 == 0 ? testing::mutated(state, random) : with_other_note(state, random);
      if (changed == state)
        continue;
      const std::string wrong = misbehaviour(changed, subject, taken);
      CAPTURE(round);
      CHECK(wrong == "");
      ++(taken ? accepted : refused);
    }
    CHECK(refused > 0);
    CHECK(accepted > 0);
  }
}

TEST_CASE("a note that no suggestion had makes a trial one from elsewhere") {
  const Value large = INT64_MAX;
  const List notes{large,
                   "text",
                   Map{{"point", large}},
                   Map{{"point", "text"}},
                   Map{{"model", large}},
                   Map{{"model", List{1, large, large}}},
                   Map{{"model", Map{{"step", List{1.0}}}}},
                   Map{{"model", Map{{"step", List{"text", 1.0, 1.0, 1.0}}}}},
                   Map{{"model", Map{{"fits", Map{{"over", large}}}}}},
                   Map{{"group", std::int64_t{UINT32_MAX}}},
                   Map{{"group", 0}},
                   Map{{"group", 0}}};
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.name);
    const SearchContext context = context_for(subject);
    const auto searcher = subject.searcher->clone();
    searcher->setup(context).value_or_throw();
    TrialId id;
    for (const Value& note : notes) {
      CAPTURE(note);
      const Config config = searcher->suggest(id).value_or_throw().config;
      CHECK(config.contains("x"));
      CHECK_NOTHROW(searcher->record(id, config, note));
      const Metrics result = result_of({id, config});
      CHECK_NOTHROW(searcher->on_complete(id, Ending::finished, &result));
      CHECK_NOTHROW((void)searcher->save());
      id = id.next();
    }
    CHECK(searcher->suggest(id).value_or_throw().config.contains("x"));
  }
}

}  // namespace
}  // namespace troupe::tune
