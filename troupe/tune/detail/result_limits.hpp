#pragma once

#include <troupe/actors/protocol.hpp>

#include <optional>
#include <string>

namespace troupe::tune::detail {

/// The largest result that is stored, about as counted in memory.
inline constexpr std::size_t max_result_bytes = std::size_t{4} << 20;

/// The largest configuration of a trial, counted the same way.
inline constexpr std::size_t max_config_bytes = std::size_t{1} << 20;

/// About how many bytes a map takes.
std::size_t approximate_bytes(const Map& map);

/// Why a result can not be stored, for the user; nothing when it can.
std::optional<std::string> result_problem(const Reported& report);

}  // namespace troupe::tune::detail
