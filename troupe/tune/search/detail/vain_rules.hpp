#pragma once

#include <troupe/base/result.hpp>
#include <troupe/tune/search/detail/space_relations.hpp>

/// Rules of a space that leave nothing, as far as ranges and conditions show it one by one. What
/// only several rules together exclude is found when nothing can be suggested.
namespace troupe::tune::detail {

/// Is there a parameter that never exists, since its conditions, and those of the parameters that
/// they name, exclude each other? Conditions are sound. invalid_argument naming it.
[[nodiscard]] Status check_existence(const Leaves& leaves);

/// Is there a constraint that no values of its parameters satisfy, or a parameter that always
/// exists and has every value forbidden? Constraints and combinations are sound. invalid_argument
/// naming it.
[[nodiscard]] Status check_rules_leave_something(const ParamSpace& space, const Leaves& leaves);

}  // namespace troupe::tune::detail
