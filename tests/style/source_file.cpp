#include "source_file.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace troupe::style {
namespace {

/// Blanks comments and the contents of string and character literals, so that a rule about code
/// does not see prose. Newlines stay where they are.
class Blanker {
public:
  explicit Blanker(std::string_view text) : text_(text), result_(text) {}

  std::string run() {
    while (at_ < text_.size()) {
      if (starts_with("//")) {
        blank_until("\n", false);
      } else if (starts_with("/*")) {
        blank_until("*/", true);
      } else if (starts_with("R\"")) {
        raw_string();
      } else if (text_[at_] == '"') {
        literal('"');
      } else if (text_[at_] == '\'' && !is_digit_separator()) {
        literal('\'');
      } else {
        ++at_;
      }
    }
    return std::move(result_);
  }

private:
  bool starts_with(std::string_view prefix) const {
    return text_.substr(at_, prefix.size()) == prefix;
  }

  bool is_digit_separator() const {
    if (at_ == 0 || at_ + 1 >= text_.size()) {
      return false;
    }
    const auto is_hex = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    };
    return is_hex(text_[at_ - 1]) && is_hex(text_[at_ + 1]);
  }

  void blank(std::size_t end) {
    for (; at_ < end; ++at_) {
      if (text_[at_] != '\n') {
        result_[at_] = ' ';
      }
    }
  }

  void blank_until(std::string_view end, bool including_end) {
    const std::size_t found = text_.find(end, at_ + 2);
    blank(found == std::string_view::npos ? text_.size()
                                          : found + (including_end ? end.size() : 0));
  }

  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      ++at_;
      return;
    }
    const std::string end = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
    const std::size_t close = text_.find(end, open);
    at_ = open + 1;
    blank(close == std::string_view::npos ? text_.size() : close);
    at_ = std::min(text_.size(), at_ + end.size());
  }

  void literal(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    ++at_;
    blank(std::min(end, text_.size()));
    ++at_;
  }

  std::string_view text_;
  std::string result_;
  std::size_t at_ = 0;
};

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw std::runtime_error("cannot read " + path.string());
  }
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bool is_checked(const std::filesystem::path& path) {
  static constexpr std::array<std::string_view, 4> extensions = {".hpp", ".cpp", ".cmake", ".sh"};
  const std::string extension = path.extension().string();
  return path.filename() == "CMakeLists.txt" ||
         std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

}  // namespace

SourceFile parse(std::string path, std::string_view text) {
  SourceFile file{.path = std::move(path), .lines = split_lines(text), .code = {}};
  file.code = is_cpp(file) ? split_lines(Blanker(text).run()) : file.lines;
  return file;
}

std::vector<SourceFile> read_tree(const std::filesystem::path& root) {
  namespace fs = std::filesystem;
  std::vector<SourceFile> files;
  for (const char* folder : {"troupe", "tests", "examples", "benchmarks", "cmake", "scripts"}) {
    if (!fs::exists(root / folder)) {
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.is_regular_file() && is_checked(entry.path())) {
        files.push_back(
            parse(entry.path().lexically_relative(root).generic_string(), read_file(entry.path())));
      }
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

Include include_of(std::string_view line) {
  const std::size_t hash = line.find_first_not_of(' ');
  if (hash == std::string_view::npos || line.substr(hash, 8) != "#include") {
    return {};
  }
  const std::size_t open = line.find_first_of("<\"", hash);
  if (open == std::string_view::npos) {
    return {};
  }
  const bool quoted = line[open] == '"';
  const std::size_t close = line.find(quoted ? '"' : '>', open + 1);
  return {.path = line.substr(open + 1, close - open - 1), .quoted = quoted};
}

bool is_header(const SourceFile& file) {
  return file.path.ends_with(".hpp");
}

bool is_cpp(const SourceFile& file) {
  return is_header(file) || file.path.ends_with(".cpp");
}

bool is_public_header(const SourceFile& file) {
  return is_header(file) && file.path.starts_with("troupe/") &&
         file.path.find("/detail/") == std::string::npos;
}

}  // namespace troupe::style
