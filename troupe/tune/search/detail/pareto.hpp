#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

/// Several objectives at once: who dominates whom, and how much a front covers.
///
/// A point is a row of losses, less is better, equally many in each row; NaN counts as +infinity.
/// Everything here is a pure function.
namespace troupe::tune::detail {

using Losses = std::vector<double>;
using LossTable = std::span<const Losses>;

/// Is `a` nowhere worse than `b`, and somewhere better?
[[nodiscard]] bool dominates(std::span<const double> a, std::span<const double> b);

/// The rank of each point: 0 for those that nobody dominates, 1 for those that nobody dominates
/// once these are gone, and so on. Equal points have equal ranks.
///
/// With `violations` (one a point, or none at all) domination is constrained: what is feasible
/// (<= 0) dominates what is not, and of two infeasible points the one with the smaller violation
/// dominates; NaN is the largest.
///
/// O(n log n) for two objectives, O(n^2) at worst for more.
[[nodiscard]] std::vector<std::uint32_t> pareto_ranks(LossTable points,
                                                      std::span<const double> violations = {});

/// The indices of the points with rank 0, ascending.
[[nodiscard]] std::vector<std::size_t> pareto_front(LossTable points,
                                                    std::span<const double> violations = {});

/// How far the neighbours of each point are, added over the objectives in units of their range: Deb
/// et al. 2002. The ends of each objective have infinity; an objective that is the same everywhere
/// counts nothing. The points are usually those of one rank.
[[nodiscard]] std::vector<double> crowding_distances(LossTable points);

/// The volume that the points dominate, up to `reference`, which has a number for each objective.
/// Points that are not better than it everywhere count nothing. +infinity when a loss is -infinity.
///
/// Exact: O(n log n) for up to three objectives, the WFG algorithm (While, Bradstreet and Barone
/// 2012) for more, which takes exponential time in their number: 100 points with six objectives
/// take some milliseconds.
[[nodiscard]] double hypervolume(LossTable points, std::span<const double> reference);

}  // namespace troupe::tune::detail
