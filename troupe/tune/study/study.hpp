#pragma once

#include <troupe/tune/schedule/scheduler.hpp>
#include <troupe/tune/search/searcher.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::tune {

class Study;
namespace detail {
class StudyState;
}

/// Thrown by an objective that gives up after `should_prune()`.
class TrialPruned : public std::exception {
public:
  [[nodiscard]] const char* what() const noexcept override { return "the trial was pruned"; }
};

/// How a number is suggested.
struct SuggestOptions {
  double step = 0;   ///< 0: none; a step and a logarithm exclude each other
  bool log = false;  ///< evenly in the logarithm
};

/// One trial of a study: it is asked for its parameters where they are needed, so that the space
/// may depend on them. A handle: valid as long as the study, used by one thread at a time.
///
/// Errors are thrown as `Exception` invalid_argument: an impossible range, a name with '/' in it,
/// or one that this trial was asked for with another range before.
class StudyTrial {
public:
  /// A real number in [low, high), in [low, high] with a step.
  double suggest_float(const std::string& name, double low, double high,
                       const SuggestOptions& options = {});
  /// A whole number in [low, high], both included.
  std::int64_t suggest_int(const std::string& name, std::int64_t low, std::int64_t high,
                           const SuggestOptions& options = {});
  /// One of the choices, which keep their type.
  Value suggest_categorical(const std::string& name, List choices);

  /// A value on the way, after step 1, 2, ...; steps may be left out, and each is beyond the one
  /// before.
  void report(double value, std::uint64_t step);
  /// Says the scheduler of the study that what was reported last does not promise enough? Without a
  /// scheduler: no.
  [[nodiscard]] bool should_prune() const;

  /// One of `StudyOptions::constraints`: feasible where it is <= 0. Each trial that returns a value
  /// sets all of them before; set again, the last one counts.
  void set_constraint(const std::string& name, double value);

  [[nodiscard]] TrialId number() const { return number_; }
  /// What was suggested so far.
  [[nodiscard]] const Config& params() const;

private:
  friend class Study;
  StudyTrial(Study* study, TrialId number) : study_(study), number_(number) {}
  Value suggest(const std::string& name, const Domain& domain);

  Study* study_;
  TrialId number_;
};

struct StudyOptions {
  /// Nothing: `tpe()`. Copied. Must serve so many objectives.
  std::shared_ptr<Searcher> searcher{};
  /// Who prunes; only schedulers that stop trials make sense, such as `asha` with a `max_t` beyond
  /// the last step (there it stops whoever gets so far). Nothing: nobody. One objective only.
  std::shared_ptr<Scheduler> scheduler{};
  /// Of the one objective.
  Mode mode = Mode::min;
  /// Several objectives, one mode each, `mode` counts for nothing then: the objective returns so
  /// many values, and `best_trials` takes the place of `best_trial`.
  std::vector<Mode> modes{};
  /// Names of numbers that must be <= 0, which trials say with `set_constraint`. The searcher keeps
  /// to what is feasible, and the best trials are.
  std::vector<std::string> constraints{};
  std::uint64_t seed = 0;
};

/// Define-by-run: the search space is what the objective asks for while it runs. For those who come
/// from Optuna, and for spaces that are easier to run than to write down.
///
///     tune::Study study({.mode = Mode::min});
///     study.optimize([](tune::StudyTrial& trial) {
///       const double x = trial.suggest_float("x", -10, 10);
///       return (x - 2) * (x - 2);
///     }, 100);
///     std::cout << study.best_trial()->params << '\n';
///
/// A parameter that comes for the first time is drawn at random; from the next trial on the
/// searcher suggests it. Where a name gets another range, old results count as far as their values
/// lie in it.
/// A space that is known beforehand is better written down as a `ParamSpace`: then it is checked
/// first, and relations between parameters are possible.
///
/// The seed and the order of calls decide everything. `save` and `restore` go on exactly. Thread
/// rules: one thread at a time. Errors are thrown as `Exception`: user_code when a searcher or
/// scheduler of your own throws, naming it and the call. A call that throws changes nothing but,
/// then, what that object took in.
class Study {
public:
  struct Trial {
    TrialId number{};
    Config params{};                          ///< those that it was asked for
    std::map<std::string, Domain> domains{};  ///< where they come from, by name
    std::optional<double> value{};            ///< of one objective: final, or reported last
    std::vector<double> values{};             ///< of several objectives: final
    std::uint64_t step = 0;                   ///< of the value
    Metrics constraints{};                    ///< by name
    bool pending = false;
    Ending ending = Ending::finished;  ///< when it is not pending; stopped: pruned
    /// Parameters of `enqueue_trial` that it was not asked for.
    std::vector<std::string> unused{};
  };

  explicit Study(StudyOptions options = {});
  ~Study();
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;

  /// Runs the objective `count` times. It returns the value, or throws `TrialPruned`; any other
  /// exception fails the trial and leaves `optimize`.
  void optimize(const std::function<double(StudyTrial&)>& objective, std::size_t count);
  /// For several objectives: it returns their values in the order of `StudyOptions::modes`.
  void optimize(const std::function<std::vector<double>(StudyTrial&)>& objective,
                std::size_t count);

  /// A trial with these values comes next, after others that wait; what they leave out is suggested
  /// as ever. They are taken as `Domain::adopt` does: 2 for 2.0, 0.3 for the third step of 0.1, the
  /// end of a range for the last number before it; others outside of the range are an error where
  /// they are asked for. What is never asked for is logged as a warning, and is in `Trial::unused`.
  void enqueue_trial(Config params);
  /// Takes a result from elsewhere: of an earlier study, or put together by hand, such as
  /// `{.params = {{"x", 2.0}}, .value = 0.5}`. The searcher learns from it, and it may be the best;
  /// its number is the next one. With `domains`, suggestions can be made of it from the first trial
  /// on, otherwise as soon as the objective has asked for the parameters.
  /// invalid_argument: it is pending, lacks a value or a constraint although it finished, a
  /// parameter lies outside of its own domain, or its step is beyond 2^63 - 1.
  void add_trial(Trial trial);

  /// The same by hand. The trial is one of this study that is not over.
  [[nodiscard]] StudyTrial ask();
  /// A handle of a trial that is not over: after `restore`, or where only the number was kept.
  [[nodiscard]] StudyTrial trial(TrialId number);
  void tell(const StudyTrial& trial, double value);
  void tell(const StudyTrial& trial, std::vector<double> values);
  void tell_pruned(const StudyTrial& trial);
  void tell_failed(const StudyTrial& trial);

  /// The best finished one that is feasible; NaN never is. Nothing: none yet. failed_precondition
  /// with several objectives.
  [[nodiscard]] std::optional<Trial> best_trial() const;
  /// The Pareto front of the finished ones that are feasible: no other one is at least as good in
  /// every objective and better in one. With one objective: all that are as good as the best.
  [[nodiscard]] std::vector<Trial> best_trials() const;
  [[nodiscard]] std::vector<Trial> trials() const;

  /// Everything that happened, as data; and on from there: a study with the same options. It grows
  /// with every call: by some 260 bytes of JSON a trial of three parameters, and 40 a report.
  /// Beyond 16 MiB `parse_json` needs a larger `JsonLimits::max_bytes`, beyond a million calls
  /// `max_entries`, too.
  [[nodiscard]] Value save() const;
  /// corrupt when it is no such data or contradicts itself, naming the entry; invalid_argument when
  /// it was saved with other options, naming the first that differs with both values; user_code
  /// when a searcher or scheduler of your own throws. Then nothing has changed.
  [[nodiscard]] Status restore(const Value& state);

private:
  friend class StudyTrial;
  std::unique_ptr<detail::StudyState> state_;
};

}  // namespace troupe::tune
