#include <troupe/tune/report/live_region.hpp>

#include <algorithm>

namespace troupe::tune {

std::string LiveRegion::erase() const {
  const auto lines = std::count(drawn_.begin(), drawn_.end(), '\n');
  if (lines == 0)
    return {};
  // Up to the first line, then everything from there to the end of the screen.
  return "\x1b[" + std::to_string(lines) + "A\r\x1b[J";
}

std::string LiveRegion::draw(std::string_view text) {
  std::string bytes = erase();
  bytes += text;
  drawn_ = text;
  return bytes;
}

std::string LiveRegion::print_above(std::string_view lines) {
  std::string bytes = erase();
  bytes += lines;
  bytes += drawn_;
  return bytes;
}

}  // namespace troupe::tune
