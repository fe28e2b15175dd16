#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Text for people: numbers, durations and tables that fit a terminal. Pure functions.
namespace troupe::tune {

/// Columns that `text` takes on a terminal: one per code point, two for wide (East Asian, emoji),
/// none for combining marks. Bytes that are not UTF-8 count one each.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Makes `text` safe to print on a terminal: control characters (escape sequences, line ends) and
/// bytes that are not UTF-8 become '?'. What users and trials name never moves the cursor.
[[nodiscard]] std::string terminal_safe(std::string_view text);

/// At most `width` columns: longer text is cut and ends in "..." (where three columns are there).
[[nodiscard]] std::string fit_text(std::string_view text, std::size_t width);

/// The first line of a message. Where that ends with "last output:" the last line of the output
/// follows, because it is what tells most. At most 400 columns: error.txt has all of it.
[[nodiscard]] std::string one_line(std::string_view message);

/// A number in at most `digits` significant digits, without trailing zeros: 0.1, 1234, 1.2e-07,
/// nan.
[[nodiscard]] std::string short_number(double value, int digits = 6);

/// "0.4 s", "12 s", "3 min 20 s", "2 h 5 min", "4 d 1 h". Negative and NaN read as "0 s".
[[nodiscard]] std::string duration_text(double seconds);

/// "1 trial", "2 trials".
[[nodiscard]] std::string plural(std::uint64_t count, std::string_view noun);

/// "512 B", "1.5 KiB", "2 GiB".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

/// Local time "2026-01-31 14:02:05" of Unix milliseconds.
[[nodiscard]] std::string local_time_text(std::int64_t wall_ms);

enum class Align : std::uint8_t { left, right };

/// Rows under a header. A row shorter than the header reads as empty cells.
struct TextTable {
  std::vector<std::string> header;
  std::vector<Align> align;  ///< missing ones are left
  std::vector<std::vector<std::string>> rows;
  std::size_t max_cell_width = 20;
  std::size_t rigid = 0;  ///< so many first columns are cut at `max_rigid_width` only
  std::size_t max_rigid_width = 32;
};

/// Columns that the table needs when every cell is cut as far as `render_table` does.
[[nodiscard]] std::size_t least_table_width(const TextTable& table);

/// The table in lines of at most `width` columns, each ended by '\n'. Where it does not fit, cells
/// are cut first (to 8 columns; not the rigid ones), then the last columns are left out and the
/// header ends in " ...".
[[nodiscard]] std::string render_table(const TextTable& table, std::size_t width);

}  // namespace troupe::tune
