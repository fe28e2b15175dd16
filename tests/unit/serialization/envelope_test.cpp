#include <troupe/base/crc32c.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/base/version.hpp>
#include <troupe/serialization/envelope.hpp>

#include <cstring>
#include <string>

#include <doctest/doctest.h>

using namespace troupe;

namespace {

Error open_error(std::string_view bytes, std::uint16_t type = 7, std::uint16_t newest = 3,
                 std::uint16_t oldest = 2) {
  const auto result = open_envelope(bytes, type, newest, oldest);
  return result ? Error(ErrorCode::internal, "opened") : result.error();
}

bool mentions(const Error& error, const std::string& text) {
  return error.message().find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("an envelope gives back what was sealed") {
  const std::string bytes = seal(7, 3, "payload");
  CHECK(bytes.size() == envelope_header_bytes + 7);
  const auto envelope = open_envelope(bytes, 7, 3);
  REQUIRE(envelope.has_value());
  CHECK(envelope->type == 7);
  CHECK(envelope->version == 3);
  CHECK(envelope->payload == "payload");
  CHECK(open_envelope(seal(1, 1, ""), 1, 1)->payload.empty());
}

TEST_CASE("the header is little endian and as documented") {
  const std::string bytes = seal(0x0102, 0x0304, "xy");
  CHECK(bytes.substr(0, 12) == std::string("TRPE\2\1\4\3\2\0\0\0", 12));
  const std::uint32_t crc = crc32c(bytes.substr(16), crc32c(bytes.substr(0, 12)));
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(static_cast<unsigned char>(bytes[12 + i]) == ((crc >> (8 * i)) & 0xff));
}

TEST_CASE("every flipped bit is found") {
  std::string bytes = seal(7, 3, "some payload");
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    CHECK_FALSE(open_any_envelope(bytes));
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
  }
}

TEST_CASE("every cut is found") {
  const std::string bytes = seal(7, 3, "some payload");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Error error = open_error(std::string_view(bytes).substr(0, size));
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK(mentions(error, "cut off"));
  }
}

TEST_CASE("each way to be wrong has its own message") {
  const std::string good = seal(7, 3, "some payload");
  std::string bytes = good;
  bytes[0] = 'X';
  CHECK(mentions(open_error(bytes), "not a record of Troupe"));
  CHECK(mentions(open_error(good + "!"), "1 bytes follow the end"));
  bytes = good;
  bytes.back() = '!';
  CHECK(mentions(open_error(bytes), "checksum"));
  CHECK(mentions(open_error(good, 8), "type 7 is where type 8 should be"));
}

TEST_CASE("a length beyond the limit is refused before the bytes are looked at") {
  std::string bytes = seal(7, 3, "x");
  const std::uint32_t length = static_cast<std::uint32_t>(limits::max_record_bytes) + 1;
  std::memcpy(bytes.data() + 8, &length, 4);
  CHECK(open_error(bytes).code() == ErrorCode::resource_exhausted);
  CHECK_THROWS_AS(seal(7, 3, std::string(limits::max_record_bytes + 1, 'x')), Exception);
}

TEST_CASE("a newer version is refused, naming both and the remedy") {
  const Error error = open_error(seal(7, 4, "x"));
  CHECK(error.code() == ErrorCode::version_mismatch);
  CHECK(mentions(error, "schema version 4"));
  CHECK(mentions(error, "up to version 3"));
  CHECK(mentions(error, TROUPE_VERSION));
  CHECK(mentions(error, "use the Troupe that wrote it"));
}

TEST_CASE("a version that is no longer read is refused with its remedy") {
  const Error error = open_error(seal(7, 1, "x"));
  CHECK(error.code() == ErrorCode::version_mismatch);
  CHECK(mentions(error, "from version 2"));
}

TEST_CASE("damage to a newer record is damage, not a version") {
  std::string bytes = seal(7, 4, "x");
  bytes.back() = 'y';
  CHECK(open_error(bytes).code() == ErrorCode::corrupt);
}
