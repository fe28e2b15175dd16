#include "subjects.hpp"

#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/random_search.hpp>
#include <troupe/tune/search/wrappers.hpp>

#include <set>

namespace troupe::tune {

std::vector<Subject> subjects() {
  static const std::set<std::string> blind{"basic_variant", "brute_force", "quasi_random",
                                           "random"};
  std::vector<Subject> all;
  for (const std::string& name : searcher_names())
    all.push_back({.name = name,
                   .searcher = make_searcher(name, {}).value_or_throw(),
                   .repeats = name == "basic_variant",
                   .finite_only = name == "brute_force",
                   .from_results = !blind.contains(name),
                   .slow = name == "gp" || name == "auto"});
  all.push_back(
      {.name = "limiter", .searcher = concurrency_limiter(cmaes(), {.max_concurrent = 3})});
  all.push_back({.name = "batches",
                 .searcher = concurrency_limiter(cmaes(), {.max_concurrent = 4, .batch = true})});
  all.push_back({.name = "repeater", .searcher = repeater(cmaes(), 3), .repeats = true});
  all.push_back({.name = "switch", .searcher = switch_searcher(random_search(), cmaes(), 12)});
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
