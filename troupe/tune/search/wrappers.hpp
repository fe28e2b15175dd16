#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <cstdint>
#include <memory>

/// Searchers around other searchers. They can be nested; each takes a copy of what it is given.
namespace troupe::tune {

struct ConcurrencyLimit {
  std::uint32_t max_concurrent = 1;  ///< trials that run at a time, at least 1
  /// Trials come in batches of that size: the next one begins when all of a batch are over, and the
  /// searcher hears their results together, in the order in which they ended. A batch that is not
  /// full is over as well when none of its trials runs and no other one can be had, so it never
  /// waits for a trial that will not come.
  bool batch = false;

  friend bool operator==(const ConcurrencyLimit&, const ConcurrencyLimit&) = default;
};

/// Lets no more than a number of trials run at a time, for searchers that learn better with fewer
/// pending results than there are workers. Name "concurrency_limiter".
std::shared_ptr<Searcher> concurrency_limiter(std::shared_ptr<Searcher> searcher,
                                              ConcurrencyLimit limit);

/// For noisy objectives: every configuration is tried `repeats` >= 1 times, and the searcher is
/// told the mean of each metric over those that finished, or, when none did, over those that were
/// stopped, as one that was stopped. It failed when all failed. Results on the way are not told.
/// `TuneConfig::num_samples` counts trials, so the searcher sees num_samples / repeats of them.
/// Name "repeater".
std::shared_ptr<Searcher> repeater(std::shared_ptr<Searcher> searcher, std::uint32_t repeats);

/// The first `trials` trials, up to 2^32 - 1, are suggested by `first`, all others by `second`,
/// which heard everything from the beginning. Name "switch_searcher".
std::shared_ptr<Searcher> switch_searcher(std::shared_ptr<Searcher> first,
                                          std::shared_ptr<Searcher> second, std::uint64_t trials);

/// A wrapper from the data that its `options` gave: name and options of what is inside, and its
/// own. Without data: around random search, which it does not change.
Result<std::unique_ptr<Searcher>> make_wrapper(const std::string& name, const Value& options);

}  // namespace troupe::tune
