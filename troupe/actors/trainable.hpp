#pragma once

#include <troupe/serialization/value.hpp>

#include <filesystem>

namespace troupe {

/// What a trial runs: the class API. Derive, override, register with `TROUPE_TRAINABLE`.
///
/// Life: `setup` once, then `step` until the trial ends, then `cleanup`. With
/// `TuneConfig::reuse_actors` the same object runs further trials: `reset_config` takes the place
/// of construction and `setup`.
///
/// Thread rules: all methods run on one thread, the same for the object's life. A worker process
/// hosts one object; with `Isolation::thread` several objects live in one process, so state
/// shared between objects must be thread-safe.
/// Errors: any exception ends the trial as failed, with its message; the object is destroyed.
class Trainable {
public:
  virtual ~Trainable() = default;

  /// Prepares for `config`. May be slow: it is what `reuse_actors` saves.
  virtual void setup(const Config& config) { (void)config; }

  /// Trains a little and returns what it measured. Ends the trial with `{"done", true}`, asks
  /// for a checkpoint with `{"should_checkpoint", true}`. A step should take from milliseconds to
  /// minutes; a long one should look at `troupe::should_stop()` now and then.
  virtual Metrics step() = 0;

  /// Writes everything needed to go on into the empty folder `directory`.
  /// The default throws: a trainable that is asked for checkpoints must override it.
  virtual void save_checkpoint(const std::filesystem::path& directory);

  /// Goes on from what `save_checkpoint` wrote. Called after `setup`.
  virtual void load_checkpoint(const std::filesystem::path& directory);

  /// Makes the object ready for another trial, as if it had just been set up with `config`.
  /// False: not possible, a fresh worker is started instead.
  virtual bool reset_config(const Config& config) {
    (void)config;
    return false;
  }

  /// Called when the object is let go in an orderly way. Must not throw.
  virtual void cleanup() {}
};

}  // namespace troupe
