#include <troupe/base/detail/json_text.hpp>

#include <array>
#include <charconv>
#include <cstdint>

namespace troupe::detail {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

// The length of the UTF-8 sequence at the start of `text`, or 0 when there is none. The ranges are
// those of Unicode table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned lead = byte(0);
  if (lead < 0x80)
    return 1;
  if (lead >= 0xc2 && lead <= 0xdf)
    return continues(1) ? 2 : 0;
  if ((lead & 0xf0) == 0xe0) {
    const bool second =
        continues(1) && !(lead == 0xe0 && byte(1) < 0xa0) && !(lead == 0xed && byte(1) > 0x9f);
    return second && continues(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const bool second =
        continues(1) && !(lead == 0xf0 && byte(1) < 0x90) && !(lead == 0xf4 && byte(1) > 0x8f);
    return second && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

bool is_plain(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\' && byte != 0x7f;
}

void append_escape(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += hex_digits[c >> 4];
      out += hex_digits[c & 0xf];
  }
}

}  // namespace

bool is_valid_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t n = sequence_length(text);
    if (n == 0)
      return false;
    text.remove_prefix(n);
  }
  return true;
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain]))
      ++plain;
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty())
      break;
    const std::size_t n = sequence_length(text);
    if (n == 0) {
      out += "\xef\xbf\xbd";
    } else if (n == 1) {
      append_escape(out, static_cast<unsigned char>(text.front()));
    } else {
      out.append(text.substr(0, n));
    }
    text.remove_prefix(n == 0 ? 1 : n);
  }
  out += '"';
}

void append_json_double(std::string& out, double value) {
  std::array<char, 40> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  const std::string_view text(digits.data(), static_cast<std::size_t>(result.ptr - digits.data()));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos)
    out += ".0";
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  for (const char c : text.substr(0, max_bytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += "\\x";
      out += hex_digits[byte >> 4];
      out += hex_digits[byte & 0xf];
    }
  }
  if (text.size() > max_bytes)
    out += "...";
  return out;
}

}  // namespace troupe::detail
