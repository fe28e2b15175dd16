// Any bytes are either the one encoding of a value, or a clean error.
#include <troupe/serialization/json.hpp>
#include <troupe/serialization/value_codec.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto value = troupe::decode_value(bytes);
  if (!value)
    return 0;
  if (troupe::encode_value(*value) != bytes)
    std::abort();
  const auto again = troupe::parse_json(troupe::to_json(*value));
  if (!again || *again != *value)
    std::abort();
  return 0;
}
