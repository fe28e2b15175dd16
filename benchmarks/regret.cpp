#include <troupe/base/error.hpp>
#include <troupe/serialization/json.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "benchmarks/benchmark.hpp"
#include "benchmarks/regret_rows.hpp"
#include "benchmarks/regret_run.hpp"
#include "benchmarks/suite.hpp"

/// How close searchers come to the known minima of test functions, beside other optimisers.
namespace troupe::bench {
namespace {

/// Who is compared with whom, by the names of their rows: "v5:tpe".
struct Contest {
  std::string ours;
  std::vector<RegretRow> rows;
  std::vector<std::string> others;
  std::vector<RegretRow> other_rows;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');)
    parts.push_back(part);
  return parts;
}

std::vector<RegretRow> rows_of(const std::vector<RegretRow>& rows, const std::string& who) {
  std::vector<RegretRow> result;
  for (const RegretRow& row : rows)
    if (row.who() == who)
      result.push_back(row);
  return result;
}

/// Rows go to a file or to standard output as soon as a search is over.
class Output {
public:
  explicit Output(const std::string& file) {
    if (file.empty())
      return;
    file_.open(file);
    if (!file_)
      throw Exception(ErrorCode::invalid_argument, "--output: cannot write " + file);
  }
  void write(const std::vector<RegretRow>& rows) {
    for (const RegretRow& row : rows) {
      if (file_.is_open())
        file_ << to_csv(row) << '\n' << std::flush;
      else
        std::printf("%s\n", to_csv(row).c_str());
    }
    std::fflush(stdout);
  }

private:
  std::ofstream file_;
};

std::vector<const TestFunction*> chosen_functions(const BenchmarkArguments& arguments) {
  std::vector<const TestFunction*> functions;
  for (const std::string& name : split(arguments.option("function", "")))
    functions.push_back(&test_function(name));
  if (functions.empty())
    for (const TestFunction& function : suite())
      functions.push_back(&function);
  return functions;
}

/// All functions with all seeds, the rows in order of (function, seed) whatever the threads do.
std::vector<RegretRow> run_all(const BenchmarkArguments& arguments) {
  RegretRun run;
  run.searcher = arguments.option("searcher", "");
  if (const std::string options = arguments.option("options", ""); !options.empty())
    run.options = parse_json(options).value_or_throw();
  run.budget = arguments.number("budget", arguments.quick ? 25 : 100, 1, 1'000'000);
  run.parallel = arguments.number("parallel", 1, 1, 1024);
  const std::uint64_t seeds = arguments.number("seeds", arguments.quick ? 2 : 10, 1, 10'000);
  const auto functions = chosen_functions(arguments);

  Output output(arguments.option("output", ""));
  std::vector<std::vector<RegretRow>> results(functions.size() * seeds);
  std::vector<bool> ready(results.size());
  std::size_t written = 0;
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t job = next++; job < results.size(); job = next++) {
      try {
        RegretRun mine = run;
        mine.seed = job % seeds;
        auto rows = run_regret(*functions[job / seeds], mine);
        const std::lock_guard lock(mutex);
        results[job] = std::move(rows);
        ready[job] = true;
        for (; written < results.size() && ready[written]; ++written)
          output.write(results[written]);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        next = results.size();
      }
    }
  };
  std::vector<std::jthread> threads;
  for (std::uint64_t i = 1; i < arguments.number("threads", 1, 1, 2); ++i)
    threads.emplace_back(work);
  work();
  threads.clear();
  if (failure)
    std::rethrow_exception(failure);

  std::vector<RegretRow> all;
  for (auto& rows : results)
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

/// Without a searcher, rows of earlier runs are compared.
Contest prepare(const BenchmarkArguments& arguments) {
  Contest contest;
  const std::string rows = arguments.option("rows", "");
  if (rows.empty() == arguments.option("searcher", "").empty()) {
    throw Exception(ErrorCode::invalid_argument,
                    "regret needs either --searcher <name>, which is run, or --rows <file> and "
                    "--who <version:sampler>, which are compared");
  }
  if (rows.empty()) {
    contest.rows = run_all(arguments);
    contest.ours = contest.rows.front().who();
  } else {
    contest.ours = arguments.option("who", "");
    contest.rows = rows_of(read_regret_rows(rows), contest.ours);
    if (contest.rows.empty())
      throw Exception(ErrorCode::not_found, "--who: no rows of '" + contest.ours + "' in " + rows);
  }
  contest.others = split(arguments.option("against", "v5:tpe,v5:gp,v5:cma,v5:random"));
  contest.other_rows = read_regret_rows(arguments.option("anchors", TROUPE_ANCHORS));
  return contest;
}

std::string label(Half half) {
  return half == Half::both ? "" : half == Half::development ? "_development" : "_held_out";
}

/// v5:tpe as part of a key: v5_tpe.
std::string key_of(std::string who) {
  std::replace_if(
      who.begin(), who.end(), [](char c) { return c == ':' || c == '.' || c == '-'; }, '_');
  return who;
}

void compare_all(const Contest& contest, std::uint64_t evaluations, Half half,
                 BenchmarkResult& result) {
  const std::string prefix = "n" + std::to_string(evaluations);
  const double ours = score(contest.rows, evaluations, half);
  if (ours <= 0)
    return;
  result.emplace_back(prefix + "_score" + label(half), ours);
  for (const std::string& other : contest.others) {
    const Comparison comparison =
        compare(contest.rows, rows_of(contest.other_rows, other), evaluations, half);
    if (comparison.functions == 0)
      continue;
    const std::string key = prefix + "_ratio_" + key_of(other) + label(half);
    result.emplace_back(key, comparison.ratio);
    result.emplace_back(key + "_low", comparison.low);
    result.emplace_back(key + "_high", comparison.high);
    if (half == Half::both) {
      result.emplace_back(key + "_worst", comparison.worst);
      result.emplace_back(key + "_better", comparison.better);
      result.emplace_back(key + "_worse", comparison.worse);
    }
    std::printf(
        "N=%-5llu %-12s vs %-14s %2zu functions  ratio %7.3f [%.3f, %.3f]  better/worse "
        "%d/%d  worst %.3g on %s\n",
        static_cast<unsigned long long>(evaluations),
        half == Half::both ? "all" : label(half).c_str() + 1, other.c_str(), comparison.functions,
        comparison.ratio, comparison.low, comparison.high, comparison.better, comparison.worse,
        comparison.worst, comparison.worst_function.c_str());
  }
}

BenchmarkResult run(const BenchmarkArguments& arguments) {
  const Contest contest = prepare(arguments);
  std::vector<std::uint64_t> budgets;
  double seconds = 0;
  for (const RegretRow& row : contest.rows) {
    budgets.push_back(row.evaluations);
    seconds = std::max(seconds, row.seconds);
  }
  std::sort(budgets.begin(), budgets.end());
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  std::printf(
      "%s: regret relative to others (below 1: ours is less), 95 %% by bootstrap over seeds\n",
      contest.ours.c_str());
  BenchmarkResult result;
  for (const std::uint64_t budget : budgets)
    for (const Half half : {Half::both, Half::development, Half::held_out})
      compare_all(contest, budget, half, result);
  result.emplace_back("slowest_search_cpu_s", seconds);
  return result;
}

const BenchmarkRegistration registration{
    "regret",
    "how close searchers come to known minima, beside other optimisers",
    run,
    {{"searcher", "NAME", "which one to run: tpe, gp, cmaes, auto, ..."},
     {"options", "JSON", "of the searcher"},
     {"budget", "N", "evaluations a search (100)"},
     {"seeds", "K", "searches a function, seeds 0 to K - 1 (10)"},
     {"function", "F,G", "only these test functions"},
     {"parallel", "P", "ask P, then tell P (1)"},
     {"threads", "T", "searches at a time, 1 or 2 (1)"},
     {"output", "FILE", "where the rows go (standard output)"},
     {"rows", "FILE", "instead of a run: rows of earlier ones"},
     {"who", "VERSION:SAMPLER", "whose of them"},
     {"against", "V:S,W:T", "whom to compare with (v5:tpe,v5:gp,v5:cma,v5:random)"},
     {"anchors", "FILE", "rows of the others (those measured before)"}}};

}  // namespace
}  // namespace troupe::bench
