#include <troupe/base/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <span>
#include <string_view>

#include <unistd.h>

#include "benchmarks/benchmark.hpp"

namespace troupe::bench {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string summary;
  BenchmarkFunction run;
  std::vector<BenchmarkOption> options;

  [[nodiscard]] bool knows(std::string_view option) const {
    return std::any_of(options.begin(), options.end(),
                       [&](const BenchmarkOption& known) { return known.name == option; });
  }
};

/// Sorted by name. A function: registrations of other sources may come first.
std::map<std::string, Entry>& benchmarks() {
  static std::map<std::string, Entry> all;
  return all;
}

void print_help() {
  std::puts(
      "Usage: troupe-bench <name> [--quick] [--folder <on a real disk>] [its own options]\n\n"
      "Runs one benchmark; the last line of the output is one JSON object\n"
      "{\"name\":...,\"metrics\":{...}}. --quick does a tenth of the work.\n\nBenchmarks:");
  for (const auto& [name, entry] : benchmarks()) {
    std::printf("  %-14s %s\n", name.c_str(), entry.summary.c_str());
    for (const BenchmarkOption& option : entry.options)
      std::printf("      %-26s %s\n", ("--" + option.name + ' ' + option.value).c_str(),
                  option.summary.c_str());
  }
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

int usage_error(const std::string& message) {
  std::fprintf(stderr, "troupe-bench: %s; see --help\n", message.c_str());
  return 2;
}

/// `argv` without the program: the name of a benchmark first.
int run(std::span<char* const> words) {
  std::string parent;
  BenchmarkArguments arguments;
  if (words.empty())
    return usage_error("name a benchmark");
  for (const std::string_view word : words)
    if (word == "--help" || word == "-h")
      return print_help(), EXIT_SUCCESS;
  const std::string name = words.front();
  const auto found = benchmarks().find(name);
  if (found == benchmarks().end())
    return usage_error("there is no benchmark '" + name + "'");
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--quick") {
      arguments.quick = true;
      continue;
    }
    const bool known =
        word.starts_with("--") && (word == "--folder" || found->second.knows(word.substr(2)));
    if (!known)
      return usage_error(name + " does not understand '" + std::string(word) + "'");
    if (i + 1 == words.size())
      return usage_error("a value is missing after " + std::string(word));
    if (word == "--folder")
      parent = words[++i];
    else
      arguments.options[std::string(word.substr(2))] = words[i + 1], ++i;
  }
  const Folder folder(parent);
  arguments.folder = folder.path();
  print_result(name, found->second.run(arguments));
  return EXIT_SUCCESS;
}

}  // namespace

BenchmarkRegistration::BenchmarkRegistration(std::string name, std::string summary,
                                             BenchmarkFunction run,
                                             std::vector<BenchmarkOption> options) {
  Entry entry{std::move(summary), std::move(run), std::move(options)};
  if (!benchmarks().emplace(name, std::move(entry)).second) {
    std::fprintf(stderr, "troupe-bench: two benchmarks are called '%s'\n", name.c_str());
    std::abort();
  }
}

std::string BenchmarkArguments::option(const std::string& name, const std::string& fallback) const {
  const auto found = options.find(name);
  return found == options.end() ? fallback : found->second;
}

std::uint64_t BenchmarkArguments::number(const std::string& name, std::uint64_t fallback,
                                         std::uint64_t least, std::uint64_t most) const {
  const std::string text = option(name, std::to_string(fallback));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw Exception(ErrorCode::invalid_argument,
                    "--" + name + " is '" + text + "', expected a whole number from " +
                        std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
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
    return troupe::bench::run(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "troupe-bench: %s\n", error.what());
    return 1;
  }
}
