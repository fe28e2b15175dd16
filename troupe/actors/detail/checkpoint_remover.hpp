#pragma once

#include <troupe/actors/protocol.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace troupe::detail {

/// Removes checkpoints on a thread of its own: a slow disk must not hold up decisions. What cannot
/// be removed is logged; a removal that the end of the process cuts off is repeated by a restore.
///
/// Thread rules: any thread.
class CheckpointRemover {
public:
  CheckpointRemover() = default;
  /// Finishes the removal that runs; the others are dropped.
  ~CheckpointRemover();
  CheckpointRemover(const CheckpointRemover&) = delete;
  CheckpointRemover& operator=(const CheckpointRemover&) = delete;

  void post(DeleteCheckpoint order);
  /// Waits until nothing is left to remove. False: the time was not enough.
  bool drain(Duration timeout);

private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<DeleteCheckpoint> orders_;
  bool busy_ = false;
  bool stop_ = false;
  std::thread thread_;  ///< started with the first order
};

}  // namespace troupe::detail
