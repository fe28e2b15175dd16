#pragma once

#include <troupe/base/random.hpp>
#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/detail/pareto.hpp>
#include <troupe/tune/search/nsga.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Parts of genetic algorithms, as pure functions.
namespace troupe::tune::detail {

/// Which `count` points survive: whole ranks while they fit, of the last one those with the largest
/// crowding distances. Indices, by rank; in a rank that survives whole in their order.
[[nodiscard]] std::vector<std::size_t> survivors_by_crowding(LossTable points,
                                                             std::span<const double> violations,
                                                             std::size_t count);

/// The same, but of the last rank those that fill the reference directions with the fewest points.
[[nodiscard]] std::vector<std::size_t> survivors_by_niche(LossTable points,
                                                          std::span<const double> violations,
                                                          std::size_t count, std::size_t divisions,
                                                          Random& random);

/// Das and Dennis 1998: all points of the unit simplex whose coordinates are multiples of
/// 1 / divisions.
[[nodiscard]] std::vector<std::vector<double>> reference_points(std::size_t objectives,
                                                                std::size_t divisions);

/// How many these are; infinite where it is too large a number.
[[nodiscard]] double reference_count(std::size_t objectives, std::size_t divisions);
/// More of them take seconds a generation.
inline constexpr std::uint32_t max_references = 10'000;

/// How many parents a crossover takes.
[[nodiscard]] std::size_t parents_of(NsgaOptions::Crossover crossover);

/// A child of parents, which are canonical; coordinates that none of them has are drawn anew. Every
/// coordinate of the child is there and within its range.
[[nodiscard]] Point crossed(const Design& design, std::span<const Point* const> parents,
                            const NsgaOptions& options, std::size_t objectives, Random& random);

/// Changes each coordinate with the probability of the options.
void mutate(const Design& design, Point& point, const NsgaOptions& options, Random& random);

}  // namespace troupe::tune::detail
