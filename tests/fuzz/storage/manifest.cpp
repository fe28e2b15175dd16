// Any text is either refused, or the manifest of a checkpoint that names no file outside of it and
// is written and read back the same.
#include <troupe/runtime/storage/detail/manifest.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe::detail;
  const auto manifest = parse_manifest({reinterpret_cast<const char*>(data), size});
  if (!manifest)
    return 0;
  for (const auto& file : manifest->files)
    if (!is_safe_name(file.name))
      std::abort();
  for (const auto& directory : manifest->directories)
    if (!is_safe_name(directory))
      std::abort();
  const auto text = to_text(*manifest);
  if (!text)
    std::abort();
  const auto again = parse_manifest(*text);
  if (!again || to_text(*again).value_or("") != *text)
    std::abort();
  return 0;
}
