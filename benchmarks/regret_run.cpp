#include "benchmarks/regret_run.hpp"

#include <troupe/base/random.hpp>
#include <troupe/base/version.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/searcher.hpp>

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "benchmarks/cpu_time.hpp"

namespace troupe::bench {
namespace {

/// The state of a search as its rows show it.
class Search {
public:
  Search(const TestFunction& function, const RegretRun& run)
      : function_(function),
        run_(run),
        searcher_(tune::make_searcher(run.searcher, run.options).value_or_throw()) {
    tune::SearchContext context;
    context.space = function.space;
    context.objectives = {{"loss", Mode::min}};
    context.seed = run.seed;
    context.num_samples = run.budget;
    for (const std::uint64_t count : checkpoints(run.budget))
      checkpoints_.push_back(count);
    searcher_->setup(context).value_or_throw();
  }

  /// To the end of the budget; rows at all checkpoints.
  std::vector<RegretRow> run() {
    bool more = true;
    while (more && told_ < run_.budget)
      more = batch(std::min(run_.parallel, run_.budget - told_));
    // Exhausted before: what is there stays.
    for (; !checkpoints_.empty(); checkpoints_.pop_front())
      rows_.push_back(row(checkpoints_.front()));
    return rows_;
  }

private:
  /// Asks for at most `count` configurations and tells their values. False: there are no more.
  bool batch(std::uint64_t count) {
    std::vector<Config> configs;
    const double start = cpu_seconds();
    bool more = true;
    while (more && configs.size() < count) {
      const TrialId trial(static_cast<std::uint32_t>(told_ + configs.size()));
      const tune::Suggestion suggestion = searcher_->suggest(trial).value_or_throw();
      more = suggestion.kind == tune::Suggestion::Kind::config;
      if (more) {
        searcher_->record(trial, suggestion.config, suggestion.note);
        configs.push_back(suggestion.config);
      } else if (suggestion.kind == tune::Suggestion::Kind::nothing_now && !configs.empty()) {
        more = true;
        break;
      }
    }
    seconds_ += cpu_seconds() - start;
    for (const Config& config : configs)
      tell(config);
    return more;
  }

  void tell(const Config& config) {
    const TrialId trial(static_cast<std::uint32_t>(told_));
    const double value = function_.value(config);
    Random random(run_.seed, told_, RandomPurpose::test);
    const double observed = value + function_.noise * random.normal();
    if (observed < observed_) {
      observed_ = observed;
      true_value_ = value;
    }
    if (!seen_.insert(to_json(config)).second)
      ++duplicates_;
    const Metrics metrics{{"loss", observed}, {"training_iteration", 1}};
    const double start = cpu_seconds();
    searcher_->on_complete(trial, Ending::finished, &metrics);
    seconds_ += cpu_seconds() - start;
    ++told_;
    if (told_ == checkpoints_.front()) {
      rows_.push_back(row(told_));
      checkpoints_.pop_front();
    }
  }

  [[nodiscard]] RegretRow row(std::uint64_t evaluations) const {
    RegretRow result{"troupe-" + std::string(version_string), run_.searcher, function_.name};
    if (run_.parallel > 1)
      result.sampler += "_p" + std::to_string(run_.parallel);
    result.seed = run_.seed;
    result.evaluations = evaluations;
    result.regret = true_value_ - function_.optimum;
    result.seconds = seconds_;
    result.duplicates = duplicates_;
    return result;
  }

  const TestFunction& function_;
  const RegretRun run_;
  std::unique_ptr<tune::Searcher> searcher_;
  std::set<std::string> seen_;
  std::deque<std::uint64_t> checkpoints_;  ///< that are to come
  std::vector<RegretRow> rows_;
  std::uint64_t told_ = 0;
  std::uint64_t duplicates_ = 0;
  double seconds_ = 0;
  double observed_ = std::numeric_limits<double>::infinity();
  double true_value_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<std::uint64_t> checkpoints(std::uint64_t budget) {
  std::vector<std::uint64_t> result;
  for (const std::uint64_t count : {25U, 50U, 96U, 100U, 150U, 200U})
    if (count < budget)
      result.push_back(count);
  for (std::uint64_t count = 300; count < budget; count += 100)
    result.push_back(count);
  result.push_back(budget);
  return result;
}

std::vector<RegretRow> run_regret(const TestFunction& function, const RegretRun& run) {
  return Search(function, run).run();
}

}  // namespace troupe::bench
