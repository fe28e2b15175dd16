#include <troupe/base/file.hpp>
#include <troupe/tune/report/csv.hpp>

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

namespace troupe::tune {

namespace {

constexpr std::size_t chunk_bytes = 64 * 1024;

/// Copies records, adding `header_suffix` to the first and `suffix` to the others.
class Widener {
public:
  Widener(std::string header_suffix, std::string suffix)
      : header_suffix_(std::move(header_suffix)), suffix_(std::move(suffix)) {}

  /// Takes a part of the file; what is complete is appended to `out`.
  void feed(std::string_view part, std::string& out) {
    for (const char c : part) {
      if (c == '"')
        quoted_ = !quoted_;
      if (c != '\n' || quoted_) {
        record_ += c;
        continue;
      }
      out += record_ + (first_ ? header_suffix_ : suffix_) + '\n';
      record_.clear();
      first_ = false;
    }
  }

private:
  std::string header_suffix_;
  std::string suffix_;
  std::string record_;
  bool quoted_ = false;
  bool first_ = true;
};

}  // namespace

void append_csv_field(std::string& out, std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += field;
    return;
  }
  out += '"';
  for (const char c : field) {
    if (c == '"')
      out += '"';
    out += c;
  }
  out += '"';
}

std::string csv_record(std::span<const std::string> fields) {
  std::string out;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0)
      out += ',';
    append_csv_field(out, fields[i]);
  }
  out += '\n';
  return out;
}

std::optional<std::vector<std::string>> take_csv_record(std::string_view& text) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        fields.back() += '"';
        ++i;
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      text.remove_prefix(i + 1);
      return fields;
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return std::nullopt;
}

namespace {

Status write_widened(const std::filesystem::path& path, const std::string& part_path,
                     Widener& widener) {
  TROUPE_TRY(in, open_file(path, O_RDONLY));
  TROUPE_TRY(out, open_file(part_path, O_WRONLY | O_CREAT | O_TRUNC));
  for (;;) {
    TROUPE_TRY(part, read_up_to(in.get(), chunk_bytes, path.string()));
    if (part.empty())
      break;
    std::string text;
    widener.feed(part, text);
    TROUPE_RETURN_IF_ERROR(write_all(out.get(), text, part_path));
  }
  TROUPE_RETURN_IF_ERROR(out.close(part_path));
  if (std::rename(part_path.c_str(), path.c_str()) != 0)
    return errno_error(errno, "cannot replace '" + path.string() + "'");
  return ok();
}

}  // namespace

Status widen_csv(const std::filesystem::path& path, std::span<const std::string> names) {
  std::string header_suffix;
  for (const std::string& name : names) {
    header_suffix += ',';
    append_csv_field(header_suffix, name);
  }
  Widener widener(std::move(header_suffix), std::string(names.size(), ','));

  const std::string part_path = path.string() + ".part";
  Status widened = write_widened(path, part_path, widener);
  if (!widened)
    ::unlink(part_path.c_str());
  return widened;
}

}  // namespace troupe::tune
