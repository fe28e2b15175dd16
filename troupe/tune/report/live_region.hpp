#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe::tune {

/// Text that is redrawn in place at the lower end of a terminal, with other lines going past above
/// it. Gives the bytes to write; writes nothing itself.
///
/// The text must not wrap and not be higher than the terminal: the cursor goes up by as many lines
/// as were drawn.
class LiveRegion {
public:
  /// Replaces what is drawn. `text` ends with a line end, or is empty: nothing is drawn then.
  [[nodiscard]] std::string draw(std::string_view text);

  /// Lets `lines` (with their ends) stay above the region and draws the region again below.
  [[nodiscard]] std::string print_above(std::string_view lines);

private:
  [[nodiscard]] std::string erase() const;

  std::string drawn_;
};

}  // namespace troupe::tune
