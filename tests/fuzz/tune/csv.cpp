// progress.csv as a restore finds it: any text is a row of records that are written and read back
// the same, up to a last one that is not complete.
#include <troupe/tune/report/csv.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe::tune;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (;;) {
    const std::size_t before = text.size();
    const auto fields = take_csv_record(text);
    if (!fields) {
      if (text.size() != before)
        std::abort();
      return 0;
    }
    if (text.size() >= before)
      std::abort();
    const std::string written = csv_record(*fields);
    std::string_view rest = written;
    if (take_csv_record(rest) != fields || !rest.empty())
      std::abort();
  }
}
