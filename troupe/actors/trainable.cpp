#include <troupe/actors/trainable.hpp>
#include <troupe/base/error.hpp>

namespace troupe {

void Trainable::save_checkpoint(const std::filesystem::path&) {
  throw Exception(ErrorCode::failed_precondition,
                  "this trainable cannot save checkpoints: override save_checkpoint and "
                  "load_checkpoint, or ask for no checkpoints (checkpoint_frequency = 0, "
                  "checkpoint_at_end = false, a scheduler that does not pause)");
}

void Trainable::load_checkpoint(const std::filesystem::path&) {
  throw Exception(ErrorCode::failed_precondition,
                  "this trainable cannot load checkpoints: override load_checkpoint");
}

}  // namespace troupe
