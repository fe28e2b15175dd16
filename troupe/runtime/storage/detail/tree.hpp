#pragma once

#include <troupe/base/file.hpp>
#include <troupe/base/result.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Folders of plain files, looked at without following a link.
namespace troupe::detail {

/// Names relative to the folder, sorted.
struct Tree {
  std::vector<std::string> files;
  std::vector<std::string> directories;  ///< a parent comes before its children
};

/// Everything below `root`. invalid_argument for anything but files and folders, naming it and its
/// kind, and for names that `is_safe_name` refuses.
Result<Tree> list_tree(const std::filesystem::path& root);

/// Copies `tree` from `source` into the empty folder `target`: shares the data where the file
/// system can, else copies inside the kernel, else reads and writes.
Status copy_tree(const Tree& tree, const std::filesystem::path& source,
                 const std::filesystem::path& target);

/// Opens `name` below `directory`, none of its parts a link. `flags` as for open(2). Invalid, with
/// the reason in `error` (an errno value), when that fails.
FileDescriptor open_below(int directory, std::string_view name, int flags, int& error);

/// Removes a folder and all below it; fine when there is none.
Status remove_tree(const std::filesystem::path& path);

}  // namespace troupe::detail
