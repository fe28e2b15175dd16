#pragma once

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
  /// How many points there are, after `begin`.
  [[nodiscard]] virtual std::uint64_t length() const {
    return std::uint64_t{1} << 62U;  // far from where counting on would overflow
  }
  [[nodiscard]] Status begin() override {
    next_ = 0;
    return ok();
  }
  void proposed(const Observation&, const Value& note) final {
    if (note.is_int() && note.as_int() >= 0 && static_cast<std::uint64_t>(note.as_int()) < length())
      next_ = std::max(next_, static_cast<std::uint64_t>(note.as_int()) + 1);
  }
  [[nodiscard]] Value save_model() const final { return next_; }
  [[nodiscard]] Status restore_model(const Value& state) final {
    if (!state.is_int() || state.as_int() < 0 ||
        static_cast<std::uint64_t>(state.as_int()) > length())
      return Error(ErrorCode::corrupt, "the state of " + name() + " lacks its position");
    next_ = static_cast<std::uint64_t>(state.as_int());
    return ok();
  }
  [[nodiscard]] std::uint64_t next() const { return next_; }

private:
  std::uint64_t next_ = 0;
};

}  // namespace troupe::tune::detail
