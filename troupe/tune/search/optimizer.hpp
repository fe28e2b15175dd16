#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::tune {

/// A search algorithm in a loop of your own, without trials, workers or a journal: ask for
/// configurations, tell what came of them.
///
///     tune::Optimizer optimizer(*tune::random_search(),
///                               {.space = {{"x", tune::uniform(-10, 10)}},
///                                .objectives = {{"loss", Mode::min}}, .num_samples = 100});
///     while (auto asked = optimizer.ask())
///       optimizer.tell(asked->id, {{"loss", f(asked->config.at("x").as_double())}});
///     std::cout << optimizer.best()->config << '\n';
///
/// What is asked for and not told yet is pending, and searchers take it into account. The order of
/// asks and tells and the seed decide everything: the same calls give the same configurations, on
/// any number of threads of yours, and after `restore`.
///
/// Needs no CAF and no RocksDB: link `troupe::algorithms`. Thread rules: one thread at a time.
/// Errors are thrown as `Exception`: invalid_argument for a space, points or settings that do not
/// suit, not_found for an id that is not pending.
class Optimizer {
public:
  struct Asked {
    TrialId id{};
    Config config{};
  };
  /// What was told, or is pending.
  struct Trial {
    TrialId id{};
    Config config{};
    Metrics metrics{};  ///< told or reported last
    bool pending = true;
    Ending ending = Ending::finished;  ///< when it is not pending
  };

  /// Copies the searcher.
  Optimizer(const Searcher& searcher, SearchContext context);
  Optimizer(Optimizer&&) noexcept;
  Optimizer& operator=(Optimizer&&) noexcept;
  ~Optimizer();

  /// This configuration comes next, after others that wait; parameters that it leaves out are drawn
  /// at random. It counts as a sample, but comes even if there are no others any more.
  /// invalid_argument naming the parameter that the space has not, or not with this value.
  void enqueue(Config config);
  /// A result from elsewhere: it becomes a trial that is over, searchers learn from it, and it may
  /// be the best. It counts as a sample; those of `SearchContext::known_results` do not, and come
  /// before the first trial. invalid_argument for a configuration that is not one of the space.
  void add(KnownResult result);

  /// The next configuration. Nothing: there is none now; `exhausted` tells whether there will be
  /// one when something was told.
  [[nodiscard]] std::optional<Asked> ask();
  /// Up to `count` of them at once, for so many workers.
  [[nodiscard]] std::vector<Asked> ask(std::size_t count);
  /// There will never be another configuration.
  [[nodiscard]] bool exhausted() const { return exhausted_; }

  /// A result on the way: `step` 1, 2, ... of the trial. For searchers that learn from them.
  void report(TrialId id, std::uint64_t step, Metrics metrics);
  /// It ended by itself, with these metrics: the objectives and constraints must be among them, or
  /// it counts as failed.
  void tell(TrialId id, Metrics metrics);
  /// The same for one objective without constraints.
  void tell(TrialId id, double value);
  /// It was ended early, after what was reported last.
  void tell_pruned(TrialId id);
  /// It failed, or crashed: searchers keep away from there.
  void tell_failed(TrialId id);

  /// The best complete one: feasible, with a number as first objective. Nothing: none yet.
  [[nodiscard]] std::optional<Trial> best() const;
  /// All of them in the order in which they were asked for.
  [[nodiscard]] const std::map<TrialId, Trial>& trials() const { return trials_; }

  /// Everything that is needed to go on, as data; `to_json` and `encode` write it.
  [[nodiscard]] Value save() const;
  /// Goes on where `save` was called, with the same searcher, options, space, objectives,
  /// constraints and seed. corrupt otherwise, naming what differs, and then nothing has changed.
  [[nodiscard]] Status restore(const Value& state);

  /// What of the settings could not be used, in words: known results that do not fit the space.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

private:
  [[nodiscard]] TrialId next_id() const;
  Asked begin(TrialId id, Suggestion suggestion);
  Trial& pending(TrialId id);
  void end(Trial& trial, Ending ending);
  [[nodiscard]] bool feasible(const Metrics& metrics) const;

  SearchContext context_;
  std::unique_ptr<Searcher> searcher_;
  std::map<TrialId, Trial> trials_;
  std::deque<Config> queue_;
  std::vector<std::string> warnings_;
  bool exhausted_ = false;
};

}  // namespace troupe::tune
