#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string>
#include <string_view>

#include "rules.hpp"

namespace troupe::style {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Finds `token` in `line` where no word goes on before or after it.
std::size_t find_token(std::string_view line, std::string_view token, std::size_t from = 0) {
  for (std::size_t at = line.find(token, from); at != std::string_view::npos;
       at = line.find(token, at + 1)) {
    const std::size_t end = at + token.size();
    const bool starts = at == 0 || !is_word(line[at - 1]) || !is_word(token.front());
    const bool ends = end >= line.size() || !is_word(line[end]) || !is_word(token.back());
    if (starts && ends) {
      return at;
    }
  }
  return std::string_view::npos;
}

std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;  // not a continuation byte of UTF-8
  }));
}

bool starts_with_any(std::string_view path, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return path.starts_with(prefix); });
}

bool anywhere(std::string_view) {
  return true;
}
/// The programs in tests/support misbehave on purpose.
bool outside_support(std::string_view path) {
  return !path.starts_with("tests/support/");
}
bool in_library(std::string_view path) {
  return path.starts_with("troupe/");
}
bool in_tests(std::string_view path) {
  return path.starts_with("tests/") && !path.starts_with("tests/support/");
}
bool in_quiet_library(std::string_view path) {
  return in_library(path) && !starts_with_any(path, {"troupe/apps/", "troupe/tune/report/"});
}
bool outside_the_clock(std::string_view path) {
  return (in_library(path) && !path.starts_with("troupe/base/clock")) || in_tests(path);
}

struct Ban {
  std::string_view token;  ///< ends in '(' for a free function: a member of that name is not meant
  bool (*applies)(std::string_view path);
  std::string_view instead;
};

constexpr std::string_view use_random =
    "the counter-based numbers of troupe/base/random.hpp; getrandom(2) where it names something";
constexpr std::string_view use_wait = "wait for the condition itself, with a deadline";
constexpr std::string_view use_clock = "the Clock of troupe/base/clock.hpp";
constexpr std::string_view use_spawn = "posix_spawn through troupe/runtime/process";
constexpr std::string_view use_string = "std::string or std::to_chars";

constexpr std::array bans = {
    Ban{"std::random_device", anywhere, use_random},
    Ban{"rand(", anywhere, use_random},
    Ban{"srand(", anywhere, use_random},
    Ban{"sleep_for", in_tests, use_wait},
    Ban{"sleep_until", in_tests, use_wait},
    Ban{"usleep(", in_tests, use_wait},
    Ban{"nanosleep(", in_tests, use_wait},
    Ban{"sleep(", in_tests, use_wait},
    Ban{"std::cout", in_quiet_library, "the log of troupe/base/log.hpp, or return the text"},
    Ban{"steady_clock::now", outside_the_clock, use_clock},
    Ban{"system_clock::now", outside_the_clock, use_clock},
    Ban{"high_resolution_clock", outside_the_clock, use_clock},
    Ban{"fork(", outside_support, use_spawn},
    Ban{"vfork(", outside_support, use_spawn},
    Ban{"system(", anywhere, use_spawn},
    Ban{"popen(", anywhere, use_spawn},
    Ban{"sprintf(", anywhere, use_string},
    Ban{"vsprintf(", anywhere, use_string},
    Ban{"strcpy(", anywhere, use_string},
    Ban{"strcat(", anywhere, use_string},
    Ban{"using namespace std;", anywhere, "the names with std::"},
    Ban{"catch (...) {}", anywhere, "handle the error, or say in the block why it is dropped"},
};

/// Whether the call at `at` is of a free function: not a member, not a declaration of one's own.
bool is_free_call(std::string_view line, std::size_t at) {
  const std::size_t before = at == 0 ? std::string_view::npos : line.find_last_not_of(' ', at - 1);
  if (before == std::string_view::npos) {
    return true;
  }
  const char previous = line[before];
  if (previous == ':') {
    const std::string_view qualifier = line.substr(0, before + 1);
    return qualifier.ends_with("std::") || !(before >= 2 && is_word(line[before - 2]));
  }
  if (is_word(previous)) {
    return line.substr(0, before + 1).ends_with("return");
  }
  return previous != '.' && previous != '>' && previous != '&' && previous != '*' &&
         previous != '~' && previous != ',';
}

/// The C library's system() takes an argument; an actor's own does not.
bool takes_what_it_should(std::string_view line, std::size_t at, std::string_view token) {
  return token != "system(" || line.substr(at + token.size(), 1) != ")";
}

std::size_t find_ban(std::string_view line, std::string_view token) {
  std::size_t at = find_token(line, token);
  if (token.back() == '(') {
    while (at != std::string_view::npos &&
           !(is_free_call(line, at) && takes_what_it_should(line, at, token))) {
      at = find_token(line, token, at + 1);
    }
  }
  return at;
}

bool is_allowed(std::string_view line, std::string_view token) {
  const std::size_t end = token.find_last_not_of('(') + 1;
  const std::string mark = "style: allow(" + std::string(token.substr(0, end)) + ")";
  const std::size_t at = line.find(mark);
  // An exception without a reason is none.
  return at != std::string_view::npos && line.size() > at + mark.size() + 5;
}

/// Whether the text before an opening brace is the head of a function (or of a test case).
bool is_function_head(std::string_view head) {
  for (const std::string_view word : {"namespace", "class", "struct", "union", "enum"}) {
    if (find_token(head, word) != std::string_view::npos && head.find('(') == std::string::npos) {
      return false;
    }
  }
  const std::size_t end = head.find_last_not_of(" \n");
  return head.find(')') != std::string_view::npos && end != std::string_view::npos &&
         head[end] != '=' && head[end] != ',' && head[end] != '(';
}

/// Follows the braces of a file and reports functions that are too long. A function is an outermost
/// block with a parameter list before it; lambdas and control statements inside belong to it.
class FunctionLengths {
public:
  FunctionLengths(const SourceFile& file, Violations& found) : file_(file), found_(found) {}

  void run() {
    for (line_ = 1; line_ <= file_.code.size(); ++line_) {
      const std::string& text = file_.code[line_ - 1];
      if (!text.empty() && text.front() == '#') {
        continue;
      }
      for (const char c : text) {
        step(c);
      }
      head_ += '\n';
    }
  }

private:
  void step(char c) {
    if (initialiser_depth_ > 0 || (c == '{' && starts_initialiser())) {
      initialiser_depth_ += c == '{' ? 1 : 0;
      initialiser_depth_ -= c == '}' ? 1 : 0;
      return;
    }
    if (c == '{') {
      ++depth_;
      if (function_depth_ == 0 && is_function_head(head_)) {
        function_depth_ = depth_;
        start_ = line_;
      }
    } else if (c == '}') {
      if (depth_ == function_depth_) {
        report();
        function_depth_ = 0;
      }
      depth_ -= depth_ > 0 ? 1 : 0;
    }
    if (c == '{' || c == '}' || c == ';') {
      head_.clear();
    } else {
      head_ += c;
    }
  }

  /// As in `a_{x}`: our layout has a space before the brace of a block.
  bool starts_initialiser() const {
    return !head_.empty() && (is_word(head_.back()) || head_.back() == '>');
  }

  void report() {
    const std::size_t length = line_ - start_ + 1;
    if (length > function_lines_max) {
      found_.push_back({file_.path, start_,
                        "function of " + std::to_string(length) + " lines, more than " +
                            std::to_string(function_lines_max) + ": split it by what it does"});
    }
  }

  const SourceFile& file_;
  Violations& found_;
  std::string head_;
  std::size_t line_ = 0;
  std::size_t start_ = 0;
  std::size_t depth_ = 0;
  std::size_t function_depth_ = 0;
  std::size_t initialiser_depth_ = 0;
};

}  // namespace

void check_lines(const SourceFile& file, Violations& found) {
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    const auto report = [&](std::string message) {
      found.push_back({file.path, i + 1, std::move(message)});
    };
    if (columns(line) > columns_max) {
      report("line of " + std::to_string(columns(line)) + " columns, more than " +
             std::to_string(columns_max));
    }
    if (line.find('\t') != std::string::npos) {
      report("tab: use spaces");
    }
    if (!line.empty() && (line.back() == ' ' || line.back() == '\r')) {
      report("space or carriage return at the end of the line");
    }
    for (const std::string_view word : {"TO"
                                        "DO",
                                        "FIX"
                                        "ME",
                                        "XX"
                                        "X"}) {
      if (find_token(line, word) != std::string_view::npos) {
        report("leftover " + std::string(word) + ": do it or drop it");
      }
    }
  }
}

void check_lengths(const SourceFile& file, Violations& found) {
  if (file.lines.size() > file_lines_max) {
    found.push_back({file.path, 0,
                     "file of " + std::to_string(file.lines.size()) + " lines, more than " +
                         std::to_string(file_lines_max) + ": split it by topic"});
  }
  if (is_cpp(file)) {
    FunctionLengths(file, found).run();
  }
}

void check_banned(const SourceFile& file, Violations& found) {
  if (!is_cpp(file)) {
    return;
  }
  for (std::size_t i = 0; i < file.code.size(); ++i) {
    for (const Ban& ban : bans) {
      if (ban.applies(file.path) && find_ban(file.code[i], ban.token) != std::string_view::npos &&
          !is_allowed(file.lines[i], ban.token)) {
        found.push_back(
            {file.path, i + 1,
             std::string(ban.token) + " is banned here: use " + std::string(ban.instead)});
      }
    }
  }
}

void check_header(const SourceFile& file, Violations& found) {
  if (!is_header(file)) {
    return;
  }
  const auto first = std::find_if(file.code.begin(), file.code.end(), [](const std::string& line) {
    return line.find_first_not_of(' ') != std::string::npos;
  });
  if (first == file.code.end() || *first != "#pragma once") {
    found.push_back({file.path, 1, "the first line of code of a header is #pragma once"});
  }
  for (std::size_t i = 0; i < file.code.size(); ++i) {
    if (file.code[i].starts_with("using namespace")) {
      found.push_back({file.path, i + 1, "a header does not open a namespace for its includers"});
    }
  }
}

}  // namespace troupe::style
