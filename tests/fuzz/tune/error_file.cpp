// error.txt as a restore finds it: the mark of its last entry, whatever the file holds. An entry
// written behind it is found, whatever its message looks like.
#include <troupe/tune/report/result_lines.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe::tune;
  std::string text(reinterpret_cast<const char*>(data), size);
  (void)last_error(text);
  if (!text.empty() && text.back() != '\n')
    text += '\n';
  const std::string message = text;
  const ErrorMark mark{7, 123'456};
  text += error_entry(mark, 1'700'000'000'000, message);
  const ErrorMark found = last_error(text);
  if (found.number != mark.number || found.event != mark.event)
    std::abort();
  return 0;
}
