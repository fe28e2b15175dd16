#pragma once

#include <cstdint>
#include <string_view>

/// CRC-32C (Castagnoli), the checksum of every record: finds all damage of up to 32 bits in a row
/// and misses other damage once in four billion. Not a defence against intent.
namespace troupe {

/// The checksum of `bytes`. `init` is the checksum of what came before, so that
/// `crc32c(b, crc32c(a)) == crc32c(a + b)`. Uses the SSE4.2 instruction where the CPU has it.
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes, std::uint32_t init = 0) noexcept;

namespace detail {
/// The two ways to compute it, for tests. The second one falls back to the first.
[[nodiscard]] std::uint32_t crc32c_table(std::string_view bytes, std::uint32_t init) noexcept;
[[nodiscard]] std::uint32_t crc32c_hardware(std::string_view bytes, std::uint32_t init) noexcept;
[[nodiscard]] bool crc32c_has_hardware() noexcept;
}  // namespace detail

}  // namespace troupe
