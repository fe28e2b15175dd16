#include <troupe/base/crc32c.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/base/version.hpp>
#include <troupe/serialization/detail/byte_io.hpp>
#include <troupe/serialization/envelope.hpp>

namespace troupe {
namespace {

constexpr std::size_t crc_offset = 12;

std::uint32_t checksum(std::string_view header_before_crc, std::string_view payload) {
  return crc32c(payload, crc32c(header_before_crc));
}

}  // namespace

std::string seal(std::uint16_t type, std::uint16_t version, std::string_view payload) {
  if (payload.size() > limits::max_record_bytes)
    throw Exception(ErrorCode::resource_exhausted,
                    "a record of type " + std::to_string(type) + " would have " +
                        std::to_string(payload.size()) + " bytes; at most " +
                        std::to_string(limits::max_record_bytes) + " are allowed");
  std::string bytes;
  bytes.reserve(envelope_header_bytes + payload.size());
  detail::ByteWriter out(bytes);
  out.put(envelope_magic);
  out.put(type);
  out.put(version);
  out.put(static_cast<std::uint32_t>(payload.size()));
  out.put(checksum(bytes, payload));
  out.put_bytes(payload);
  return bytes;
}

Result<Envelope> open_any_envelope(std::string_view bytes) {
  const auto corrupt = [](std::string what) { return Error(ErrorCode::corrupt, std::move(what)); };
  if (bytes.size() < envelope_header_bytes)
    return corrupt("cut off: " + std::to_string(bytes.size()) +
                   " bytes are less than the header of a record");
  detail::ByteReader in(bytes);
  if (in.get<std::uint32_t>() != envelope_magic)
    return corrupt("not a record of Troupe: the first bytes are not its mark");
  Envelope envelope;
  envelope.type = in.get<std::uint16_t>();
  envelope.version = in.get<std::uint16_t>();
  const std::size_t length = in.get<std::uint32_t>();
  const auto expected_crc = in.get<std::uint32_t>();
  if (length > limits::max_record_bytes)
    return Error(ErrorCode::resource_exhausted,
                 "the record says it has " + std::to_string(length) + " bytes; at most " +
                     std::to_string(limits::max_record_bytes) + " are allowed");
  if (length > in.remaining())
    return corrupt("cut off: the record should have " + std::to_string(length) +
                   " bytes after the header, there are " + std::to_string(in.remaining()));
  if (length < in.remaining())
    return corrupt(std::to_string(in.remaining() - length) + " bytes follow the end of the record");
  envelope.payload = in.get_bytes(length);
  if (checksum(bytes.substr(0, crc_offset), envelope.payload) != expected_crc)
    return corrupt("damaged: the checksum of the record does not match its bytes");
  return envelope;
}

Result<Envelope> open_envelope(std::string_view bytes, std::uint16_t expected_type,
                               std::uint16_t newest_version, std::uint16_t oldest_version) {
  TROUPE_TRY(envelope, open_any_envelope(bytes));
  if (envelope.type != expected_type)
    return Error(ErrorCode::corrupt, "a record of type " + std::to_string(envelope.type) +
                                         " is where type " + std::to_string(expected_type) +
                                         " should be");
  const std::string written = "the record has schema version " + std::to_string(envelope.version);
  if (envelope.version > newest_version)
    return Error(ErrorCode::version_mismatch,
                 written + ", written by a newer Troupe; this Troupe " + TROUPE_VERSION +
                     " reads up to version " + std::to_string(newest_version) +
                     ": use the Troupe that wrote it, or a later one");
  if (envelope.version < oldest_version)
    return Error(ErrorCode::version_mismatch,
                 written + ", this Troupe " + TROUPE_VERSION + " reads from version " +
                     std::to_string(oldest_version) + ": migrate it with an older Troupe first");
  return envelope;
}

}  // namespace troupe
