#pragma once

#include <troupe/base/fault_point.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The text of TROUPE_FAULTS.
namespace troupe::detail {

/// `name=kind[@n][:option=value,...]` joined by ';'. Does not look whether the points exist.
[[nodiscard]] Result<std::vector<std::pair<std::string, FaultAction>>> parse_faults(
    std::string_view text);

}  // namespace troupe::detail
