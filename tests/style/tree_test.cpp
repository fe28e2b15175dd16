#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "rules.hpp"

using namespace troupe::style;

namespace {

const std::vector<SourceFile>& tree() {
  static const std::vector<SourceFile> files =
      read_tree(std::filesystem::path(TROUPE_TESTS_DIR).parent_path());
  return files;
}

void expect_none(const Violations& found) {
  std::string report;
  for (const Violation& violation : found) {
    report +=
        violation.path + ':' + std::to_string(violation.line) + ": " + violation.message + '\n';
  }
  INFO(report);
  CHECK(found.empty());
}

void expect_none(void (*rule)(const SourceFile&, Violations&)) {
  Violations found;
  for (const SourceFile& file : tree()) {
    rule(file, found);
  }
  expect_none(found);
}

}  // namespace

TEST_CASE("the rules see the tree") {
  std::size_t headers = 0;
  for (const SourceFile& file : tree()) {
    headers += is_public_header(file) ? 1 : 0;
  }
  CHECK(headers > 0);
}

TEST_CASE("lines are short and clean") {
  expect_none(check_lines);
}

TEST_CASE("files and functions are short") {
  expect_none(check_lengths);
}

TEST_CASE("banned calls are not used") {
  expect_none(check_banned);
}

TEST_CASE("headers are guarded") {
  expect_none(check_header);
}

TEST_CASE("folders include only what stands left of them") {
  expect_none(check_layering);
}

TEST_CASE("third-party headers stay out of public ones") {
  Violations found;
  check_third_party(tree(), found);
  expect_none(found);
}

TEST_CASE("the public headers of tune leave the writer of the store out") {
  Violations found;
  check_tune_surface(tree(), found);
  expect_none(found);
}

TEST_CASE("every file is part of the build") {
  Violations found;
  check_listed(tree(), found);
  expect_none(found);
}
