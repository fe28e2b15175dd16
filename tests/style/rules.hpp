#pragma once

#include <string>
#include <vector>

#include "source_file.hpp"

namespace troupe::style {

// Rules about a file by itself. Each appends what it finds.
// A line that has a good reason says so beside it: `// style: allow(sleep_for) <reason>`, with the
// name of what is allowed.

inline constexpr std::size_t columns_max = 100;
inline constexpr std::size_t file_lines_max = 600;
inline constexpr std::size_t function_lines_max = 70;

/// Length of lines (in characters, not bytes), tabs, spaces at the end, leftover work.
void check_lines(const SourceFile& file, Violations& found);
/// Length of the file and of its functions (test cases included).
void check_lengths(const SourceFile& file, Violations& found);
/// Calls that have a better replacement here, each with the folders it is banned from.
void check_banned(const SourceFile& file, Violations& found);
/// Headers start with `#pragma once` and open no namespace of others.
void check_header(const SourceFile& file, Violations& found);

// Rules about includes, which need the whole tree.

/// base <- serialization <- runtime <- actors <- train <- tune <- apps: a folder includes only what
/// stands left of it; tune/search and tune/schedule include base, serialization and themselves.
void check_layering(const SourceFile& file, Violations& found);
/// Third-party headers reach no public header, not even through another header; CAF stays in
/// actors/.
void check_third_party(const std::vector<SourceFile>& files, Violations& found);
/// The public headers of tune do not bring along how a store is written.
void check_tune_surface(const std::vector<SourceFile>& files, Violations& found);
/// Each source and header of a folder stands in its CMakeLists.txt: nothing is left out of the
/// build, of the check that headers compile alone, or of the installation.
void check_listed(const std::vector<SourceFile>& files, Violations& found);

}  // namespace troupe::style
