#pragma once

#include <string>
#include <string_view>

/// How keys and byte strings that JSON can not hold are written; shared by writer and reader.
namespace troupe::detail {

inline constexpr std::string_view json_bytes_key_prefix = "$bytes:";

[[nodiscard]] std::string escape_json_key(std::string_view key);

[[nodiscard]] std::string to_hex(std::string_view bytes);
/// False unless `text` is pairs of lower case hexadecimal digits.
[[nodiscard]] bool from_hex(std::string_view text, std::string& bytes);

}  // namespace troupe::detail
