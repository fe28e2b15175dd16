#include <troupe/runtime/resources/resources.hpp>

#include <array>
#include <cstdio>

namespace troupe {

namespace {

std::string format_number(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.10g", number);
  return text.data();
}

}  // namespace

std::string to_string(const ResourceRequest& request) {
  std::string text = format_number(request.cpus) + (request.cpus == 1.0 ? " CPU" : " CPUs");
  if (request.memory_bytes != 0)
    text += " and " + format_bytes(request.memory_bytes) + " of memory";
  return text;
}

std::string format_bytes(uint64_t bytes) {
  constexpr std::array<const char*, 5> units{"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  size_t unit = 0;
  while (amount >= 1024 && unit + 1 < units.size()) {
    amount /= 1024;
    ++unit;
  }
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.4g %s", amount, bytes == 1 ? "byte" : units.at(unit));
  return text.data();
}

}  // namespace troupe
