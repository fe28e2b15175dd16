#include <troupe/serialization/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <tests/support/instrumented.hpp>
#include <tests/unit/tune_search/ask_tell.hpp>

#include "subjects.hpp"

// Stored states that were changed in one place: refused, or as good as any.

namespace troupe::tune {
namespace {

SearchContext context_for(const Subject& subject) {
  ParamSpace space{{"m", randint(0, 9)}, {"n", lograndint(1, 200)}};
  if (!subject.numbers_only)
    space.add("c", choice({"a", "b", "d"}));
  if (!subject.numbers_only && !subject.finite_only)
    space.add("x", when("c", {"a", "b"}, uniform(0, 1)));
  return {.space = std::move(space),
          .objectives = {{"loss", Mode::min}},
          .constraints = {"over"},
          .seed = 3};
}

/// A search in which everything happens: trials that finish, fail, are stopped, and run.
class Search {
public:
  Search(Searcher& searcher, std::uint32_t first) : searcher_(searcher), next_(first) {}

  void run(std::uint32_t trials) {
    for (std::uint32_t i = 0; i < trials; ++i) {
      const TrialId id(next_);
      const Suggestion next = searcher_.suggest(id).value_or_throw();
      if (next.kind == Suggestion::Kind::config) {
        searcher_.record(id, next.config, next.note);
        running_.push_back({id, next.config});
        ++next_;
      }
      if (running_.size() > 3 || next.kind != Suggestion::Kind::config)
        end_one();
    }
  }

private:
  void end_one() {
    if (running_.empty())
      return;
    const auto [id, config] = running_.front();
    running_.erase(running_.begin());
    const double m = config.at("m").as_double();
    const Metrics metrics{{"loss", std::abs(m - 4) + config.at("n").as_double() / 100},
                          {"over", m - 7},
                          {"training_iteration", 3}};
    searcher_.on_result(id, metrics);
    if (id.value % 7 == 5)
      searcher_.on_complete(id, Ending::failed, nullptr);
    else
      searcher_.on_complete(id, id.value % 5 == 4 ? Ending::stopped : Ending::finished, &metrics);
  }

  Searcher& searcher_;
  std::uint32_t next_;
  std::vector<std::pair<TrialId, Config>> running_;
};

/// Calls `test` with the path of each leaf, and of what lies around it, while it has other values.
void change_each(Value& value, const std::string& path,
                 const std::function<void(const std::string&)>& test) {
  const Value before = value;
  for (const Value& other :
       {Value(), Value(true), Value(-1), Value(0), Value(3), Value(INT64_MAX), Value(std::nan("")),
        Value(-1e-3), Value(1e308), Value(HUGE_VAL), Value("zz"), Value(List{}), Value(Map{})}) {
    if (other == before)
      continue;
    value = other;
    test(path);
  }
  value = before;
  constexpr std::size_t looked_at = 4;  // elements of a list
  if (List* list = value.get_if<List>())
    for (std::size_t i = 0; i < list->size();
         i += std::max<std::size_t>(1, list->size() / looked_at))
      change_each((*list)[i], path + '/' + std::to_string(i), test);
  if (Map* map = value.get_if<Map>())
    for (const std::string& key : map->keys())
      change_each((*map)[key], path + '/' + key, test);
}

/// Does it belong to a configuration or a result that a wrapper keeps for another searcher?
bool is_users(const std::string& path) {
  return path.find("/heard/") != std::string::npos || path.find("/groups/") != std::string::npos ||
         path.find("/held/") != std::string::npos;
}

/// May it be any number: a user's, an iteration, a fingerprint?
bool is_free(const std::string& path) {
  const std::size_t history = path.find("/history/");
  return is_users(path) ||
         (history != std::string::npos && (path.ends_with("/2") || path.ends_with("/3")) &&
          std::count(path.begin() + static_cast<std::ptrdiff_t>(history), path.end(), '/') == 3);
}

TEST_CASE("a state with one number changed is refused, or it is one that the search goes on with") {
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.name);
    const SearchContext context = context_for(subject);
    const auto fresh = [&] {
      auto searcher = subject.searcher->clone();
      searcher->setup(context).value_or_throw();
      return searcher;
    };
    const auto original = fresh();
    Search(*original, 0).run(40);
    Value state = original->save();
    const Value whole = state;
    const Value empty = fresh()->save();
    REQUIRE(fresh()->restore(whole).has_value());
    unsigned accepted = 0;
    change_each(state, "", [&](const std::string& path) {
      const auto searcher = fresh();
      const Status status = searcher->restore(state);
      if (!status) {
        CHECK_MESSAGE(status.error().code() == ErrorCode::corrupt, path);
        const bool untouched = searcher->save() == empty;
        CHECK_MESSAGE(untouched, path);
        return;
      }
      const bool same = searcher->save() == state;
      CHECK_MESSAGE(same, path);
      ++accepted;
      if (!is_users(path) && accepted % ((subject.slow ? 8U : 1U) * testing::fewer) == 0)
        Search(*searcher, 100).run(4);
    });
    CHECK(accepted > 0);  // a loss, a fingerprint
  }
}

TEST_CASE("no state has NaN for a number, or a counter of 2^63 - 1") {
  for (const Subject& subject : subjects()) {
    const SearchContext context = context_for(subject);
    const auto original = subject.searcher->clone();
    original->setup(context).value_or_throw();
    Search(*original, 0).run(40);
    const auto searcher = subject.searcher->clone();
    searcher->setup(context).value_or_throw();
    Value state = original->save();
    const std::function<void(Value&, const std::string&)> walk = [&](Value& value,
                                                                     const std::string& path) {
      const Value before = value;
      if (before.is_int() || (before.is_double() && !std::isnan(before.as_double()))) {
        value = before.is_int() ? Value(INT64_MAX) : Value(std::nan(""));
        if (!is_free(path))
          CHECK_MESSAGE(!searcher->restore(state).has_value(), subject.name, path);
        value = before;
      }
      if (List* list = value.get_if<List>())
        for (std::size_t i = 0; i < list->size(); ++i)
          walk((*list)[i], path + '/' + std::to_string(i));
      if (Map* map = value.get_if<Map>())
        for (const std::string& key : map->keys())
          walk((*map)[key], path + '/' + key);
    };
    walk(state, "");
  }
}

}  // namespace
}  // namespace troupe::tune
