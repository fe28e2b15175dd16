#include <troupe/base/crc32c.hpp>

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace troupe {
namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  // Castagnoli, bits reversed

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// tables[k][b]: the effect of byte b followed by k zero bytes; eight bytes are looked up at once.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
    tables[0][b] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t b = 0; b < 256; ++b)
      tables[k][b] = (tables[k - 1][b] >> 8) ^ tables[0][tables[k - 1][b] & 0xff];
  return tables;
}

constexpr Tables tables = make_tables();

std::uint32_t load_little_endian(const unsigned char* p) noexcept {
  return std::uint32_t{p[0]} | std::uint32_t{p[1]} << 8 | std::uint32_t{p[2]} << 16 |
         std::uint32_t{p[3]} << 24;
}

}  // namespace

namespace detail {

std::uint32_t crc32c_table(std::string_view bytes, std::uint32_t init) noexcept {
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t left = bytes.size();
  std::uint32_t crc = ~init;
  for (; left >= 8; left -= 8, p += 8) {
    const std::uint32_t low = crc ^ load_little_endian(p);
    const std::uint32_t high = load_little_endian(p + 4);
    crc = tables[7][low & 0xff] ^ tables[6][(low >> 8) & 0xff] ^ tables[5][(low >> 16) & 0xff] ^
          tables[4][low >> 24] ^ tables[3][high & 0xff] ^ tables[2][(high >> 8) & 0xff] ^
          tables[1][(high >> 16) & 0xff] ^ tables[0][high >> 24];
  }
  for (; left > 0; --left, ++p)
    crc = (crc >> 8) ^ tables[0][(crc ^ *p) & 0xff];
  return ~crc;
}

#if defined(__x86_64__)

bool crc32c_has_hardware() noexcept {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}

__attribute__((target("sse4.2"))) static std::uint32_t crc32c_sse42(std::string_view bytes,
                                                                    std::uint32_t init) noexcept {
  const char* p = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t crc = ~init;
  for (; left >= 8; left -= 8, p += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  auto crc32 = static_cast<std::uint32_t>(crc);
  for (; left > 0; --left, ++p)
    crc32 = _mm_crc32_u8(crc32, static_cast<unsigned char>(*p));
  return ~crc32;
}

std::uint32_t crc32c_hardware(std::string_view bytes, std::uint32_t init) noexcept {
  return crc32c_has_hardware() ? crc32c_sse42(bytes, init) : crc32c_table(bytes, init);
}

#else

bool crc32c_has_hardware() noexcept {
  return false;
}

std::uint32_t crc32c_hardware(std::string_view bytes, std::uint32_t init) noexcept {
  return crc32c_table(bytes, init);
}

#endif

}  // namespace detail

std::uint32_t crc32c(std::string_view bytes, std::uint32_t init) noexcept {
  return detail::crc32c_hardware(bytes, init);
}

}  // namespace troupe
