#pragma once

#include <troupe/actors/protocol.hpp>

#include <memory>

namespace troupe::detail {

/// Removes checkpoints on a thread of its own: a slow disk must not hold up decisions. What cannot
/// be removed is logged; a removal that the end of the process cuts off is repeated by a restore.
///
/// Thread rules: any thread.
class CheckpointRemover {
public:
  CheckpointRemover();
  /// Drops what waits. A removal that runs goes on alone: nobody waits for storage that hangs.
  ~CheckpointRemover();
  CheckpointRemover(const CheckpointRemover&) = delete;
  CheckpointRemover& operator=(const CheckpointRemover&) = delete;

  void post(DeleteCheckpoint order);
  /// Waits until nothing is left to remove. False: the time was not enough.
  bool drain(Duration timeout);

private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace troupe::detail
