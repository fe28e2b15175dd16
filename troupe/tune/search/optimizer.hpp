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

namespace detail {
class Design;
}

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
/// Errors are thrown as `Exception`: invalid_argument for a space, points, settings or results that
/// do not suit, not_found for an id that is not pending, user_code when a searcher of your own
/// throws, naming it and the call. A call that throws changes nothing but, then, what that searcher
/// took in.
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
  /// at random, until all rules of the space hold that the given values do not break by themselves.
  /// It counts as a sample, but comes even if there are no others any more.
  /// invalid_argument naming the parameter that the space has not, or not with this value, or that
  /// does not exist by the other values: a parameter with a condition needs what it depends on.
  void enqueue(Config config);
  /// A result from elsewhere: it becomes a trial that is over, searchers learn from it, and it may
  /// be the best. It counts as a sample; those of `SearchContext::known_results` do not, and come
  /// before the first trial. invalid_argument for what is not a whole configuration of the space
  /// that keeps its rules, and where an objective or constraint is missing although it did not fail
  /// (one that was stopped may have no metrics at all).
  void add(KnownResult result);

  /// The next configuration. Nothing: there is none now; `exhausted` tells whether there will be
  /// one when something was told. user_code when a searcher of your own suggests what the space
  /// does not know.
  [[nodiscard]] std::optional<Asked> ask();
  /// Up to `count` of them at once, for so many workers.
  [[nodiscard]] std::vector<Asked> ask(std::size_t count);
  /// There will never be another configuration, as the last `ask` found. After `restore` with
  /// another `num_samples` the next `ask` finds it out anew.
  [[nodiscard]] bool exhausted() const { return exhausted_; }

  /// A result on the way, after `step` = 1, 2, ... of the trial; steps may be left out, and each is
  /// beyond the one before. For searchers that learn from them. Has all objectives and constraints,
  /// which are all that searchers get of it; other metrics are kept until the next result.
  void report(TrialId id, std::uint64_t step, Metrics metrics);
  /// It ended by itself, with these metrics. All objectives and constraints must be among them, as
  /// numbers; null stands for one that could not be measured, and is NaN: then the searcher takes
  /// the trial for failed. "training_iteration", if it is there, is no less than the last step.
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

  /// Everything that is needed to go on, as data: what happened, and what the searcher had in mind.
  /// `to_json` and `encode_value` write it. It grows with every call: by some 130 bytes of JSON a
  /// trial of three parameters (with `gp`, which notes what it fitted, by more), and 70 a report
  /// with one objective (200,000 reports: 14 MB). Beyond 16 MiB `parse_json` needs a larger
  /// `JsonLimits::max_bytes`, beyond a million calls `max_entries`, too.
  [[nodiscard]] Value save() const;
  /// Goes on where `save` was called, with the same searcher, options and `SearchContext`, of which
  /// only `num_samples` may differ. Everything that happened happens again, except that nothing is
  /// suggested anew. corrupt for what is no such data or contradicts itself, naming the entry;
  /// invalid_argument for other settings, naming the first that differs with both values; user_code
  /// when a searcher of your own throws. Then nothing has changed.
  [[nodiscard]] Status restore(const Value& state);

  /// What of the settings could not be used, in words: known results that do not fit the space.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

private:
  [[nodiscard]] TrialId next_id() const;
  Asked begin(Suggestion suggestion);
  void put(Config config);
  Trial& pending(TrialId id);
  void end_early(TrialId id, Ending ending, const char* entry);
  [[nodiscard]] Metrics learned(const Metrics& metrics) const;
  void shorten_report(TrialId id);
  [[nodiscard]] Status check_result(const Metrics& metrics) const;
  [[nodiscard]] bool feasible(const Metrics& metrics) const;
  [[nodiscard]] Value setting() const;
  [[nodiscard]] Value samples() const;
  [[nodiscard]] Status take(const Value& entry);
  [[nodiscard]] Status take_trial(const List& entry);

  SearchContext context_;
  std::shared_ptr<const detail::Design> design_;  ///< of the space
  std::unique_ptr<Searcher> searcher_;
  std::map<TrialId, Trial> trials_;
  std::deque<Config> queue_;
  List log_;                                ///< what happened; all else follows from it
  std::map<TrialId, std::size_t> reports_;  ///< entry of the last one of each pending trial
  std::vector<std::string> warnings_;
  bool exhausted_ = false;
};

}  // namespace troupe::tune
