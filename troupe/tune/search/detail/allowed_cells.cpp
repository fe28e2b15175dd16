#include <troupe/tune/search/detail/allowed_cells.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace troupe::tune::detail {
namespace {

constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();

/// Lists the cells that a space allows.
class Listing {
public:
  Listing(const Design& design, std::uint64_t parts)
      : design_(design), left_(parts), point_(design.size(), nowhere), least_(least_point()) {
    find_bounds();
  }

  /// Nothing when there are too many parts.
  std::optional<std::vector<std::uint64_t>> all() {
    if (!extend(0, 0, 1))
      return std::nullopt;
    return std::move(cells_);
  }

private:
  /// All ways to go on where the axes before `axis` have their values. `stride`: cells from one
  /// value of it to the next. False: there are too many parts.
  bool extend(std::size_t axis, std::uint64_t cell, std::uint64_t stride) {
    if (axis == design_.size()) {
      cells_.push_back(cell);
      return true;
    }
    const std::uint64_t count = design_.axes()[axis].count();
    // Of a parameter that does not exist the first value stands for all.
    if (!design_.open(axis, point_))
      return extend(axis + 1, cell, stride * count);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (left_-- == 0)
        return false;
      point_[axis] = design_.axes()[axis].coordinate(i);
      if (possible(axis) && !extend(axis + 1, cell + i * stride, stride * count))
        return false;
    }
    point_[axis] = nowhere;
    return true;
  }

  /// Does no rule forbid the values up to `axis`, whatever the others are?
  bool possible(std::size_t axis) const {
    // A rule holds where one of its parameters has no value yet.
    if (!design_.allowed(point_))
      return false;
    if (!bounds_.constrained())
      return true;
    Point lowest = point_;
    std::copy(least_.begin() + static_cast<std::ptrdiff_t>(axis) + 1, least_.end(),
              lowest.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
    return bounds_.allows(design_.decode(lowest));
  }

  /// The least value of each parameter that always exists and is a number.
  Point least_point() const {
    const Point none(design_.size(), nowhere);
    Point least = none;
    for (std::size_t a = 0; a < design_.size(); ++a) {
      const Axis& axis = design_.axes()[a];
      if (!design_.open(a, none))
        continue;
      double lowest = std::numeric_limits<double>::infinity();
      for (std::uint64_t i = 0; i < (axis.categorical() ? axis.count() : 1); ++i) {
        const Value value = axis.decode(axis.coordinate(i));
        if (value.is_number() && value.as_double() < lowest) {
          lowest = value.as_double();
          least[a] = axis.coordinate(i);
        }
      }
    }
    return least;
  }

  /// Sums and products of numbers that are never negative only grow: with the least values in place
  /// of those to come they can be checked at once.
  void find_bounds() {
    const Config least = design_.decode(least_);
    for (const Constraint& constraint : design_.space().constraints()) {
      const bool grows = constraint.kind == Constraint::Kind::sum_at_most ||
                         constraint.kind == Constraint::Kind::product_at_most;
      if (grows && std::all_of(constraint.paths.begin(), constraint.paths.end(),
                               [&](const std::string& path) {
                                 const Value* value = least.find(path);
                                 return value != nullptr && value->is_number() &&
                                        value->as_double() >= 0;
                               }))
        bounds_.require(constraint);
    }
  }

  const Design& design_;
  std::uint64_t left_;
  Point point_;
  Point least_;
  ParamSpace bounds_;  ///< only its rules count
  std::vector<std::uint64_t> cells_;
};

}  // namespace

Result<std::optional<std::uint64_t>> AllowedCells::from(const Design& design,
                                                        std::uint64_t place) const {
  if (place < excluded_from_ || place > excluded_to_)
    excluded_from_ = excluded_to_ = place;
  while (list_ == nullptr && excluded_to_ < *design.cells()) {
    if (allows(design, excluded_to_))
      return excluded_to_;
    ++excluded_to_;
    if (excluded_to_ - place >= limits_.patience && !std::exchange(listed_, true))
      make_list(design);
    if (excluded_to_ - place >= limits_.looks && list_ == nullptr)
      return too_few(design, excluded_to_ - 1);
  }
  if (list_ == nullptr)
    return std::nullopt;
  const auto found = std::lower_bound(list_->begin(), list_->end(), place);
  return found == list_->end() ? std::optional<std::uint64_t>() : *found;
}

bool AllowedCells::allows(const Design& design, std::uint64_t place) const {
  const Point point = at(design, place);
  // Cells that differ only in parameters that do not exist are one configuration: the one with
  // their first values stands for all.
  std::uint64_t rest = cell_at(place);
  for (std::size_t a = 0; a < point.size(); ++a) {
    const std::uint64_t count = design.axes()[a].count();
    if (!exists(point[a]) && rest % count != 0)
      return false;
    rest /= count;
  }
  return design.allowed(point);
}

void AllowedCells::make_list(const Design& design) const {
  auto cells = Listing(design, limits_.parts).all();
  if (!cells)
    return;
  if (order_)
    for (std::uint64_t& cell : *cells)
      cell = order_->place_of(cell);
  std::sort(cells->begin(), cells->end());
  list_ = std::make_shared<const std::vector<std::uint64_t>>(*std::move(cells));
}

Error AllowedCells::too_few(const Design& design, std::uint64_t last) const {
  const auto broken = design.space().broken_rule(design.decode(at(design, last)));
  return Error(ErrorCode::invalid_argument,
               std::to_string(limits_.looks) +
                   " cells of param_space in a row are no configuration" +
                   (broken ? ", the last one breaks '" + *broken + "'" : std::string()) +
                   "; narrow the ranges to where the rules hold, or loosen the rules");
}

}  // namespace troupe::tune::detail
