#include <troupe/base/limits.hpp>
#include <troupe/serialization/value_codec.hpp>

#include <cmath>
#include <limits>
#include <string>

#include <doctest/doctest.h>

using namespace troupe;

namespace {

std::string decode_error(std::string_view bytes) {
  const auto result = decode_value(bytes);
  return result ? "decoded" : result.error().message();
}

}  // namespace

TEST_CASE("the bytes of values are what the format says") {
  using namespace std::string_literals;
  CHECK(encode_value(nullptr) == "\0"s);
  CHECK(encode_value(false) == "\1");
  CHECK(encode_value(true) == "\2");
  CHECK(encode_value(-2) == "\3\xfe\xff\xff\xff\xff\xff\xff\xff");
  CHECK(encode_value(1.0) == "\4\0\0\0\0\0\0\xf0\x3f"s);
  CHECK(encode_value("ab") == "\5\2ab");
  CHECK(encode_value(List{true, nullptr}) == "\6\2\2\0"s);
  CHECK(encode_value(Map{{"k", true}}) == "\7\1\1k\2");
  CHECK(encode_map({{"k", true}}) == "\1\1k\2");
  CHECK(encode_value(std::string(200, 'x')).substr(0, 3) == "\5\xc8\1");
}

TEST_CASE("each kind of damage has its own message with a position") {
  using namespace std::string_literals;
  CHECK(decode_error("") == "cut off: 1 bytes are needed, 0 are there, at byte 0");
  CHECK(decode_error("\x09") == "a value has the unknown type 9, at byte 1");
  CHECK(decode_error("\1x") == "1 bytes are left over, at byte 1");
  CHECK(decode_error("\3\1\2").starts_with("cut off: 8 bytes"));
  CHECK(decode_error("\5\5ab").find("a length of 5 is more than the 2 bytes") != std::string::npos);
  CHECK(decode_error("\5\x80\0"s).find("more bytes than it needs") != std::string::npos);
  CHECK(decode_error("\5" + std::string(10, '\xff')).find("more than 64 bits") !=
        std::string::npos);
  CHECK(decode_error("\7\2\1b\0\1a\0"s).find("do not ascend") != std::string::npos);
  CHECK(decode_error("\7\2\1a\0\1a\0"s).find("do not ascend") != std::string::npos);
  CHECK(decode_error("\4\1\0\0\0\0\0\xf8\x7f"s).find("NaN") != std::string::npos);
}

TEST_CASE("a made-up count is refused before anything is allocated for it") {
  for (const char type : {'\5', '\6', '\7'}) {
    std::string bytes(1, type);
    bytes += "\xff\xff\xff\xff\x0f";  // 2^32 - 1
    const auto result = decode_value(bytes);
    REQUIRE_FALSE(result);
    CHECK(result.error().code() == ErrorCode::corrupt);
  }
}

TEST_CASE("depth is limited the same when writing and when reading") {
  Value deep = 1;
  std::string bytes = encode_value(deep);
  for (std::size_t i = 0; i < limits::max_value_depth; ++i) {
    deep = List{std::move(deep)};
    bytes.insert(0, "\6\1");
  }
  CHECK(encode_value(deep) == bytes);
  CHECK(decode_value(bytes).has_value());
  deep = List{std::move(deep)};
  CHECK_THROWS_AS(encode_value(deep), Exception);
  CHECK(decode_error("\6\1" + bytes).find("nested too deep") != std::string::npos);
}

TEST_CASE("a million opening brackets are an error, not a stack overflow") {
  std::string bytes;
  for (int i = 0; i < 1'000'000; ++i)
    bytes += "\6\1";
  CHECK(decode_error(bytes).find("nested too deep") != std::string::npos);
}

TEST_CASE("keys that are too long are refused on both sides") {
  const std::string key(limits::max_key_bytes + 1, 'k');
  CHECK_THROWS_AS(encode_map({{key, 1}}), Exception);
  CHECK(decode_map(encode_map({{key.substr(1), 1}})).has_value());
}
