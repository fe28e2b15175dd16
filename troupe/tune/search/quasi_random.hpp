#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <cstdint>
#include <memory>

namespace troupe::tune {

struct QuasiRandomOptions {
  /// Both fill any number of dimensions more evenly than chance; Sobol best of all in multiples of
  /// powers of two. Beyond its 3,667 parameters `sobol` stands for `halton`.
  enum class Sequence : std::uint8_t { sobol, halton };

  Sequence sequence = Sequence::sobol;
  /// Randomised by the seed, so that other seeds give other points. Without it points are those of
  /// the textbook, whatever the seed.
  bool scramble = true;

  friend bool operator==(const QuasiRandomOptions&, const QuasiRandomOptions&) = default;
};

/// Points of a Sobol or Halton sequence: covers a space with fewer trials than random search,
/// learns nothing, and needs no metric. The configuration that comes i-th after the points to
/// evaluate is point number i, whatever the results were and however many trials run. What a rule
/// of the space or an earlier trial excludes is passed over.
///
/// For `TuneConfig::search_alg`; name "quasi_random". `setup` says invalid_argument for options out
/// of range.
std::shared_ptr<Searcher> quasi_random(QuasiRandomOptions options = {});

/// The options that `options` of a searcher gave, or a person typed. invalid_argument naming the
/// first one that is wrong.
Result<QuasiRandomOptions> quasi_random_options(const Value& options);

}  // namespace troupe::tune
