#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace troupe::tune {

struct NsgaOptions {
  /// How numeric parameters of parents are mixed. Choices are always taken from either parent.
  enum class Crossover : std::uint8_t {
    uniform,    ///< each parameter from one of two parents
    blx_alpha,  ///< uniform in the box of two parents, half as large again on each side
    sbx,        ///< simulated binary: near either parent
    vsbx,       ///< the same, reaching farther away from them
    spx,        ///< simplex of three parents
    undx,       ///< normal around the line through two parents, as wide as the third is far away
  };
  enum class Mutation : std::uint8_t {
    resample,    ///< anywhere
    polynomial,  ///< near the old value (index 20); choices anywhere
  };

  std::uint32_t population = 50;  ///< at least 2
  Crossover crossover = Crossover::uniform;
  double crossover_probability = 0.9;
  double swap_probability = 0.5;  ///< uniform and choices: that it comes from the second parent
  Mutation mutation = Mutation::resample;
  double mutation_probability = 0;  ///< of each parameter; 0: 1 / parameters
  /// NSGA-III: into how many parts each objective is divided by the reference points, of which
  /// there are at most 10,000: (objectives - 1 + divisions) over divisions.
  std::uint32_t divisions = 3;

  friend bool operator==(const NsgaOptions&, const NsgaOptions&) = default;
};

/// NSGA-II (Deb et al. 2002): a genetic algorithm for one to three objectives and budgets of many
/// hundred trials, any kind of space. Parents are the best of all generations by Pareto rank, then
/// by distance to their neighbours on the front. Feasible trials come before infeasible ones.
///
/// Trials that failed have no children, and a child that lies next to one is made again.
///
/// A generation ends with the first `population` results, whichever generation they were made for,
/// so workers never wait for each other.
///
/// For `TuneConfig::search_alg`; names "nsga2" and "nsga3".
std::shared_ptr<Searcher> nsga2(NsgaOptions options = {});

/// NSGA-III (Deb and Jain 2014): spreads over reference directions instead, for three objectives
/// and more.
std::shared_ptr<Searcher> nsga3(NsgaOptions options = {});

/// The options that `options` of `searcher` ("nsga2", "nsga3") gave, or a person typed.
/// invalid_argument naming the first one that is wrong.
Result<NsgaOptions> nsga_options(const std::string& searcher, const Value& options);

}  // namespace troupe::tune
