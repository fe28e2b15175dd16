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
/// refused; NaN, infinities, failures and unknown trials are taken.
std::vector<std::string> check_searcher(const Searcher& prototype, const SearchContext& context,
                                        const SearcherSuiteOptions& options = {});

}  // namespace troupe::tune
