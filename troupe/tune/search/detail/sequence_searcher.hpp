#pragma once

#include <troupe/tune/search/detail/state_reading.hpp>
#include <troupe/tune/search/model_searcher.hpp>

#include <algorithm>
#include <cstdint>

namespace troupe::tune::detail {

/// Goes through numbered points, whatever comes of them: all it has to remember is the number of
/// the next one, which the note of a proposal gives.
class SequenceSearcher : public ModelSearcher {
protected:
  [[nodiscard]] bool needs_objective() const final { return false; }
  [[nodiscard]] std::size_t max_objectives() const final { return SIZE_MAX; }
  /// The number of the next point is at most that, now.
  [[nodiscard]] virtual std::uint64_t farthest() const { return created() * attempts(); }
  [[nodiscard]] Status begin() override {
    next_ = 0;
    return ok();
  }
  void proposed(const Observation&, const Value& note) final {
    if (const auto index = count_of(note, farthest()); index && *index < farthest())
      next_ = std::max(next_, *index + 1);
  }
  [[nodiscard]] Value save_model() const final { return next_; }
  [[nodiscard]] Status restore_model(const Value& state) final {
    const auto next = count_of(state, farthest());
    if (!next)
      return Error(ErrorCode::corrupt,
                   "the state of the searcher " + name() + " has no position that it can be at");
    next_ = *next;
    return ok();
  }
  [[nodiscard]] std::uint64_t next() const { return next_; }

private:
  std::uint64_t next_ = 0;
};

}  // namespace troupe::tune::detail
