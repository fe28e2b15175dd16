#include <troupe/base/crc32c.hpp>
#include <troupe/base/random.hpp>

#include <string>

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("crc32c gives the values of RFC 3720") {
  std::string ascending;
  for (int i = 0; i < 32; ++i)
    ascending += static_cast<char>(i);
  CHECK(crc32c("") == 0);
  CHECK(crc32c("123456789") == 0xe3069283);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(crc32c(ascending) == 0x46dd794e);
  CHECK(crc32c(std::string(ascending.rbegin(), ascending.rend())) == 0x113fdb5c);
}

TEST_CASE("the table and the instruction agree at every length and alignment") {
  if (!detail::crc32c_has_hardware())
    MESSAGE("this CPU has no SSE4.2: one way is tested only");
  Random random(1, 0, RandomPurpose::test);
  std::string bytes(600, '\0');
  for (char& c : bytes)
    c = static_cast<char>(random.next_u64());
  for (std::size_t offset = 0; offset < 9; ++offset)
    for (std::size_t size = 0; size + offset <= bytes.size(); size += 7) {
      const auto part = std::string_view(bytes).substr(offset, size);
      REQUIRE(detail::crc32c_table(part, 99) == detail::crc32c_hardware(part, 99));
    }
}

TEST_CASE("a checksum goes on where another ended") {
  const std::string text = "header and payload";
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    CHECK(crc32c(text.substr(cut), crc32c(text.substr(0, cut))) == crc32c(text));
}

TEST_CASE("every flipped bit changes the checksum") {
  std::string text = "a record";
  const std::uint32_t good = crc32c(text);
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
    CHECK(crc32c(text) != good);
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
  }
}
