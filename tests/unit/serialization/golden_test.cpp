#include <troupe/base/file.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/serialization/detail/archive.hpp>
#include <troupe/serialization/envelope.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/serialization/value_codec.hpp>

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tests/golden/serialization/samples.hpp"

using namespace troupe;

namespace {

std::string golden(const std::string& name) {
  const auto path = std::filesystem::path(TROUPE_TESTS_DIR) / "golden/serialization" / name;
  return read_file(path, limits::mib).value_or_throw();
}

}  // namespace

TEST_CASE("bytes of values written by every release are read, and written the same") {
  const std::string bytes = golden("value.bin");
  const auto value = decode_value(bytes);
  REQUIRE(value.has_value());
  CHECK(*value == golden_sample::value());
  CHECK(encode_value(golden_sample::value()) == bytes);
}

TEST_CASE("JSON written by every release is read, and written the same") {
  const std::string text = golden("value.json");
  CHECK(*parse_json(text) == golden_sample::value());
  CHECK(to_json(golden_sample::value(), JsonStyle::pretty) + '\n' == text);
}

TEST_CASE("an envelope written by every release is opened, and written the same") {
  const std::string bytes = golden("envelope.bin");
  const auto envelope = open_envelope(bytes, golden_sample::envelope_type, 2);
  REQUIRE(envelope.has_value());
  CHECK(envelope->version == 2);
  CHECK(*decode_value(envelope->payload) == golden_sample::value());
  CHECK(seal(golden_sample::envelope_type, 2, envelope->payload) == bytes);
}

TEST_CASE("records of both versions are read; the newest is written the same") {
  using golden_sample::Row;
  const auto read = [](const std::string& bytes) {
    const auto envelope = open_envelope(bytes, golden_sample::row_type, 2).value_or_throw();
    return detail::read_archive<Row>(envelope.payload, envelope.version).value_or_throw();
  };
  CHECK(read(golden("row_v2.bin")) == golden_sample::row());
  Row old = golden_sample::row();
  old.note.reset();  // came with version 2
  CHECK(read(golden("row_v1.bin")) == old);
  CHECK(golden_sample::row_bytes(2) == golden("row_v2.bin"));
}
