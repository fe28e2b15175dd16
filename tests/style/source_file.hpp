#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::style {

/// A file of the tree as the rules see it.
struct SourceFile {
  /// Relative to the root of the repository, with '/' between folders.
  std::string path;
  /// As they stand in the file.
  std::vector<std::string> lines;
  /// The same lines with comments and the contents of literals blanked; columns are kept.
  std::vector<std::string> code;
};

/// A place that breaks a rule. `line` counts from 1; 0 means the file as a whole.
struct Violation {
  std::string path;
  std::size_t line = 0;
  std::string message;
};

using Violations = std::vector<Violation>;

/// Makes a file of a text, for the tree and for the rules' own tests.
[[nodiscard]] SourceFile parse(std::string path, std::string_view text);

/// Reads the files below the repository's folders that the rules apply to, sorted by path.
[[nodiscard]] std::vector<SourceFile> read_tree(const std::filesystem::path& root);

/// The path of `#include <path>` or `#include "path"` in the line, or nothing; `quoted` tells
/// which.
struct Include {
  std::string_view path;
  bool quoted = false;
};
[[nodiscard]] Include include_of(std::string_view line);

[[nodiscard]] bool is_header(const SourceFile& file);
[[nodiscard]] bool is_cpp(const SourceFile& file);
/// A header that users may include: one of the library outside the detail/ folders.
[[nodiscard]] bool is_public_header(const SourceFile& file);

}  // namespace troupe::style
