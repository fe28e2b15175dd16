#pragma once

#include <troupe/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// The wrapping around every record, checked before anything inside is looked at.
///
/// 16 bytes, little endian: magic "TRPE" | type u16 | schema version u16 | payload bytes u32 |
/// crc32c u32 over the 12 bytes before it and the payload. Then the payload and nothing else.
namespace troupe {

inline constexpr std::uint32_t envelope_magic = 0x45505254;  // "TRPE"
inline constexpr std::size_t envelope_header_bytes = 16;

/// A checked envelope. `payload` points into the bytes it was opened from.
struct Envelope {
  std::uint16_t type = 0;
  std::uint16_t version = 0;
  std::string_view payload;
};

/// Wraps a payload. Throws Exception resource_exhausted beyond limits::max_record_bytes.
std::string seal(std::uint16_t type, std::uint16_t version, std::string_view payload);

/// Checks and opens `bytes`, which must be exactly one envelope of this type and of a version from
/// `oldest_version` to `newest_version`. Each way to be wrong has its own message: corrupt (too
/// short, wrong magic, cut off, bytes after the end, checksum, wrong type), resource_exhausted
/// (length beyond the limit), version_mismatch (naming its version, what this Troupe reads, and the
/// remedy).
Result<Envelope> open_envelope(std::string_view bytes, std::uint16_t expected_type,
                               std::uint16_t newest_version, std::uint16_t oldest_version = 1);

/// The same without a view on type and version: what is this? For tools that list records.
Result<Envelope> open_any_envelope(std::string_view bytes);

}  // namespace troupe
