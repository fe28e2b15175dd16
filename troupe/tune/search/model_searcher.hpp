#pragma once

#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/detail/history.hpp>
#include <troupe/tune/search/detail/taken_cells.hpp>
#include <troupe/tune/search/searcher.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace troupe::tune {

/// What all searchers that learn have in common, so that each is only its algorithm: the history of
/// observations, points to evaluate first, results known before, no configuration twice,
/// constraints between parameters, exhaustion, the exact restart.
///
/// A derived class proposes points. Its proposal is a pure function of (seed, trial, history, what
/// `save_model` saves); it may keep caches that do not show. Whatever it learns while it proposes
/// (fitted parameters to start the next fit from) goes into the note of the proposal and comes back
/// in `proposed`.
class ModelSearcher : public Searcher {
public:
  [[nodiscard]] Status setup(const SearchContext& context) final;
  [[nodiscard]] Result<Suggestion> suggest(TrialId trial) const final;
  void record(TrialId trial, const Config& config, const Value& note) final;
  void amend(TrialId trial, const Config& config) final;
  void on_result(TrialId trial, const Metrics& metrics) final;
  void on_complete(TrialId trial, Ending ending, const Metrics* last) final;
  [[nodiscard]] Value save() const final;
  [[nodiscard]] Status restore(const Value& state) final;

protected:
  /// Up to so many parameters a point that is only drawn takes few microseconds.
  static constexpr std::size_t instant_axes = 32;

  /// A point for a trial; need not be canonical, allowed or new: `suggest` sees to that. Not a
  /// point: the algorithm has nothing to say (for itself), and a random one is taken.
  struct Proposal {
    std::optional<detail::Point> point{};
    Value note{};
    /// There is no further configuration that was not tried.
    bool exhausted = false;
    /// Nothing to propose before another trial has ended; only while trials run.
    bool wait = false;
  };

  /// Does it learn from results, so that the experiment must have a metric?
  [[nodiscard]] virtual bool needs_objective() const { return true; }
  /// How many objectives it can serve.
  [[nodiscard]] virtual std::size_t max_objectives() const { return 1; }
  /// Begins anew after `setup` has read the context: `design()` and `context()` are there, the
  /// history holds the results known before. invalid_argument when the space does not suit.
  [[nodiscard]] virtual Status begin() { return ok(); }
  /// Proposal number `attempt` = 0, 1, ... for the same trial: the earlier ones could not be taken
  /// (tried before, or not allowed). Errors end the search.
  [[nodiscard]] virtual Result<Proposal> propose(TrialId trial, std::uint32_t attempt) const = 0;
  /// How many attempts pay; afterwards points near the last one are tried, if the algorithm learns,
  /// and then random ones. 0: only random ones.
  [[nodiscard]] virtual std::uint32_t attempts() const { return 3; }
  /// A trial was created from this proposal; the note is null when it came from elsewhere.
  virtual void proposed(const detail::Observation& observation, const Value& note) {
    (void)observation;
    (void)note;
  }
  /// A trial that runs lies elsewhere now: a cache that has read its point in the history reads it
  /// again.
  virtual void amended(const detail::Observation& observation) { (void)observation; }
  /// A trial has a new result, or is over: `observation.over()`.
  virtual void observed(const detail::Observation& observation) { (void)observation; }
  /// What `proposed` and `observed` changed in the derived class. `restore_model(save_model())` on
  /// a fresh object gives an equal one; it comes after the history is there. corrupt otherwise:
  /// when a part is missing or out of range. What then saves another state is refused by `restore`.
  [[nodiscard]] virtual Value save_model() const { return {}; }
  [[nodiscard]] virtual Status restore_model(const Value& state);

  [[nodiscard]] const detail::Design& design() const { return design_; }
  [[nodiscard]] const detail::History& history() const { return history_; }
  [[nodiscard]] const SearchContext& context() const { return context_; }
  /// Trials created so far, those from elsewhere included.
  [[nodiscard]] std::uint64_t created() const { return created_; }
  /// Random numbers for a suggestion. Different counters give independent sequences; those from
  /// 999,000 on are used by this class.
  [[nodiscard]] Random random(TrialId trial, std::uint32_t counter) const {
    return Random(context_.seed, trial.value, RandomPurpose::searcher, counter);
  }
  /// A random point for this trial, canonical, and allowed if one of 100 draws was.
  [[nodiscard]] detail::Point random_point(TrialId trial, std::uint32_t counter) const;

private:
  /// What is asked of a configuration: to be allowed, and new if `fresh`.
  [[nodiscard]] bool fits(const Config& config, bool fresh) const;
  [[nodiscard]] Result<Suggestion> proposal(TrialId trial, bool fresh) const;
  /// What fits near a proposal that does not.
  [[nodiscard]] std::optional<Config> nearby(const detail::Point& point, TrialId trial,
                                             bool fresh) const;
  [[nodiscard]] Result<Suggestion> random_suggestion(TrialId trial, bool fresh) const;
  [[nodiscard]] std::optional<Config> unseen_cell(TrialId trial) const;
  [[nodiscard]] std::optional<Config> tried_before(TrialId trial) const;
  void learn(detail::Observation& observation, const Metrics& metrics) const;
  /// Is every objective a number (infinities are, NaN is not)?
  [[nodiscard]] bool is_number(const Metrics& metrics) const;
  void complete(detail::Observation& observation, Ending ending, const Metrics* last);
  /// Points to evaluate are drawn once, so that rules that can not be kept are told by `setup`.
  [[nodiscard]] Status complete_points();
  void take_known_results();
  [[nodiscard]] bool possible(const detail::Observation& observation) const;
  [[nodiscard]] Status restore_parts(const Value& state);

  SearchContext context_;
  detail::Design design_;
  detail::History history_;
  std::uint64_t created_ = 0;  ///< trials recorded
  mutable detail::TakenCells taken_;
  std::uint64_t points_ = 0;  ///< of context_.points_to_evaluate that were suggested
};

}  // namespace troupe::tune
