#pragma once

#include <cstdint>
#include <functional>
#include <map>
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
  std::map<std::string, std::string> options{};  ///< those given, by name without dashes

  /// What `--<name>` says, or `fallback`.
  [[nodiscard]] std::string option(const std::string& name, const std::string& fallback) const;
  /// As a whole number of [least, most]. Throws Exception invalid_argument naming the option.
  [[nodiscard]] std::uint64_t number(const std::string& name, std::uint64_t fallback,
                                     std::uint64_t least, std::uint64_t most) const;
};

/// `--name <value>`, for one benchmark alone.
struct BenchmarkOption {
  std::string name;
  std::string value;  ///< what stands for it in the help: "N"
  std::string summary;
};

/// Names and values in the order they are printed. Units are in the names.
using BenchmarkResult = std::vector<std::pair<std::string, double>>;

using BenchmarkFunction = std::function<BenchmarkResult(const BenchmarkArguments&)>;

/// Adds a benchmark to the list of the program; a static object in its source.
class BenchmarkRegistration {
public:
  BenchmarkRegistration(std::string name, std::string summary, BenchmarkFunction run,
                        std::vector<BenchmarkOption> options = {});
};

/// The middle one of the values; of an even number the lower one. Not of none.
[[nodiscard]] double median(std::vector<double> values);
/// The value below which a share of them lies, `share` in [0, 1]. Not of none.
[[nodiscard]] double quantile(std::vector<double> values, double share);

}  // namespace troupe::bench

/// Called first in `main`; defined where worker processes are this program (workers.cpp).
__attribute__((weak)) void troupe_bench_start(int argc, char** argv);
