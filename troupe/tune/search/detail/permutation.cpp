#include <troupe/base/random.hpp>
#include <troupe/tune/search/detail/permutation.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace troupe::tune::detail {
namespace {

constexpr std::uint64_t largest_table = 256;
constexpr std::uint32_t rounds = 8;

/// The least number whose square is not below `n`.
std::uint64_t ceil_sqrt(std::uint64_t n) {
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(n)));
  root -= std::min<std::uint64_t>(root, 2);
  while (root < (std::uint64_t{1} << 32U) && root * root < n)
    ++root;
  return root;
}

}  // namespace

Permutation::Permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t stream)
    : size_(size) {
  constexpr std::uint32_t counter = 0x9E37;
  Random random(seed, stream, RandomPurpose::grid_order, counter);
  if (size <= largest_table) {
    table_.resize(static_cast<std::size_t>(size));
    std::iota(table_.begin(), table_.end(), std::uint8_t{0});
    random.shuffle(table_);
    return;
  }
  rows_ = ceil_sqrt(size);
  columns_ = (size - 1) / rows_ + 1;
  const std::uint64_t key = random.next_u64();
  key_ = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32U)};
}

std::uint64_t Permutation::mixed(std::uint64_t half, std::uint32_t round) const {
  const auto block = troupe::detail::philox4x32_10(
      {static_cast<std::uint32_t>(half), static_cast<std::uint32_t>(half >> 32U), round, 0}, key_);
  return std::uint64_t{block[0]} << 32U | block[1];
}

std::uint64_t Permutation::operator()(std::uint64_t index) const {
  if (!table_.empty())
    return table_[static_cast<std::size_t>(index)];
  do {
    std::uint64_t row = index / columns_;
    std::uint64_t column = index % columns_;
    for (std::uint32_t round = 0; round < rounds; round += 2) {
      row = (row + mixed(column, round) % rows_) % rows_;
      column = (column + mixed(row, round + 1) % columns_) % columns_;
    }
    index = row * columns_ + column;
  } while (index >= size_);
  return index;
}

std::uint64_t Permutation::place_of(std::uint64_t number) const {
  if (!table_.empty())
    return static_cast<std::uint64_t>(std::find(table_.begin(), table_.end(), number) -
                                      table_.begin());
  do {
    std::uint64_t row = number / columns_;
    std::uint64_t column = number % columns_;
    for (std::uint32_t round = rounds; round > 0; round -= 2) {
      column = (column + columns_ - mixed(row, round - 1) % columns_) % columns_;
      row = (row + rows_ - mixed(column, round - 2) % rows_) % rows_;
    }
    number = row * columns_ + column;
  } while (number >= size_);
  return number;
}

}  // namespace troupe::tune::detail
