#pragma once

#include <troupe/tune/schedule/scheduler.hpp>
#include <troupe/tune/search/searcher.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::tune {

class Study;

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
/// Errors are thrown as `Exception` invalid_argument: an impossible range, or a name that this
/// trial was asked for with another range before.
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

  /// A value on the way, at step 1, 2, ...
  void report(double value, std::uint64_t step);
  /// Says the scheduler of the study that what was reported last does not promise enough? Without a
  /// scheduler: no.
  [[nodiscard]] bool should_prune() const;

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
  /// Nothing: `tpe()`. Copied.
  std::shared_ptr<Searcher> searcher{};
  /// Who prunes; only schedulers that stop trials make sense, such as `asha` with a `max_t` beyond
  /// the last step (there it stops whoever gets so far). Nothing: nobody.
  std::shared_ptr<Scheduler> scheduler{};
  Mode mode = Mode::min;
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
/// first, and constraints are possible.
///
/// The seed and the order of calls decide everything. `save` and `restore` go on exactly. Thread
/// rules: one thread at a time. Errors are thrown as `Exception`.
class Study {
public:
  struct Trial {
    TrialId number{};
    Config params{};                ///< those that it was asked for
    std::optional<double> value{};  ///< final, or reported last
    std::uint64_t step = 0;         ///< of the value
    bool pending = true;
    Ending ending = Ending::finished;  ///< when it is not pending; stopped: pruned
  };

  explicit Study(StudyOptions options = {});
  ~Study();
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;

  /// Runs the objective `count` times. It returns the value, or throws `TrialPruned`; any other
  /// exception fails the trial and leaves `optimize`.
  void optimize(const std::function<double(StudyTrial&)>& objective, std::size_t count);

  /// The same by hand.
  [[nodiscard]] StudyTrial ask();
  void tell(const StudyTrial& trial, double value);
  void tell_pruned(const StudyTrial& trial);
  void tell_failed(const StudyTrial& trial);

  /// The best finished one; NaN never is. Nothing: none yet.
  [[nodiscard]] std::optional<Trial> best_trial() const;
  [[nodiscard]] std::vector<Trial> trials() const;

  /// Everything that happened, as data; and on from there: a new study with the same options.
  [[nodiscard]] Value save() const;
  /// corrupt otherwise; then the study is as new.
  [[nodiscard]] Status restore(const Value& state);

private:
  friend class StudyTrial;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe::tune
