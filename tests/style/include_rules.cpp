#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "rules.hpp"

namespace troupe::style {
namespace {

constexpr std::array<std::string_view, 7> layers = {"base",  "serialization", "runtime", "actors",
                                                    "train", "tune",          "apps"};
/// Usable without the rest of the library.
constexpr std::array<std::string_view, 2> standalone = {"troupe/tune/search/",
                                                        "troupe/tune/schedule/"};
constexpr std::array<std::string_view, 12> third_party = {
    "nlohmann/", "CLI/", "spdlog/", "rocksdb/", "boost/",        "openssl/",
    "Eigen/",    "caf/", "toml++/", "curl/",    "LBFGSpp/LBFGS", "dlib/"};
/// Made for programs that have a CAF actor system of their own.
constexpr std::string_view embedding_header = "troupe/actors/embed.hpp";

bool is_third_party(std::string_view include) {
  return std::any_of(third_party.begin(), third_party.end(),
                     [&](std::string_view prefix) { return include.starts_with(prefix); });
}

/// The place in `layers` of troupe/<layer>/... or of the umbrella header troupe/<layer>.hpp.
std::optional<std::size_t> layer_of(std::string_view path) {
  if (!path.starts_with("troupe/")) {
    return std::nullopt;
  }
  path.remove_prefix(std::string_view("troupe/").size());
  const std::string_view name = path.substr(0, path.find_first_of("/."));
  const auto* found = std::find(layers.begin(), layers.end(), name);
  if (found == layers.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - layers.begin());
}

/// Why `file` may not include `include`, or nothing.
std::string layering_error(std::string_view file, std::string_view include) {
  const auto from = layer_of(file);
  const auto to = layer_of(include);
  if (!from || !to) {
    return {};
  }
  if (*to > *from) {
    return std::string(layers[*from]) + "/ includes nothing of " + std::string(layers[*to]) + "/";
  }
  for (const std::string_view folder : standalone) {
    if (file.starts_with(folder) && !include.starts_with(folder) && *to > 1) {
      return std::string(folder) + " includes only base, serialization and itself";
    }
  }
  return {};
}

/// Headers by path, for walking includes.
using Headers = std::map<std::string_view, const SourceFile*>;

/// How an unwanted header is reached from `file`, as "a.hpp -> b.hpp -> <boost/x.hpp>"; else
/// empty.
std::string chain_to(bool (*unwanted)(std::string_view), const SourceFile& file,
                     const Headers& headers, std::set<std::string_view>& seen) {
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string_view include = include_of(file.lines[i]).path;
    if (unwanted(include)) {
      return file.path + " -> <" + std::string(include) + ">";
    }
    const auto next = headers.find(include);
    if (next == headers.end() || include == embedding_header || !seen.insert(include).second) {
      continue;
    }
    const std::string rest = chain_to(unwanted, *next->second, headers, seen);
    if (!rest.empty()) {
      return file.path + " -> " + rest;
    }
  }
  return {};
}

Headers headers_of(const std::vector<SourceFile>& files) {
  Headers headers;
  for (const SourceFile& file : files) {
    if (is_header(file)) {
      headers.emplace(file.path, &file);
    }
  }
  return headers;
}

bool is_store_machinery(std::string_view include) {
  return include == "troupe/runtime/store/store_writer.hpp" ||
         include == "troupe/runtime/store/group_commit.hpp";
}

std::string folder_of(std::string_view path) {
  return std::string(path.substr(0, path.rfind('/') + 1));
}

/// CMakeLists.txt files by folder, each as one line.
using Lists = std::map<std::string, std::string>;

/// The folder whose list names a file, which is the nearest one upwards that has a list, and the
/// name it has there.
std::pair<std::string, std::string> place_in_lists(const std::string& path, const Lists& lists) {
  std::string folder = folder_of(path);
  while (!folder.empty() && !lists.contains(folder)) {
    folder = folder_of(std::string_view(folder).substr(0, folder.size() - 1));
  }
  return {folder, path.substr(folder.size())};
}

/// Whether a list has the name as a word.
bool names(std::string_view list, std::string_view name) {
  const auto is_end = [](char c) { return c == ' ' || c == ')' || c == '(' || c == '"'; };
  for (std::size_t at = list.find(name); at != std::string_view::npos;
       at = list.find(name, at + 1)) {
    if (is_end(list[at - 1]) && is_end(list[at + name.size()])) {
      return true;
    }
  }
  return false;
}

}  // namespace

void check_layering(const SourceFile& file, Violations& found) {
  if (!is_cpp(file)) {
    return;
  }
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const Include include = include_of(file.lines[i]);
    const std::string error = layering_error(file.path, include.path);
    if (!error.empty()) {
      found.push_back({file.path, i + 1, error});
    }
    if (include.quoted && file.path.starts_with("troupe/")) {
      found.push_back({file.path, i + 1, "includes are written <troupe/folder/file.hpp>"});
    }
  }
}

void check_tune_surface(const std::vector<SourceFile>& files, Violations& found) {
  const Headers headers = headers_of(files);
  for (const SourceFile& file : files) {
    if (!is_public_header(file) || !file.path.starts_with("troupe/tune")) {
      continue;
    }
    std::set<std::string_view> seen;
    const std::string chain = chain_to(is_store_machinery, file, headers, seen);
    if (!chain.empty()) {
      found.push_back({file.path, 0, "users of tune do not write the store: " + chain});
    }
  }
}

void check_third_party(const std::vector<SourceFile>& files, Violations& found) {
  const Headers headers = headers_of(files);
  for (const SourceFile& file : files) {
    if (is_public_header(file) && file.path != embedding_header) {
      std::set<std::string_view> seen;
      const std::string chain = chain_to(is_third_party, file, headers, seen);
      if (!chain.empty()) {
        found.push_back({file.path, 0, "a third-party header reaches a public one: " + chain});
      }
    }
    if (!file.path.starts_with("troupe/") || file.path.starts_with("troupe/actors/")) {
      continue;
    }
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      if (include_of(file.lines[i]).path.starts_with("caf/")) {
        found.push_back({file.path, i + 1, "CAF is used in troupe/actors/ only"});
      }
    }
  }
}

void check_listed(const std::vector<SourceFile>& files, Violations& found) {
  Lists lists;
  for (const SourceFile& file : files) {
    if (file.path.ends_with("/CMakeLists.txt")) {
      std::string& text = lists[folder_of(file.path)];
      for (const std::string& line : file.lines) {
        text += ' ' + line + ' ';
      }
    }
  }
  for (const SourceFile& file : files) {
    const bool library = file.path.starts_with("troupe/");
    if (!is_cpp(file) || (is_header(file) && !library) || file.path.starts_with("tests/support/")) {
      continue;
    }
    const auto [folder, name] = place_in_lists(file.path, lists);
    if (!names(lists[folder], name)) {
      found.push_back(
          {file.path, 0, "not named in " + folder + "CMakeLists.txt: add or delete it"});
    }
  }
}

}  // namespace troupe::style
