#pragma once

#include <troupe/base/result.hpp>
#include <troupe/tune/search/space.hpp>

namespace troupe::tune::detail {

/// Are conditions, constraints and forbidden combinations of a space sound: do they name parameters
/// that there are, with values that these can have, and no condition depends on itself?
/// invalid_argument saying which is not, and how to put it right. Entries are checked before.
[[nodiscard]] Status check_relations(const ParamSpace& space);

}  // namespace troupe::tune::detail
