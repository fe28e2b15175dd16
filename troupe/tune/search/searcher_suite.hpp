#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// The contract of searchers as checks, for Troupe's own and for those of users.
namespace troupe::tune {

struct SearcherSuiteOptions {
  std::uint64_t seed = 1;        ///< of the made-up experiment
  std::uint32_t steps = 300;     ///< suggestions, results and completions
  std::uint32_t concurrent = 4;  ///< trials alive at a time
  bool may_repeat = false;       ///< it does not promise that no configuration comes twice
  bool constant = false;         ///< every result is the same number, instead of awkward ones
  /// Share of the trials that somebody else made up: it hears of them and is not asked.
  double foreign = 0;
  /// Steps between two looks at the whole state, which take time with its size: more for long runs.
  std::uint32_t look_every = 1;
};

/// Runs made-up experiments against copies of `prototype` and says which rules of the contract it
/// breaks, one sentence each; empty: none was broken. Works with any test framework:
///
///     CHECK(tune::check_searcher(MySearcher(), {.space = space, .objectives = {{"loss",
///     Mode::min}}}).empty());
///
/// Checked: `suggest` changes nothing and repeats itself; configurations fit the space, its
/// conditions and constraints, and come once; never more than `planned`; equal calls give equal
/// states; a copy that only heard `record` and the `on_*` hooks goes on alike; so does one that was
/// saved and restored, at many moments; clones are independent; `setup` forgets; damaged states are
/// refused; 30 % of the numbers are NaN, infinities, huge or denormal; failures and unknown trials
/// are taken.
std::vector<std::string> check_searcher(const Searcher& prototype, const SearchContext& context,
                                        const SearcherSuiteOptions& options = {});

/// A made-up experiment that is hard on searchers.
struct HardSearch {
  std::string name;
  SearchContext context{};
  SearcherSuiteOptions options{};
};

/// Those that have broken searchers elsewhere: every result the same, spaces with a single point,
/// one parameter of each kind, ranges as wide as numbers go, values of every type, 1,000 choices to
/// make, two objectives, 64 workers, 10,000 trials. For each:
///
///     CHECK(tune::check_searcher(MySearcher(), hard.context, hard.options).empty());
///
/// A searcher that does not serve a space says so in `setup`. One that takes long for a suggestion
/// hears of most trials from elsewhere: raise `options.foreign`, or lower `options.steps`.
std::vector<HardSearch> hard_searches();

}  // namespace troupe::tune
