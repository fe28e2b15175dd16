// Any bytes are either an archive of this type, or a clean error; checked without the envelope,
// whose checksum would keep the fuzzer out.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/golden/serialization/samples.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using golden_sample::Row;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const unsigned version : {1u, 2u}) {
    const auto row = troupe::detail::read_archive<Row>(bytes, version);
    if (!row)
      continue;
    // Compared as bytes: a row with a NaN is not equal to itself.
    std::string first;
    troupe::detail::write_archive(first, *row, version);
    const auto same = troupe::detail::read_archive<Row>(first, version);
    if (!same)
      std::abort();
    std::string second;
    troupe::detail::write_archive(second, *same, version);
    if (first != second)
      std::abort();
  }
  return 0;
}
