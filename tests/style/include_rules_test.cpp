#include <string>

#include <doctest/doctest.h>

#include "rules.hpp"

using namespace troupe::style;

namespace {

std::size_t layering(const std::string& path, const std::string& include) {
  Violations found;
  check_layering(parse(path, "#include <" + include + ">\n"), found);
  return found.size();
}

template <class Rule>
Violations check(Rule rule, const std::vector<SourceFile>& files) {
  Violations found;
  rule(files, found);
  return found;
}

}  // namespace

TEST_CASE("an include to the right is found, one to the left is not") {
  CHECK(layering("troupe/base/a.cpp", "troupe/serialization/value.hpp") == 1);
  CHECK(layering("troupe/runtime/store/a.hpp", "troupe/actors/link.hpp") == 1);
  CHECK(layering("troupe/train/a.hpp", "troupe/tune/tuner.hpp") == 1);
  CHECK(layering("troupe/actors/a.hpp", "troupe/tune.hpp") == 1);
  CHECK(layering("troupe/tune/a.hpp", "troupe/actors/link.hpp") == 0);
  CHECK(layering("troupe/apps/a.cpp", "troupe/tune.hpp") == 0);
  CHECK(layering("troupe/runtime/store/a.hpp", "troupe/runtime/storage/b.hpp") == 0);
  CHECK(layering("tests/unit/base/a.cpp", "troupe/tune.hpp") == 0);
}

TEST_CASE("searchers and schedulers include base, serialization and themselves alone") {
  CHECK(layering("troupe/tune/search/a.hpp", "troupe/runtime/store/journal.hpp") == 1);
  CHECK(layering("troupe/tune/search/a.hpp", "troupe/tune/tuner.hpp") == 1);
  CHECK(layering("troupe/tune/search/a.hpp", "troupe/tune/schedule/asha.hpp") == 1);
  CHECK(layering("troupe/tune/schedule/a.hpp", "troupe/tune/search/space.hpp") == 1);
  CHECK(layering("troupe/tune/search/a.hpp", "troupe/tune/search/space.hpp") == 0);
  CHECK(layering("troupe/tune/schedule/a.hpp", "troupe/serialization/value.hpp") == 0);
  CHECK(layering("troupe/tune/search/a.cpp", "Eigen/Dense") == 0);
}

TEST_CASE("a quoted include in the library is found") {
  Violations found;
  check_layering(parse("troupe/base/a.cpp", "#include \"error.hpp\"\n"), found);
  CHECK(found.size() == 1);
}

TEST_CASE("a third-party header is found in a public header, not in a source or a detail header") {
  const std::string text = "#include <boost/archive/binary_oarchive.hpp>\n";
  CHECK(check(check_third_party, {parse("troupe/base/a.hpp", text)}).size() == 1);
  CHECK(check(check_third_party, {parse("troupe/base/a.cpp", text)}).empty());
  CHECK(check(check_third_party, {parse("troupe/base/detail/a.hpp", text)}).empty());
}

TEST_CASE("a third-party header is found behind a detail header, with the way to it") {
  const Violations found = check(
      check_third_party, {parse("troupe/base/a.hpp", "#include <troupe/base/detail/b.hpp>\n"),
                          parse("troupe/base/detail/b.hpp", "#include <nlohmann/json.hpp>\n")});
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == "troupe/base/a.hpp");
  CHECK(found[0].message.find("troupe/base/detail/b.hpp -> <nlohmann/json.hpp>") !=
        std::string::npos);
}

TEST_CASE("the writer of the store is found behind a public header of tune") {
  const SourceFile between =
      parse("troupe/actors/controller.hpp", "#include <troupe/runtime/store/store_writer.hpp>\n");
  const std::string text = "#include <troupe/actors/controller.hpp>\n";
  CHECK(check(check_tune_surface, {parse("troupe/tune/a.hpp", text), between}).size() == 1);
  CHECK(check(check_tune_surface, {parse("troupe/tune.hpp", text), between}).size() == 1);
  CHECK(check(check_tune_surface, {parse("troupe/tune/a.cpp", text), between}).empty());
}

TEST_CASE("CAF is found outside actors, and in a header for users") {
  const std::string text = "#include <caf/actor.hpp>\n";
  CHECK(check(check_third_party, {parse("troupe/tune/a.cpp", text)}).size() == 1);
  CHECK(check(check_third_party, {parse("troupe/actors/a.hpp", text)}).size() == 1);
  CHECK(check(check_third_party, {parse("troupe/actors/a.cpp", text)}).empty());
  CHECK(check(check_third_party, {parse("troupe/actors/embed.hpp", text)}).empty());
}

TEST_CASE("a file that no CMakeLists.txt names is found") {
  const SourceFile list =
      parse("troupe/base/CMakeLists.txt", "troupe_library(SOURCES a.cpp detail/b.hpp)\n");
  CHECK(check(check_listed, {list, parse("troupe/base/a.cpp", "")}).empty());
  CHECK(check(check_listed, {list, parse("troupe/base/detail/b.hpp", "")}).empty());
  CHECK(check(check_listed, {list, parse("troupe/base/b.hpp", "")}).size() == 1);
  CHECK(check(check_listed, {list, parse("troupe/base/aa.cpp", "")}).size() == 1);
}
