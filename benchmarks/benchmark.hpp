#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

/// The frame of `troupe-bench`: a benchmark is a function with a name in a source of its own.
///
///     namespace {
///     BenchmarkResult run(const BenchmarkArguments& arguments) { ... }
///     const BenchmarkRegistration registration{"commit", "what it measures", run};
///     }
///
/// It prints what it does and what it compares with as it goes; the frame prints the metrics as one
/// JSON object on the last line: {"name":"commit","metrics":{"accepted_per_s":1234.5}}.
namespace troupe::bench {

struct BenchmarkArguments {
  std::string folder;  ///< an empty folder on a real disk, removed afterwards
  bool quick = false;  ///< a tenth of the work: to see that it runs, not to measure
};

/// Names and values in the order they are printed. Units are in the names.
using BenchmarkResult = std::vector<std::pair<std::string, double>>;

using BenchmarkFunction = std::function<BenchmarkResult(const BenchmarkArguments&)>;

/// Adds a benchmark to the list of the program; a static object in its source.
class BenchmarkRegistration {
public:
  BenchmarkRegistration(std::string name, std::string summary, BenchmarkFunction run);
};

/// The middle one of the values; of an even number the lower one. Not of none.
[[nodiscard]] double median(std::vector<double> values);
/// The value below which a share of them lies, `share` in [0, 1]. Not of none.
[[nodiscard]] double quantile(std::vector<double> values, double share);

}  // namespace troupe::bench

/// Called first in `main`; defined where worker processes are this program (workers.cpp).
__attribute__((weak)) void troupe_bench_start(int argc, char** argv);
