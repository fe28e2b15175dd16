#pragma once

#include <troupe/actors/protocol.hpp>

#include <optional>
#include <string>

namespace troupe::tune::detail {

/// The largest configuration of a trial, in `approximate_bytes`.
inline constexpr std::size_t max_config_bytes = std::size_t{1} << 20;

/// Why a result can not be stored, for the user; nothing when it can. Workers ask the same before
/// they send it.
std::optional<std::string> result_problem(const Reported& report);

}  // namespace troupe::tune::detail
