#include "subjects.hpp"

#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/random_search.hpp>
#include <troupe/tune/search/wrappers.hpp>

#ifdef TROUPE_HAS_LIPO
#include <troupe/tune/search/lipo.hpp>
#endif

#include <set>
#include <utility>

namespace troupe::tune {

std::vector<Subject> subjects() {
  static const std::set<std::string> blind{"basic_variant", "brute_force", "quasi_random",
                                           "random"};
#ifdef TROUPE_HAS_LIPO
  (void)lipo();  // from now on it is known by name
#endif
  std::vector<Subject> all;
  for (const std::string& name : searcher_names())
    all.push_back({.name = name,
                   .searcher = make_searcher(name, {}).value_or_throw(),
                   .repeats = name == "basic_variant",
                   .finite_only = name == "brute_force",
                   .numbers_only = name == "lipo",
                   .from_results = !blind.contains(name),
                   .one_objective = name == "bohb" || name == "cmaes" || name == "lipo",
                   .slow = name == "gp" || name == "auto"});
  const auto wrap = [&](std::string name, std::shared_ptr<const Searcher> searcher) {
    all.push_back({.name = std::move(name),
                   .searcher = std::move(searcher),
                   .one_objective = true,
                   .wrapper = true});
  };
  wrap("limiter", concurrency_limiter(cmaes(), {.max_concurrent = 3}));
  all.back().limited = true;
  wrap("batches", concurrency_limiter(cmaes(), {.max_concurrent = 4, .batch = true}));
  all.back().limited = true;
  wrap("switch", switch_searcher(random_search(), cmaes(), 12));
  wrap("repeater", repeater(cmaes(), 3));
  all.back().repeats = true;
  wrap("nested", concurrency_limiter(repeater(switch_searcher(random_search(), cmaes(), 12), 2),
                                     {.max_concurrent = 5, .batch = true}));
  all.back().repeats = true;
  all.back().limited = true;
  return all;
}

bool draws_blindly(const Searcher& searcher, const SearchContext& context) {
  if (searcher.name() != "auto")
    return false;
  const auto copy = searcher.clone();
  copy->setup(context).value_or_throw();
  const Value note = copy->suggest(TrialId(0)).value_or_throw().note;
  return note.is_map() && note.as_map().get_or("by", {}) == Value("basic_variant");
}

}  // namespace troupe::tune
