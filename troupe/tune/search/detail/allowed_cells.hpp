#pragma once

#include <troupe/base/result.hpp>
#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/detail/permutation.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace troupe::tune::detail {

/// The configurations of a finite space, each once, as places of an order of its cells.
///
/// Cells are looked at one after the other. Where the space excludes many in a row, those that it
/// allows are listed instead: parameters get their values one by one, and what breaks a rule is not
/// followed up. Neither goes on for ever. All functions get the same design, whose cells can be
/// counted.
class AllowedCells {
public:
  /// Excluded cells in a row before the allowed ones are listed (65 ms); parts of configurations
  /// that the list may take (some seconds, and some 10 MB); cells looked at in a row where it took
  /// more (a quarter of a minute).
  struct Limits {
    std::uint64_t patience = std::uint64_t{1} << 16;
    std::uint64_t parts = 1'000'000;
    std::uint64_t looks = 10'000'000;
  };

  /// In the order of the cells when there is no other.
  AllowedCells() = default;
  explicit AllowedCells(std::optional<Permutation> order) : order_(std::move(order)) {}
  AllowedCells(std::optional<Permutation> order, const Limits& limits)
      : order_(std::move(order)), limits_(limits) {}

  /// The first place from `place` on where a configuration is. Nothing: there is none any more.
  /// invalid_argument when the limits were not enough to know.
  [[nodiscard]] Result<std::optional<std::uint64_t>> from(const Design& design,
                                                          std::uint64_t place) const;
  /// The point at a place.
  [[nodiscard]] Point at(const Design& design, std::uint64_t place) const {
    return design.cell(cell_at(place));
  }

private:
  [[nodiscard]] std::uint64_t cell_at(std::uint64_t place) const {
    return order_ ? (*order_)(place) : place;
  }
  [[nodiscard]] bool allows(const Design& design, std::uint64_t place) const;
  void make_list(const Design& design) const;
  [[nodiscard]] Error too_few(const Design& design, std::uint64_t last) const;

  std::optional<Permutation> order_;
  Limits limits_;
  // What was found out, which only saves time. All places from the first to before the second are
  // excluded; and all allowed ones, ascending, or null when they were too many to list.
  mutable std::uint64_t excluded_from_ = 0;
  mutable std::uint64_t excluded_to_ = 0;
  mutable bool listed_ = false;
  mutable std::shared_ptr<const std::vector<std::uint64_t>> list_;
};

}  // namespace troupe::tune::detail
