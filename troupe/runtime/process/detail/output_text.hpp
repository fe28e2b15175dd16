#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Output of programs made fit for messages.
namespace troupe::detail {

/// Valid UTF-8 without control characters: escape sequences of terminals are dropped, a carriage
/// return starts a line, bytes that are not UTF-8 become '?'.
std::string clean_output(std::string_view bytes);

/// The last whole lines of `text` that fit `max_bytes` together, each indented by two blanks, no
/// newline at the end. A single line that does not fit loses its beginning.
std::string indent_last_lines(std::string_view text, size_t max_bytes);

}  // namespace troupe::detail
