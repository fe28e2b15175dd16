#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// "Did you mean ...?" for error messages.
namespace troupe::detail {

/// Changes (insert, delete, replace, swap of neighbours) that turn `a` into `b`, at most `cap`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t cap);

/// Up to `count` candidates that look like `wanted`, the closest first.
[[nodiscard]] std::vector<std::string> close_matches(std::string_view wanted,
                                                     std::span<const std::string> candidates,
                                                     std::size_t count = 3);

/// The tail of an error message: " (did you mean 'loss'?)" or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view wanted,
                                       std::span<const std::string> candidates);

}  // namespace troupe::detail
