#pragma once

#include <troupe/actors/detail/trial.hpp>
#include <troupe/actors/registry.hpp>

#include <memory>
#include <string>
#include <vector>

namespace troupe::detail {

/// Runs trials, one after the other, on the user thread: the life of a trainable object, the
/// function API, checkpoints.
///
/// Thread rules: everything on one thread. Nothing that user code throws passes through.
class TrialRunner {
public:
  TrialRunner(UserMailbox& mailbox, WorkerSetup setup);
  ~TrialRunner();
  TrialRunner(const TrialRunner&) = delete;
  TrialRunner& operator=(const TrialRunner&) = delete;

  /// Runs one trial to its end. The last event it sends is TrialEnded, TrialFailed or ResetRefused.
  void run(RunTrial order);

  /// Lets the object go in an orderly way: `cleanup`, then the destructor.
  void let_go();

  /// Did `cleanup` of user code ever throw in this process?
  static bool any_cleanup_failed();

private:
  void run_class(Trial& trial, const TrainableEntry& entry);
  void run_function(FunctionTrial& trial, const TrainableEntry& entry);
  bool prepare(Trial& trial, const TrainableEntry& entry);
  void make_object(Trial& trial, const TrainableEntry& entry);
  void restore(Trial& trial, const TrainableEntry& entry);
  void save(Trial& trial, uint32_t number);
  bool step(Trial& trial);
  /// What went wrong in user code, for a message that begins with `where`.
  TrialFailure failure(const std::string& where);
  /// Throws TrialFailure when the call of user code that just ended had been cancelled: what it did
  /// may be half.
  void fail_if_cancelled();

  UserMailbox& mailbox_;
  const WorkerSetup setup_;
  std::unique_ptr<Trainable> object_;
  std::string object_name_;
  std::unique_ptr<char[]> reserve_;  ///< given back when memory runs out, so that it can be said
};

}  // namespace troupe::detail
