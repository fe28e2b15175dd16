#include <troupe/tune/report/text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace troupe::tune {

namespace {

/// A code point and the bytes it takes; `valid` is false for a byte that is not UTF-8.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

CodePoint decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80)
    return {lead, 1, true};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (length == 0 || lead > 0xF4 || text.size() < length)
    return {};
  char32_t value = lead & (0x7F >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80)
      return {};
    value = (value << 6) | (byte(i) & 0x3F);
  }
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
    return {};
  return {value, length, true};
}

bool in(char32_t c, char32_t first, char32_t last) {
  return c >= first && c <= last;
}

std::size_t width_of(char32_t c) {
  if (in(c, 0x300, 0x36F) || in(c, 0x1AB0, 0x1AFF) || in(c, 0x1DC0, 0x1DFF) ||
      in(c, 0x200B, 0x200F) || in(c, 0x20D0, 0x20FF) || in(c, 0xFE00, 0xFE0F) ||
      in(c, 0xFE20, 0xFE2F))
    return 0;
  if (in(c, 0x1100, 0x115F) || in(c, 0x2E80, 0xA4CF) || in(c, 0xAC00, 0xD7A3) ||
      in(c, 0xF900, 0xFAFF) || in(c, 0xFE30, 0xFE6F) || in(c, 0xFF00, 0xFF60) ||
      in(c, 0xFFE0, 0xFFE6) || in(c, 0x1F300, 0x1F64F) || in(c, 0x1F900, 0x1F9FF) ||
      in(c, 0x20000, 0x3FFFD))
    return 2;
  return 1;
}

bool is_control(char32_t c) {
  // C1 controls and the marks that reorder text act on a terminal as escape sequences do.
  return c < 0x20 || in(c, 0x7F, 0x9F) || in(c, 0x202A, 0x202E) || in(c, 0x2066, 0x2069);
}

std::string padded(const std::string& cell, std::size_t width, Align align) {
  const std::size_t used = display_width(cell);
  const std::string space(width > used ? width - used : 0, ' ');
  return align == Align::right ? space + cell : cell + space;
}

constexpr std::size_t column_gap = 2;
constexpr std::size_t least_cut_width = 8;

std::size_t total_width(const std::vector<std::size_t>& widths) {
  std::size_t total = 0;
  for (const std::size_t width : widths)
    total += width + (total == 0 ? 0 : column_gap);
  return total;
}

std::vector<std::size_t> natural_widths(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < table.header.size(); ++column) {
    std::size_t widest = display_width(table.header[column]);
    for (const auto& row : table.rows)
      if (column < row.size())
        widest = std::max(widest, display_width(row[column]));
    const bool rigid = column < table.rigid;
    widths.push_back(std::min(widest, rigid ? table.max_rigid_width : table.max_cell_width));
  }
  return widths;
}

/// Narrows the widest columns, then drops the last ones, until they fit.
void fit_columns(std::vector<std::size_t>& widths, std::size_t rigid, std::size_t width) {
  const auto first = widths.begin() + static_cast<std::ptrdiff_t>(std::min(rigid, widths.size()));
  while (total_width(widths) > width) {
    const auto widest = std::max_element(first, widths.end());
    if (widest == widths.end() || *widest <= least_cut_width)
      break;
    --*widest;
  }
  constexpr std::size_t marker = 4;  // " ..." behind the header
  bool dropped = false;
  while (widths.size() > 1 && total_width(widths) + (dropped ? marker : 0) > width) {
    widths.pop_back();
    dropped = true;
  }
  if (widths.size() == 1)
    widths[0] = std::min(widths[0], width);
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    width += point.valid ? width_of(point.value) : 1;
    text.remove_prefix(point.bytes);
  }
  return width;
}

std::string terminal_safe(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (point.valid && !is_control(point.value)) {
      out.append(text.substr(0, point.bytes));
    } else {
      out += '?';
    }
    text.remove_prefix(point.bytes);
  }
  return out;
}

std::string fit_text(std::string_view text, std::size_t width) {
  if (display_width(text) <= width)
    return std::string(text);
  const std::string_view dots = std::string_view("...").substr(0, width > 3 ? 3 : 0);
  const std::size_t room = width - dots.size();
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    const std::size_t columns = point.valid ? width_of(point.value) : 1;
    if (used + columns > room)
      break;
    out.append(text.substr(0, point.bytes));
    used += columns;
    text.remove_prefix(point.bytes);
  }
  out += dots;
  return out;
}

std::string one_line(std::string_view message) {
  constexpr std::size_t columns = 400;
  std::string line(message.substr(0, message.find('\n')));
  if (!line.ends_with("last output:") || line.size() == message.size())
    return fit_text(line, columns);
  while (!message.empty() && (message.back() == '\n' || message.back() == ' '))
    message.remove_suffix(1);
  std::string_view last = message.substr(message.rfind('\n') + 1);
  last.remove_prefix(std::min(last.find_first_not_of(' '), last.size()));
  return fit_text(line + ' ' + std::string(last), columns);
}

std::string short_number(double value, int digits) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  std::array<char, 40> buffer{};
  const int size =
      std::snprintf(buffer.data(), buffer.size(), "%.*g", std::clamp(digits, 1, 17), value);
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

std::string duration_text(double seconds) {
  if (!(seconds > 0))
    return "0 s";
  if (seconds < 9.95)
    return short_number(std::round(seconds * 10) / 10, 2) + " s";
  constexpr double longest = 1e15;
  const auto total = static_cast<std::uint64_t>(std::llround(std::min(seconds, longest)));
  const auto pair = [](std::uint64_t big, const char* big_unit, std::uint64_t small,
                       const char* small_unit) {
    std::string text = std::to_string(big) + big_unit;
    if (small != 0)
      text += ' ' + std::to_string(small) + small_unit;
    return text;
  };
  if (total < 60)
    return std::to_string(total) + " s";
  if (total < 3600)
    return pair(total / 60, " min", total % 60, " s");
  if (total < 86400)
    return pair(total / 3600, " h", total / 60 % 60, " min");
  return pair(total / 86400, " d", total / 3600 % 24, " h");
}

std::string plural(std::uint64_t count, std::string_view noun) {
  std::string text = std::to_string(count) + ' ';
  text += noun;
  if (count != 1)
    text += 's';
  return text;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> units{" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  const double rounded = value < 100 ? std::round(value * 10) / 10 : std::round(value);
  return short_number(rounded, 8) + units[unit];
}

std::string local_time_text(std::int64_t wall_ms) {
  const auto seconds = static_cast<std::time_t>(wall_ms / 1000);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  std::array<char, 32> buffer{};
  const std::size_t size = std::strftime(buffer.data(), buffer.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return std::string(buffer.data(), size);
}

std::size_t least_table_width(const TextTable& table) {
  std::vector<std::size_t> widths = natural_widths(table);
  for (std::size_t i = table.rigid; i < widths.size(); ++i)
    widths[i] = std::min(widths[i], least_cut_width);
  return total_width(widths);
}

std::string render_table(const TextTable& table, std::size_t width) {
  std::vector<std::size_t> widths = natural_widths(table);
  if (widths.empty())
    return {};
  fit_columns(widths, table.rigid, width);

  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t column = 0; column < widths.size(); ++column) {
      const std::string cell = column < cells.size() ? terminal_safe(cells[column]) : "";
      const Align align = column < table.align.size() ? table.align[column] : Align::left;
      if (column > 0)
        text.append(column_gap, ' ');
      text += padded(fit_text(cell, widths[column]), widths[column], align);
    }
    return text;
  };
  const auto add = [](std::string& out, std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  };
  std::string out;
  add(out, line(table.header) + (widths.size() < table.header.size() ? " ..." : ""));
  std::string rule;
  for (const std::size_t column : widths)
    rule += std::string(rule.empty() ? 0 : column_gap, ' ') + std::string(column, '-');
  add(out, rule);
  for (const auto& row : table.rows)
    add(out, line(row));
  return out;
}

}  // namespace troupe::tune
