#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace troupe::tune::detail {

/// Which cells of a grid are known to be excluded or tried, a bit each, so that none is looked at
/// twice while the free ones become few.
class TakenCells {
public:
  /// Nothing is known any more.
  void clear();
  /// Has a search found that none is free?
  [[nodiscard]] bool all() const { return all_; }
  /// The first cell of `cells` that is free, from `start` < cells on and once around; nothing:
  /// there is none. Those that `is_free` denies on the way are taken from now on. `cells` is the
  /// same in all calls.
  [[nodiscard]] std::optional<std::uint64_t> find_free(
      std::uint64_t cells, std::uint64_t start, const std::function<bool(std::uint64_t)>& is_free);

private:
  std::vector<std::uint64_t> words_;  ///< empty: nothing was looked at
  bool all_ = false;
};

}  // namespace troupe::tune::detail
