#include <troupe/runtime/storage/detail/manifest.hpp>
#include <troupe/runtime/storage/detail/sha256.hpp>

#include <limits>
#include <string>

#include <doctest/doctest.h>

using namespace troupe;
using namespace troupe::detail;

namespace {

const std::string some_hash(64, 'a');

Manifest sample() {
  return {.number = 3,
          .iteration = 30,
          .time_total_s = 4.5,
          .files = {{.name = "a/b", .size = 7, .sha256 = some_hash}},
          .directories = {"a"}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

}  // namespace

TEST_CASE("a manifest reads back as it was written") {
  const std::string text = to_text(sample()).value_or_throw();
  const Manifest read = parse_manifest(text).value_or_throw();
  CHECK(read.number == 3);
  CHECK(read.iteration == 30);
  CHECK(read.time_total_s == 4.5);
  REQUIRE(read.files.size() == 1);
  CHECK(read.files[0].name == "a/b");
  CHECK(read.files[0].size == 7);
  CHECK(read.files[0].sha256 == some_hash);
  CHECK(read.directories == std::vector<std::string>{"a"});
  CHECK(to_text(read).value_or_throw() == text);
}

TEST_CASE("a manifest that names files outside the checkpoint is refused") {
  const std::string text = to_text(sample()).value_or_throw();
  for (const char* name : {"../x", "a/../../x", "/etc/passwd", "a//b", "a/", "./a", "", "a/.",
                           "manifest.json", "a\\u0000b"}) {
    CAPTURE(name);
    const auto read = parse_manifest(replaced(text, "\"a/b\"", '"' + std::string(name) + '"'));
    REQUIRE_FALSE(read);
    CHECK(read.error().code() == ErrorCode::corrupt);
  }
  CHECK_FALSE(parse_manifest(replaced(text, "\"a\"", "\"../a\"")));
}

TEST_CASE("a manifest with a field missing or of another type is refused") {
  const std::string text = to_text(sample()).value_or_throw();
  for (const char* field : {"number", "iteration", "time_total_s", "files", "directories", "format",
                            "version", "name", "size", "sha256"}) {
    CAPTURE(field);
    const std::string key = '"' + std::string(field) + '"';
    CHECK_FALSE(parse_manifest(replaced(text, key, "\"other\"")));
  }
  CHECK_FALSE(parse_manifest(replaced(text, "\"size\": 7", "\"size\": -7")));
  CHECK_FALSE(parse_manifest(replaced(text, "\"number\": 3", "\"number\": 4294967296")));
  CHECK_FALSE(parse_manifest(replaced(text, some_hash, std::string(64, 'A'))));
}

TEST_CASE("a manifest whose sizes have no sum is refused") {
  Manifest manifest = sample();
  manifest.files.push_back({.name = "c", .size = 1, .sha256 = some_hash});
  const std::string text = to_text(manifest).value_or_throw();
  const std::string most = std::to_string(std::numeric_limits<int64_t>::max());
  CHECK(parse_manifest(replaced(text, "\"size\": 1", "\"size\": 1000000")));
  CHECK_FALSE(parse_manifest(replaced(text, "\"size\": 1", "\"size\": " + most)));
}

TEST_CASE("text that is no manifest is refused") {
  for (const char* text : {"", "{", "[]", "null", "{}", "{\"format\": 3}", "{\"format\": \"x\"}"})
    CHECK_FALSE(parse_manifest(text));
}

TEST_CASE("a manifest of a later version is told from a damaged one") {
  const std::string text = to_text(sample()).value_or_throw();
  CHECK(parse_manifest(replaced(text, "\"version\": 1", "\"version\": 2")).error().code() ==
        ErrorCode::version_mismatch);
}

TEST_CASE("SHA-256 agrees with the examples of FIPS 180") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 hash;
  for (int i = 0; i < 1000; ++i)
    hash.update(std::string(1000, 'a'));
  CHECK(hash.finish() == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  hash.update("abc");
  CHECK(hash.finish() == sha256_hex("abc"));
}
