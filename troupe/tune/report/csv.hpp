#pragma once

#include <troupe/base/result.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Comma separated values as in RFC 4180: fields with a comma, a quote or a line end are quoted,
/// quotes are doubled, lines end in '\n'.
namespace troupe::tune {

/// Appends one field, quoted where it must be.
void append_csv_field(std::string& out, std::string_view field);

/// One record with its line end.
[[nodiscard]] std::string csv_record(std::span<const std::string> fields);

/// Takes one record off the front of `text`, with its line end. Nothing when `text` is empty or the
/// record is not complete (no line end, or an open quote).
[[nodiscard]] std::optional<std::vector<std::string>> take_csv_record(std::string_view& text);

/// Adds columns to a file: the header grows by `names`, every record by as many empty fields. The
/// file is replaced as a whole, so that a reader sees the old or the new one. A last line without
/// its end (a writer was killed) is left out. Memory does not grow with the file.
Status widen_csv(const std::filesystem::path& path, std::span<const std::string> names);

}  // namespace troupe::tune
