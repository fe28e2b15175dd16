#include <troupe/base/error.hpp>
#include <troupe/base/random.hpp>
#include <troupe/tune/search/searcher.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/benchmark.hpp"
#include "benchmarks/cpu_time.hpp"

/// What a suggestion costs after so many observations.
namespace troupe::bench {
namespace {

struct Subject {
  const char* searcher;
  const char* key;      ///< of the metrics: the searcher, and the kind of the parameters
  tune::Domain domain;  ///< of each parameter
  std::uint32_t most;   ///< observations it is made for
  /// Does it go by its own suggestions alone, as evolution does? Then it must make them all;
  /// others are given random observations.
  bool generations;
};

std::vector<Subject> subjects() {
  const tune::Domain reals = tune::uniform(-5, 5);
  return {{"random", "random", reals, 10'000, false},
          {"tpe", "tpe", reals, 10'000, false},
          {"tpe", "tpe_int", tune::lograndint(1, 1'001), 10'000, false},
          {"gp", "gp", reals, 1'000, false},
          {"cmaes", "cmaes", reals, 10'000, true},
          {"auto", "auto", reals, 1'000, false},
          {"nsga2", "nsga2", reals, 10'000, true}};
}

/// The distance from 1 on all axes, squared; whole numbers are logarithmic, and their target is 30.
double value(const Config& config) {
  double sum = 0;
  for (const auto& [path, x] : config) {
    const double distance = x.is_int() ? std::log(x.as_double() / 30) : x.as_double() - 1;
    sum += distance * distance;
  }
  return sum;
}

/// A search in a box of so many dimensions.
class Bench {
public:
  Bench(const Subject& subject, std::size_t dimensions)
      : dimensions_(dimensions),
        domain_(subject.domain),
        searcher_(tune::make_searcher(subject.searcher, {}).value_or_throw()) {
    tune::SearchContext context;
    for (std::size_t i = 0; i < dimensions; ++i)
      context.space.add("x" + std::to_string(i), domain_);
    context.objectives = {{"loss", Mode::min}};
    searcher_->setup(context).value_or_throw();
  }

  /// One suggestion and its result.
  void ask_and_tell() {
    const TrialId trial(next_);
    const tune::Suggestion suggestion = searcher_->suggest(trial).value_or_throw();
    if (suggestion.kind != tune::Suggestion::Kind::config)
      throw Exception(ErrorCode::internal, searcher_->name() + " has nothing to suggest");
    tell(suggestion.config, suggestion.note);
  }

  /// A random point and its result, as if it had been added by hand.
  void add_random() {
    Random random(1, next_, RandomPurpose::test);
    Config config;
    for (std::size_t i = 0; i < dimensions_; ++i)
      config.set("x" + std::to_string(i), domain_.sample(random));
    tell(config, {});
  }

private:
  void tell(const Config& config, const Value& note) {
    const TrialId trial(next_++);
    searcher_->record(trial, config, note);
    const Metrics metrics{{"loss", value(config)}, {"training_iteration", 1}};
    searcher_->on_complete(trial, Ending::finished, &metrics);
  }

  std::size_t dimensions_;
  tune::Domain domain_;
  std::unique_ptr<tune::Searcher> searcher_;
  std::uint32_t next_ = 0;
};

/// Milliseconds of CPU for ask + tell, on the mean over the later half of so many. One at a certain
/// place says little: what it costs depends on how far its generation is.
double of_generations(const Subject& subject, std::size_t dimensions, std::uint32_t observations) {
  Bench bench(subject, dimensions);
  const std::uint32_t before = observations / 2;
  for (std::uint32_t i = 0; i < before; ++i)
    bench.ask_and_tell();
  const double start = cpu_seconds();
  for (std::uint32_t i = before; i < observations; ++i)
    bench.ask_and_tell();
  return 1e3 * (cpu_seconds() - start) / (observations - before);
}

/// The median of several ask + tell after `observations`, in milliseconds of CPU.
double after_observations(const Subject& subject, std::size_t dimensions,
                          std::uint32_t observations, bool quick) {
  Bench bench(subject, dimensions);
  for (std::uint32_t i = 0; i < observations; ++i)
    bench.add_random();
  // The first one builds caches that the following ones keep up to date.
  bench.ask_and_tell();
  std::vector<double> samples;
  const double start = cpu_seconds();
  const double enough = quick ? 0.1 : 1.0;
  while (samples.size() < 5 || (samples.size() < 51 && cpu_seconds() - start < enough)) {
    const double before = cpu_seconds();
    bench.ask_and_tell();
    samples.push_back(1e3 * (cpu_seconds() - before));
  }
  return median(samples);
}

/// Nothing: all.
bool chosen(const std::string& names, const std::string& name) {
  if (names.empty())
    return true;
  std::istringstream stream(names);
  for (std::string part; std::getline(stream, part, ',');)
    if (part == name)
      return true;
  return false;
}

BenchmarkResult run(const BenchmarkArguments& arguments) {
  std::puts(
      "ask + tell of one suggestion after n observations in d dimensions: median, CPU ms of one\n"
      "thread; of cmaes and nsga2, which cost now more, now less, the mean from n/2 to n.\n"
      "Parameters are real, or logarithmic integers up to 1,000 (int). Searchers that this build\n"
      "does not have are left out.");
  const std::string names = arguments.option("searcher", "");
  const std::uint64_t most = arguments.number("most", arguments.quick ? 100 : 10'000, 1, 1'000'000);
  BenchmarkResult result;
  for (const Subject& subject : subjects()) {
    if (!chosen(names, subject.searcher))
      continue;
    if (!tune::make_searcher(subject.searcher, {})) {
      std::printf("%s is not there\n", subject.searcher);
      continue;
    }
    for (const std::size_t dimensions : {5U, 10U, 50U})
      for (const std::uint32_t observations : {100U, 500U, 1'000U, 10'000U}) {
        if (observations > subject.most || observations > most)
          continue;
        const std::string key = std::string(subject.key) + "_d" + std::to_string(dimensions) +
                                "_n" + std::to_string(observations) + "_ms";
        result.emplace_back(
            key, subject.generations
                     ? of_generations(subject, dimensions, observations)
                     : after_observations(subject, dimensions, observations, arguments.quick));
        std::printf("%-24s %10.4f\n", key.c_str(), result.back().second);
        std::fflush(stdout);
      }
  }
  return result;
}

const BenchmarkRegistration registration{
    "suggest",
    "what a suggestion costs after 100 to 10,000 observations",
    run,
    {{"searcher", "NAME,NAME", "only these"}, {"most", "N", "observations at most (10,000)"}}};

}  // namespace
}  // namespace troupe::bench
