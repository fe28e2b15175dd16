#pragma once

#include <troupe/base/ids.hpp>
#include <troupe/base/result.hpp>
#include <troupe/serialization/objective.hpp>
#include <troupe/serialization/value.hpp>
#include <troupe/tune/search/space.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// The contract of search algorithms: which configuration to try next.
namespace troupe::tune {

/// A number of each result that should become large or small.
struct Objective {
  std::string metric{};
  Mode mode = Mode::max;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& metric& mode;
  }
  friend bool operator==(const Objective&, const Objective&) = default;
};

/// The outcome of a configuration that was tried before, by an earlier experiment or by hand.
struct KnownResult {
  Config config{};
  Metrics metrics{};                 ///< with the objectives and constraints
  Ending ending = Ending::finished;  ///< stopped: the metrics are those of "training_iteration"

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& config& metrics& ending;
  }
};

/// What a searcher is told about the experiment.
struct SearchContext {
  ParamSpace space{};                      ///< checked
  std::vector<Objective> objectives{};     ///< empty: the user named none; several: a Pareto front
  std::vector<std::string> constraints{};  ///< metrics: <= 0 where a configuration is feasible
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> num_samples{};  ///< trials in total; nothing: without end
  /// Configurations to try first, in this order; they count as samples. Parameters that they leave
  /// out are drawn at random, until all rules of the space hold that the given values do not break
  /// by themselves. Values may have another form: see `Domain::adopt`. Who gives a parameter with a
  /// condition gives what it depends on.
  std::vector<Config> points_to_evaluate{};
  /// Where to learn from before the first trial. Not tried again, not counted as samples. Those
  /// that do not fit the space, by `Domain::adopt`, are left out; entries that it has not are
  /// ignored. `Optimizer` and `Tuner` leave out those that break its rules, too, or have metrics
  /// without all objectives and constraints and did not fail, and say how many.
  std::vector<KnownResult> known_results{};
  /// May a configuration come a second time? Without it a finite space is exhausted when every
  /// configuration was tried.
  bool allow_repeats = false;
};

/// The answer to "what next?".
struct Suggestion {
  enum class Kind : std::uint8_t {
    config,       ///< try this
    nothing_now,  ///< ask again when something has happened
    exhausted,    ///< there will never be another one
  };

  Kind kind = Kind::exhausted;
  Config config{};
  /// Whatever the searcher wants back in `record`: where the point came from, a generation, ...
  Value note{};

  static Suggestion of(Config config, Value note = {}) {
    return {Kind::config, std::move(config), std::move(note)};
  }
  static Suggestion nothing_now() { return {Kind::nothing_now, {}, {}}; }
  static Suggestion exhausted() { return {Kind::exhausted, {}, {}}; }
};

constexpr Suggestion::Kind enum_last(Suggestion::Kind) noexcept {
  return Suggestion::Kind::exhausted;
}

/// A search algorithm as a deterministic state machine that the trial loop drives.
///
/// A choice and its consequences are two calls: `suggest` is const and decides, the loop writes the
/// suggestion into the journal, and `record` takes it into the state. After a restart the loop
/// calls `record` (and the `on_*` hooks) with what the journal says and never asks again, so a
/// searcher goes on exactly where it was.
///
/// Rules: equal calls in equal order give equal state. No clock, no thread, no random device:
/// randomness is `Random(context.seed, trial, RandomPurpose::searcher, counter)` or a purpose
/// >= RandomPurpose::user. `suggest` may be called any number of times and for a trial that is
/// never created; it may cache, but the cache must not be visible in any result.
/// Order of calls: `setup` first; then for each trial `record`, `on_result` any number of times,
/// `on_complete` once. `restore` comes after `setup`, instead of everything before.
/// Threads: each object is called from one thread at a time. Errors: what fails while a searcher is
/// asked, by an error from `suggest` or an exception, ends the search (the trials that run go on);
/// an exception from any other method ends the experiment. Both leave the journal whole, and the
/// message names the searcher and the call that threw. `Optimizer` and `Study` throw it.
class Searcher {
public:
  virtual ~Searcher() = default;

  /// Stored with the experiment and checked when it is restored: "basic_variant".
  [[nodiscard]] virtual std::string name() const = 0;

  /// The constructor's arguments as data, stored for `make_searcher` and for people.
  [[nodiscard]] virtual Value options() const { return {}; }

  /// An independent copy of the present state. `return std::make_unique<Mine>(*this);`
  [[nodiscard]] virtual std::unique_ptr<Searcher> clone() const = 0;

  /// Begins an experiment: forgets everything. invalid_argument when the space or the settings do
  /// not suit the algorithm, saying what does.
  [[nodiscard]] virtual Status setup(const SearchContext& context) = 0;

  /// Does `suggest` take less time than a message would, a few microseconds, whatever was seen?
  /// Then the loop calls it on the spot; otherwise beside itself, on another thread, on a copy that
  /// hears the same calls in the same order.
  [[nodiscard]] virtual bool instant() const { return false; }

  /// Does it try the configurations of a finite space one after the other, each once, whatever
  /// comes of them, and end then? An experiment that does not say how many samples it wants has all
  /// of them, and with any other searcher one.
  [[nodiscard]] virtual bool enumerates() const { return false; }

  /// After `setup` with the same context. How many trials there will be in total; the loop never
  /// asks for more. Nothing: without end.
  [[nodiscard]] virtual std::optional<std::uint64_t> planned(const SearchContext& context) const {
    return context.num_samples;
  }

  /// The configuration for the trial that would be created next.
  [[nodiscard]] virtual Result<Suggestion> suggest(TrialId trial) const = 0;

  /// The trial was created with this configuration. `config` and `note` are those of a suggestion;
  /// an unknown origin (a trial added by hand) has a null note.
  virtual void record(TrialId trial, const Config& config, const Value& note) = 0;

  /// The trial, which still runs, uses this configuration instead of the recorded one: code that
  /// asks for its parameters one by one (`Study`) did not need all of them, or drew one by itself.
  /// At most once a trial, before `on_complete`. An algorithm may ignore it: then it takes what was
  /// recorded for what was tried.
  virtual void amend(TrialId trial, const Config& config) {
    (void)trial;
    (void)config;
  }

  /// A result after which the trial goes on. The metrics contain "training_iteration".
  virtual void on_result(TrialId trial, const Metrics& metrics) {
    (void)trial;
    (void)metrics;
  }

  /// The trial is over. `last` is its last result, or null when it never reported. May come for a
  /// trial that `record` was never called for; that is to be tolerated.
  virtual void on_complete(TrialId trial, Ending ending, const Metrics* last) {
    (void)trial;
    (void)ending;
    (void)last;
  }

  /// Everything needed to go on. `restore(save())` on a fresh object after the same `setup` gives
  /// an equal searcher, and `save` of that equal data.
  [[nodiscard]] virtual Value save() const = 0;
  /// corrupt when the data is not a state of this searcher; the object is then as after `setup`.
  [[nodiscard]] virtual Status restore(const Value& state) = 0;
};

/// Makes one of Troupe's own searchers from what `name` and `options` gave. not_found with the
/// known names for any other: the experiment was made with a searcher of the user, who must pass
/// it again.
Result<std::unique_ptr<Searcher>> make_searcher(const std::string& name, const Value& options);

/// The names that `make_searcher` knows, sorted.
[[nodiscard]] std::vector<std::string> searcher_names();

}  // namespace troupe::tune
