#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <cstdint>
#include <memory>

namespace troupe::tune {

struct BruteForceOptions {
  /// random: in an order drawn from the seed, of which each prefix is a random sample of the space;
  /// lexicographic: in the order of the values, the last parameter slowest.
  enum class Order : std::uint8_t { random, lexicographic };

  Order order = Order::random;

  friend bool operator==(const BruteForceOptions&, const BruteForceOptions&) = default;
};

/// Every configuration of a finite space once, then it is exhausted. Learns nothing and needs no
/// metric. The order is computed, not stored: a space may have up to 2^63 cells. What conditions
/// and rules of the space exclude is passed over. Where that is nearly everything, the few
/// configurations are found by giving one parameter after the other its values; a suggestion may
/// take some seconds once, and ends the search with invalid_argument if that is not enough.
///
/// `TuneConfig::num_samples` limits it as any other searcher. Left out, everything is tried.
///
/// For `TuneConfig::search_alg`; name "brute_force". `setup` says invalid_argument, naming the
/// parameter, for a space that is not finite.
std::shared_ptr<Searcher> brute_force(BruteForceOptions options = {});

/// The options that `options` of a searcher gave, or a person typed. invalid_argument naming the
/// first one that is wrong.
Result<BruteForceOptions> brute_force_options(const Value& options);

}  // namespace troupe::tune
