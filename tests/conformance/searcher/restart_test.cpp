#include <troupe/base/random.hpp>
#include <troupe/serialization/value_codec.hpp>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/support/instrumented.hpp>

#include "subjects.hpp"

// A restart between any two events does not show: 25 trials, a restart and 25 more are the same as
// 50, with any number of workers that tell in the same order.

namespace troupe::tune {
namespace {

/// What varies from seed to seed, so that all that a searcher keeps is kept.
SearchContext context_for(const Subject& subject, std::uint64_t seed) {
  SearchContext context{.space = {{"x", uniform(-1, 1)},
                                  {"lr", loguniform(1e-4, 1e-1)},
                                  {"n", randint(0, 30)},
                                  {"kind", choice({"a", "b"})},
                                  {"depth", when("kind", {"a"}, lograndint(1, 41))}},
                        .objectives = {{"loss", Mode::min}},
                        .seed = seed};
  if (subject.numbers_only)
    context.space = {{"x", uniform(-1, 1)}, {"lr", loguniform(1e-4, 1e-1)}, {"n", randint(0, 30)}};
  if (subject.finite_only)
    context.space = {{"x", quniform(-1, 1, 0.125)}, {"n", randint(0, 30)}};
  if (seed % 3 == 0)
    context.constraints = {"excess"};
  if (seed % 5 == 0)
    context.points_to_evaluate = {{{"x", 0.5}}, {{"n", 7}}};
  if (seed % 4 == 0) {
    context.objectives.push_back({"size", Mode::max});
    if (!serves(subject, context))
      context.objectives.pop_back();  // it serves one
  }
  return context;
}

std::unique_ptr<Searcher> begin(const Subject& subject, const SearchContext& context) {
  auto searcher = subject.searcher->clone();
  searcher->setup(context).value_or_throw();
  return searcher;
}

/// One search, and from the restart on a second one, which was restored from its bytes.
class Restarted {
public:
  Restarted(const Subject& subject, std::uint64_t seed, std::uint32_t trials)
      : subject_(subject),
        context_(context_for(subject, seed)),
        random_(seed, 0, RandomPurpose::test),
        trials_(trials),
        workers_(1 + random_.below(8)),
        restart_at_(static_cast<std::uint32_t>(1 + random_.below(trials - 1))) {
    searches_.push_back(begin(subject, context_));
  }

  /// The first difference, or nothing.
  std::string run() {
    while (configs_.size() < trials_ && difference_.empty()) {
      if (configs_.size() == restart_at_ && searches_.size() == 1)
        restart();
      if (running_.size() >= workers_ || !ask())
        tell();
    }
    return difference_;
  }

private:
  void restart() {
    const std::string bytes = encode_value(searches_[0]->save());
    auto restored = begin(subject_, context_);
    restored->restore(decode_value(bytes).value_or_throw()).value_or_throw();
    searches_.push_back(std::move(restored));
  }

  bool ask() {
    const TrialId trial(static_cast<TrialId::rep>(configs_.size()));
    const Suggestion first = searches_.front()->suggest(trial).value_or_throw();
    const Suggestion last = searches_.back()->suggest(trial).value_or_throw();
    if (first.kind != last.kind || first.config != last.config || first.note != last.note)
      difference_ = subject_.name + ", seed " + std::to_string(context_.seed) + ": restarted at " +
                    std::to_string(restart_at_) + ", differs at " + std::to_string(trial.value);
    if (first.kind != Suggestion::Kind::config)
      return false;
    for (const auto& search : searches_)
      search->record(trial, first.config, first.note);
    configs_.push_back(first.config);
    running_.push_back(trial);
    return true;
  }

  /// A result of any of the trials that run, after which it may go on.
  void tell() {
    REQUIRE(!running_.empty());
    const std::size_t place = random_.below(running_.size());
    const TrialId trial = running_[place];
    const Metrics metrics = metrics_of(configs_[trial.value]);
    if (random_.chance(0.2)) {
      for (const auto& search : searches_)
        search->on_result(trial, metrics);
      return;
    }
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(place));
    const std::uint64_t draw = random_.below(10);
    const Ending ending = draw == 0   ? Ending::failed
                          : draw == 1 ? Ending::stopped
                                      : Ending::finished;
    for (const auto& search : searches_)
      search->on_complete(trial, ending, ending == Ending::failed ? nullptr : &metrics);
  }

  Metrics metrics_of(const Config& config) {
    const double x = config.at("x").as_double();
    const auto n = static_cast<double>(config.at("n").as_int());
    const double loss = std::pow(x - 0.3, 2) + std::pow(n / 10 - 1.7, 2);
    return {{"training_iteration", random_.uniform_int(1, 9)},
            {"loss", random_.chance(0.1) ? std::nan("") : loss},
            {"size", x * n},
            {"excess", x - 0.8}};
  }

  const Subject& subject_;
  SearchContext context_;
  Random random_;
  std::size_t trials_;
  std::size_t workers_;
  std::size_t restart_at_;
  std::vector<std::unique_ptr<Searcher>> searches_;
  std::vector<Config> configs_;
  std::vector<TrialId> running_;
  std::string difference_;
};

/// So many that it suggests according to results for a while.
std::uint32_t trials_of(const Subject& subject, std::uint64_t seed) {
  if (subject.name.starts_with("nsga"))
    return 120;  // the first generation are 50
  // Gaussian processes of a few points are enough to tell, most of the time.
  return subject.slow && seed > (testing::instrumented ? 1 : 4) ? 18 : 50;
}

TEST_CASE("every searcher goes on after a restart as if there had been none") {
  for (const Subject& subject : subjects())
    for (std::uint64_t seed = 1; seed <= (testing::instrumented ? 10 : 100); ++seed)
      CHECK(Restarted(subject, seed, trials_of(subject, seed)).run() == "");
}

}  // namespace
}  // namespace troupe::tune
