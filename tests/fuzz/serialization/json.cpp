// Any text is either refused, or a value that is written and read back the same.
#include <troupe/serialization/json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = troupe::parse_json({reinterpret_cast<const char*>(data), size});
  if (!value)
    return 0;
  const auto again = troupe::parse_json(troupe::to_json(*value, troupe::JsonStyle::pretty));
  if (!again || *again != *value)
    std::abort();
  return 0;
}
