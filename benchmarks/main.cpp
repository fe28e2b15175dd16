#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <string_view>

#include <unistd.h>

#include "benchmarks/benchmark.hpp"

namespace troupe::bench {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string summary;
  BenchmarkFunction run;
};

/// Sorted by name. A function: registrations of other sources may come first.
std::map<std::string, Entry>& benchmarks() {
  static std::map<std::string, Entry> all;
  return all;
}

void print_help() {
  std::puts(
      "Usage: troupe-bench <name> [--quick] [--folder <on a real disk>]\n\n"
      "Runs one benchmark; the last line of the output is one JSON object\n"
      "{\"name\":...,\"metrics\":{...}}. --quick does a tenth of the work.\n\nBenchmarks:");
  for (const auto& [name, entry] : benchmarks())
    std::printf("  %-14s %s\n", name.c_str(), entry.summary.c_str());
}

void print_result(const std::string& name, const BenchmarkResult& result) {
  std::string line = "{\"name\":\"" + name + "\",\"metrics\":{";
  for (const auto& [key, value] : result) {
    char number[32];
    std::snprintf(number, sizeof number, "%.6g", value);
    if (line.back() != '{')
      line += ',';
    line += '"' + key + "\":" + number;
  }
  std::printf("%s}}\n", line.c_str());
}

/// An empty folder for the benchmark, removed at the end.
class Folder {
public:
  explicit Folder(const std::string& parent) {
    const fs::path base = parent.empty()
                              ? fs::read_symlink("/proc/self/exe").parent_path() / "scratch"
                              : fs::path(parent);
    fs::create_directories(base);
    std::string pattern = (base / "bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw std::runtime_error("cannot make a folder in " + base.string());
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::string path_;
};

int run(int argc, char** argv) {
  std::string name, parent;
  BenchmarkArguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--help" || word == "-h")
      return print_help(), EXIT_SUCCESS;
    if (word == "--quick") {
      arguments.quick = true;
    } else if (word == "--folder" && i + 1 < argc) {
      parent = argv[++i];
    } else if (name.empty() && !word.starts_with("-")) {
      name = word;
    } else {
      std::fprintf(stderr, "troupe-bench: '%s' is not understood; see --help\n", argv[i]);
      return 2;
    }
  }
  const auto found = benchmarks().find(name);
  if (found == benchmarks().end()) {
    std::fprintf(
        stderr, "troupe-bench: %s; see --help\n",
        name.empty() ? "name a benchmark" : ("there is no benchmark '" + name + "'").c_str());
    return 2;
  }
  const Folder folder(parent);
  arguments.folder = folder.path();
  print_result(name, found->second.run(arguments));
  return EXIT_SUCCESS;
}

}  // namespace

BenchmarkRegistration::BenchmarkRegistration(std::string name, std::string summary,
                                             BenchmarkFunction run) {
  if (!benchmarks().emplace(name, Entry{std::move(summary), std::move(run)}).second) {
    std::fprintf(stderr, "troupe-bench: two benchmarks are called '%s'\n", name.c_str());
    std::abort();
  }
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double last = static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * last)];
}

}  // namespace troupe::bench

int main(int argc, char** argv) {
  if (troupe_bench_start != nullptr)
    troupe_bench_start(argc, argv);
  try {
    return troupe::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "troupe-bench: %s\n", error.what());
    return 1;
  }
}
