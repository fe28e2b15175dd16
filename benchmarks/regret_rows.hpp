#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// What optimisers reached, as lines of a table, and how two optimisers compare.
namespace troupe::bench {

/// One line of a CSV file: version,sampler,function,seed,evaluations,regret,seconds,duplicates.
struct RegretRow {
  std::string version;  ///< of the program: "troupe-1.2.0", "v5"
  std::string sampler;
  std::string function;
  std::uint64_t seed = 0;
  std::uint64_t evaluations = 0;
  double regret = 0;   ///< true value of the point with the best observation, less the optimum
  double seconds = 0;  ///< of CPU time, spent suggesting so far
  std::uint64_t duplicates = 0;

  /// "v5:tpe".
  [[nodiscard]] std::string who() const { return version + ':' + sampler; }
};

/// Without a line break.
[[nodiscard]] std::string to_csv(const RegretRow& row);
/// Throws Exception not_found or corrupt naming file, line and what was expected.
[[nodiscard]] std::vector<RegretRow> read_regret_rows(const std::filesystem::path& file);

/// Which functions of the suite to look at: searchers are developed on one half alone.
enum class Half : std::uint8_t { both, development, held_out };
[[nodiscard]] bool belongs(std::string_view function, Half half);

/// How one optimiser does beside another after a number of evaluations.
///
/// A function counts by the median regret over the seeds. Ratios are (ours + r) / (theirs + r), r
/// the function's resolution (1e-6 of the regret of a random point), clipped to [1e-3, 1e3]: no
/// function decides alone.
struct Comparison {
  std::size_t functions = 0;  ///< that both have; 0: nothing to compare, the other fields are 1
  double ratio = 1;           ///< geometric mean; below 1: ours is better
  double low = 1;             ///< 95 % interval of it, by bootstrap over the seeds
  double high = 1;
  double worst = 1;  ///< the greatest ratio of a single function
  std::string worst_function;
  int better = 0;  ///< functions where ours is better (Mann-Whitney, p < 0.05)
  int worse = 0;
};

/// The rows are those of one optimiser each; others than those of `evaluations` are left out.
[[nodiscard]] Comparison compare(const std::vector<RegretRow>& ours,
                                 const std::vector<RegretRow>& theirs, std::uint64_t evaluations,
                                 Half half);

/// Geometric mean over the functions of median regret / scale + resolution. 0 when there are no
/// rows.
[[nodiscard]] double score(const std::vector<RegretRow>& rows, std::uint64_t evaluations,
                           Half half);

}  // namespace troupe::bench
