#pragma once

#include <troupe/serialization/value.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/regret_rows.hpp"
#include "benchmarks/suite.hpp"

/// One search, measured.
namespace troupe::bench {

struct RegretRun {
  std::string searcher;  ///< a name for `make_searcher`
  Value options{};       ///< of the searcher; null: its own defaults
  std::uint64_t budget = 100;
  std::uint64_t parallel = 1;  ///< asks this many, then tells them all
  std::uint64_t seed = 0;
};

/// The evaluations after which rows are written: 25, 50, 96, 100, 150, 200, 300, ... and the
/// budget.
[[nodiscard]] std::vector<std::uint64_t> checkpoints(std::uint64_t budget);

/// Searches the minimum of `function`. A row at every checkpoint; a search that is exhausted keeps
/// what it has. Throws Exception with what the searcher says.
[[nodiscard]] std::vector<RegretRow> run_regret(const TestFunction& function, const RegretRun& run);

}  // namespace troupe::bench
