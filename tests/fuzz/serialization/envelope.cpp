// Any bytes are either exactly one sealed envelope, or a clean error.
#include <troupe/serialization/envelope.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto envelope = troupe::open_any_envelope(bytes);
  if (!envelope)
    return 0;
  if (troupe::seal(envelope->type, envelope->version, envelope->payload) != bytes)
    std::abort();
  return 0;
}
