#pragma once

#include <troupe/actors/detail/session.hpp>
#include <troupe/actors/detail/user_mailbox.hpp>
#include <troupe/base/result.hpp>

#include <optional>
#include <string>
#include <vector>

namespace troupe::detail {

/// Ends the attempt as failed, with this message.
struct TrialFailure {
  std::string message;
  bool storage_full = false;  ///< known to be the reason
  bool permanent = false;     ///< tried again it would be the same
};

/// One attempt on the user thread: where it stands, what it reports, what user code sees of it.
/// This one belongs to a class trainable: its results are what `step` returns.
class Trial : public Session {
public:
  Trial(UserMailbox& mailbox, const WorkerSetup& setup, RunTrial order);

  const RunTrial& order() const { return order_; }
  uint64_t iteration() const { return context_.iteration; }
  double time_total_s() const { return time_total_s_; }

  /// Goes on from this checkpoint.
  void restored(const CheckpointRef& ref);
  /// Says that the trial is set up. `damaged` and `note`: checkpoints that could not be used.
  void send_started(std::vector<uint32_t> damaged, std::string note);
  void send_saved(CheckpointRef ref);
  void send_ended(bool returned);

  /// Counts and sends one result and waits for the answer. `took`: how long it took to get it.
  /// Nothing: the trial is stopped instead. Error: the metrics cannot be sent; nothing is counted.
  Result<std::optional<Answer>> send_report(Metrics metrics, Duration took,
                                            std::optional<CheckpointRef> checkpoint);

  // -- what user code sees
  void report(Metrics metrics, const Checkpoint* checkpoint) override;
  std::optional<Checkpoint> checkpoint() const override { return checkpoint_; }
  const TrialContext& context() const override { return context_; }
  bool should_stop() const override { return mailbox_.stop_asked(); }

protected:
  UserMailbox& mailbox() { return mailbox_; }
  /// Adds what Troupe knows of the next result; what user code set itself stays, except
  /// training_iteration, which counts results. `took`: how long it took to get it.
  Status complete(Metrics& metrics, Duration took) const;

private:
  UserMailbox& mailbox_;
  const WorkerId worker_;
  const RunTrial order_;
  TrialContext context_;
  double time_total_s_ = 0;
  double restored_time_s_ = 0;
  uint64_t restored_iteration_ = 0;
  uint64_t message_ = 0;
  std::optional<uint32_t> checkpoint_number_;
  std::optional<Checkpoint> checkpoint_;
};

/// One attempt of a function trainable: `report` sends its results.
class FunctionTrial final : public Trial {
public:
  FunctionTrial(UserMailbox& mailbox, const WorkerSetup& setup, RunTrial order);

  /// User code begins to run.
  void begin();
  void report(Metrics metrics, const Checkpoint* checkpoint) override;

  /// The trial was told to end: a report threw TrialStopped, or there is an order to stop.
  bool stopped();
  /// Why the trial fails although user code may have swallowed what told it so.
  std::optional<TrialFailure> take_failure();
  /// A checkpoint could not be made because the disk is full.
  bool storage_full() const { return storage_full_; }
  /// The last report was refused: its metrics cannot be sent.
  bool unsendable() const { return unsendable_; }

private:
  [[noreturn]] void unwind();

  TimePoint since_;
  uint32_t next_checkpoint_;
  bool stopped_ = false;
  bool storage_full_ = false;
  bool unsendable_ = false;
  std::optional<std::string> cancelled_;
};

}  // namespace troupe::detail
