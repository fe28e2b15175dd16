#pragma once

#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>
#include <troupe/tune/search/space.hpp>

#include <map>
#include <string>
#include <vector>

namespace troupe::tune::detail {

/// The parameters of a space, by their paths.
using Leaves = std::map<std::string, ParamSpace::Leaf>;

/// Are conditions, constraints and forbidden combinations of a space sound: do they name parameters
/// that there are, with values that these can have, does no condition depend on itself, and is
/// nothing ruled out altogether, as far as that shows at once? invalid_argument saying which is
/// not, and how to put it right. Entries are checked before.
[[nodiscard]] Status check_relations(const ParamSpace& space);

/// Does the constraint hold for these values of its parameters?
[[nodiscard]] bool holds(const Constraint& constraint, const std::vector<const Value*>& values);

}  // namespace troupe::tune::detail
