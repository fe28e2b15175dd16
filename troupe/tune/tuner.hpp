#pragma once

#include <troupe/actors/runtime.hpp>
#include <troupe/tune/config.hpp>
#include <troupe/tune/result_grid.hpp>
#include <troupe/tune/search/space.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace troupe::tune {

/// What an experiment is made of. For designated initialisers.
struct TunerOptions {
  ParamSpace param_space{};
  TuneConfig tune_config{};
  RunConfig run_config{};
  /// While `fit` runs, SIGINT and SIGTERM stop the experiment in an orderly way (a second one ends
  /// the process) and SIGPIPE is ignored; afterwards everything is as before. Turn it off in a
  /// service that handles signals itself, and call `request_stop`.
  bool handle_signals = true;
};

/// How to go on with an experiment.
struct RestoreOptions {
  /// Trials that were not over go on from their newest checkpoint. False: they are declared
  /// TERMINATED.
  bool resume_unfinished = true;
  /// Trials that failed go on from their newest checkpoint ...
  bool resume_errored = false;
  /// ... or begin again as new trials with the same configuration. Not both.
  bool restart_errored = false;
  /// When not empty: refuse an experiment of another trainable.
  std::string trainable{};
  /// Needed when the experiment was made with a scheduler or searcher of your own.
  std::shared_ptr<Scheduler> scheduler{};
  std::shared_ptr<Searcher> search_alg{};
  /// 0 to 2; nothing: as when the experiment was made.
  std::optional<std::int32_t> verbose{};
  bool handle_signals = true;
};

/// Tunes the parameters of a trainable: the front door of `troupe::tune`.
///
///     auto results = tune::Tuner(runtime, "Quadratic", {
///         .param_space = {{"x", tune::uniform(-10, 10)}},
///         .tune_config = {.metric = "loss", .mode = Mode::min, .num_samples = 100},
///         .run_config = {.name = "quadratic"}}).fit();
///
/// What happens is written into a journal in the experiment's folder before anybody is told, so
/// that an experiment whose process died (`kill -9`, loss of power) goes on with `restore` as if
/// nothing had been.
///
/// Thread rules: one thread, except `request_stop`. The runtime outlives the tuner. Errors are
/// thrown as `Exception`; their messages say what, where and what to do.
class Tuner {
public:
  /// Checks nothing yet. `trainable` is a name that was registered with `TROUPE_TRAINABLE` or
  /// `TROUPE_TRAINABLE_FUNCTION`.
  Tuner(Runtime& runtime, std::string trainable, TunerOptions options = {});

  /// The experiment in a folder, which may have been moved or copied here, for `fit` to go on with;
  /// `get_results` shows how it stands. Nothing on disk is changed. The damaged end of a log, which
  /// a loss of power leaves behind, is left out when nothing durable was in it.
  /// Errors: not_found (no experiment there), failed_precondition (another trainable than
  /// `RestoreOptions::trainable`, or one that this program has not registered), corrupt, data_loss
  /// (less is there than was durable) and version_mismatch as the store says, with the remedy.
  static Tuner restore(Runtime& runtime, const std::filesystem::path& path,
                       RestoreOptions options = {});

  /// True when there is an experiment in the folder, whole or damaged. False for one whose process
  /// ended before its first decision: `fit` may use that folder.
  static bool can_restore(const std::filesystem::path& path);

  ~Tuner();
  Tuner(Tuner&&) noexcept;
  Tuner& operator=(Tuner&&) noexcept;

  /// Runs the experiment to its end, or until it is asked to stop, and returns what came of it;
  /// everything is durable then. Failed trials are no errors: see `ResultGrid::errors`. Nor is an
  /// experiment that failed, because of `fail_fast`, workers that do not come up, an error of
  /// `Searcher::suggest` or of the scheduler: see `ResultGrid::state` and `message`, which are told
  /// on stderr even with `verbose = 0`. Once only, unless it was refused.
  /// Errors, before anything is created: not_found (unknown trainable), invalid_argument (a setting
  /// that can not be right, a trial that asks for more than there is, a stored space or
  /// points to evaluate that an earlier version allowed), already_exists (an experiment of that
  /// name is there). Later: io, unavailable, resource_exhausted of the store, user_code where any
  /// other call of a searcher throws; then the message tells how to go on.
  ResultGrid fit();

  /// The results of the last `fit`, or of the experiment that was restored. Throws
  /// failed_precondition when there are none yet; never starts a run.
  [[nodiscard]] ResultGrid get_results() const;

  /// Asks `fit` for a clean end: trials are saved where they can be and stay unfinished. From any
  /// thread. A request that comes before `fit` is not forgotten.
  void request_stop(const std::string& reason = "asked to stop");

private:
  class Impl;
  explicit Tuner(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe::tune
