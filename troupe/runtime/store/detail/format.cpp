#include <troupe/runtime/store/detail/format.hpp>
#include <troupe/runtime/store/keys.hpp>
#include <troupe/serialization/detail/record_codec.hpp>

#include <array>
#include <cerrno>

#include <unistd.h>

TROUPE_DEFINE_RECORD(troupe::detail::StoreSchema);
TROUPE_DEFINE_RECORD(troupe::detail::StoreIdentity);
TROUPE_DEFINE_RECORD(troupe::detail::HighWater);
TROUPE_DEFINE_RECORD(troupe::detail::Witness);

namespace troupe::detail {

std::string event_key(Sequence sequence) {
  std::string key;
  keys::append_u64(key, sequence.value);
  return key;
}

std::string event_prefix(std::uint32_t chain) {
  std::string prefix;
  keys::append_u32(prefix, chain);
  return prefix;
}

std::string row_prefix(Sequence written_with) {
  return event_key(written_with);
}

Result<Sequence> parse_event_key(std::string_view key) {
  if (key.size() == 8)
    return Sequence(keys::load_u64(key));
  return Error(ErrorCode::corrupt,
               "an event key of " + std::to_string(key.size()) + " bytes, not 8");
}

Result<StoredEvent> parse_event(std::string_view value) {
  if (value.size() > event_prefix_bytes)
    return StoredEvent{keys::load_u32(value), value.substr(event_prefix_bytes)};
  return Error(ErrorCode::corrupt, "an event of " + std::to_string(value.size()) + " bytes");
}

Result<StoredRow> parse_row(std::string_view value) {
  if (value.size() > row_prefix_bytes)
    return StoredRow{Sequence(keys::load_u64(value)), value.substr(row_prefix_bytes)};
  return Error(ErrorCode::corrupt, "a row of " + std::to_string(value.size()) + " bytes");
}

Result<std::string> make_store_id() {
  std::array<unsigned char, 16> bytes{};
  if (::getentropy(bytes.data(), bytes.size()) != 0)
    return errno_error(errno, "random bytes");
  std::string id;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0 && i % 4 == 0)
      id += '-';
    id += "0123456789abcdef"[bytes[i] >> 4];
    id += "0123456789abcdef"[bytes[i] & 15];
  }
  return id;
}

}  // namespace troupe::detail
