#include <troupe/base/detail/json_text.hpp>
#include <troupe/runtime/process/detail/output_text.hpp>

#include <algorithm>
#include <vector>

namespace troupe::detail {

namespace {

// The length of the escape sequence at the start of `text` (which is ESC): CSI and OSC whole, other
// ones two bytes.
size_t escape_length(std::string_view text) {
  if (text.size() < 2)
    return text.size();
  if (text[1] == '[') {
    for (size_t i = 2; i < text.size(); ++i) {
      if (text[i] >= '@' && text[i] <= '~')
        return i + 1;
    }
    return text.size();
  }
  if (text[1] == ']') {
    const size_t end = text.find_first_of("\a\x1b", 2);
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  return 2;
}

// The length of the UTF-8 character at the start of `text`; 0: it is none.
size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = lead < 0x80    ? 1
                        : lead >= 0xf0 ? 4
                        : lead >= 0xe0 ? 3
                        : lead >= 0xc2 ? 2
                                       : 0;
  if (length == 0 || length > text.size() || !is_valid_utf8(text.substr(0, length)))
    return 0;
  return length;
}

}  // namespace

std::string clean_output(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    size_t taken = 1;
    const char c = bytes[0];
    if (c == '\x1b') {
      taken = escape_length(bytes);
    } else if (c == '\r') {
      if (bytes.size() < 2 || bytes[1] != '\n')
        out += '\n';
    } else if (c == '\n' || c == '\t') {
      out += c;
    } else if (static_cast<unsigned char>(c) >= 0x20 && c != '\x7f') {
      if (const size_t length = character_length(bytes)) {
        out += bytes.substr(0, length);
        taken = length;
      } else {
        out += '?';
      }
    }
    bytes.remove_prefix(taken);
  }
  return out;
}

std::string indent_last_lines(std::string_view text, size_t max_bytes) {
  std::vector<std::string_view> lines;
  size_t total = 0;
  while (!text.empty()) {
    const size_t cut = text.find_last_of('\n');
    std::string_view line = cut == std::string_view::npos ? text : text.substr(cut + 1);
    text = cut == std::string_view::npos ? std::string_view() : text.substr(0, cut);
    if (line.empty())
      continue;
    constexpr size_t around = 3;  // two blanks and a newline
    if (total + line.size() + around > max_bytes) {
      if (lines.empty() && max_bytes > around) {
        line.remove_prefix(line.size() + around - max_bytes);
        while (!line.empty() && (static_cast<unsigned char>(line[0]) & 0xc0) == 0x80)
          line.remove_prefix(1);
        lines.push_back(line);
      }
      break;
    }
    total += line.size() + around;
    lines.push_back(line);
  }
  std::string out;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (!out.empty())
      out += '\n';
    out += "  ";
    out += *line;
  }
  return out;
}

}  // namespace troupe::detail
