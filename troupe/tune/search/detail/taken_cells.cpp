#include <troupe/tune/search/detail/taken_cells.hpp>

#include <cstddef>

namespace troupe::tune::detail {

void TakenCells::clear() {
  words_.clear();
  all_ = false;
}

std::optional<std::uint64_t> TakenCells::find_free(
    std::uint64_t cells, std::uint64_t start, const std::function<bool(std::uint64_t)>& is_free) {
  constexpr std::uint64_t bits = 64;
  words_.resize(static_cast<std::size_t>(cells / bits + 1));
  for (std::uint64_t i = 0; i < cells;) {
    const std::uint64_t cell = (start + i) % cells;
    std::uint64_t& word = words_[static_cast<std::size_t>(cell / bits)];
    if (cell % bits == 0 && ~word == 0) {
      i += bits;
      continue;
    }
    ++i;
    const std::uint64_t bit = std::uint64_t{1} << (cell % bits);
    if ((word & bit) != 0)
      continue;
    if (is_free(cell))
      return cell;
    word |= bit;
  }
  all_ = true;
  return std::nullopt;
}

}  // namespace troupe::tune::detail
