#include <troupe/serialization/detail/record_codec.hpp>
#include <troupe/serialization/value.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace troupe;

namespace test_records {

/// As it is now: `started_ms` came with version 2.
struct Row {
  static constexpr RecordInfo record{490, 2, "test_row"};
  std::string name;
  std::int64_t started_ms = -1;

  template <class Archive>
  void serialize(Archive& archive, unsigned version) {
    archive(name);
    if (version >= 2)
      archive(started_ms);
  }
};

/// A type that can not be changed, so its traits stand outside.
struct Foreign {
  int n = 0;
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive(n);
  }
};

}  // namespace test_records

template <>
struct troupe::RecordTraits<test_records::Foreign> {
  static constexpr RecordInfo record{491, 4, "test_foreign", 3};
};

TROUPE_DEFINE_RECORD(test_records::Row);
TROUPE_DEFINE_RECORD(test_records::Foreign);

using test_records::Foreign;
using test_records::Row;

namespace {

std::string old_row(const Row& row) {
  std::string payload;
  detail::write_archive(payload, row, 1);
  return seal(Row::record.type, 1, payload);
}

}  // namespace

TEST_CASE("a record comes back with its envelope checked") {
  const std::string bytes = encode(Row{"trial", 77});
  const auto row = decode<Row>(bytes);
  REQUIRE(row.has_value());
  CHECK(row->name == "trial");
  CHECK(row->started_ms == 77);
  CHECK(open_any_envelope(bytes)->type == 490);
  CHECK(open_any_envelope(bytes)->version == 2);
}

TEST_CASE("an older version is read, with defaults for what it did not have") {
  const auto row = decode<Row>(old_row({"old", 5}));
  REQUIRE(row.has_value());
  CHECK(row->name == "old");
  CHECK(row->started_ms == -1);
}

TEST_CASE("errors name the record") {
  std::string bytes = encode(Row{"x", 1});
  bytes.back() = '!';
  CHECK(decode<Row>(bytes).error().message().starts_with("test_row: damaged"));
  CHECK(decode<Row>(encode(Foreign{1})).error().message() ==
        "test_row: a record of type 491 is where type 490 should be");
  CHECK(decode<Row>(seal(490, 3, "")).error().code() == ErrorCode::version_mismatch);
  CHECK(decode<Row>(seal(490, 2, "\5ab")).error().message().starts_with("test_row: a length of 5"));
  CHECK(decode<Foreign>(seal(491, 2, "")).error().code() == ErrorCode::version_mismatch);
}

TEST_CASE("a newer payload under an older version does not fit") {
  std::string payload;
  detail::write_archive(payload, Row{"x", 1}, 2);
  CHECK(decode<Row>(seal(490, 1, payload)).error().message().find("left over") !=
        std::string::npos);
}

TEST_CASE("all record types are listed by number, each once") {
  const auto types = record_types();
  for (std::size_t i = 1; i < types.size(); ++i)
    CHECK(types[i - 1].type < types[i].type);
  const RecordInfo* row = find_record_type(490);
  REQUIRE(row != nullptr);
  CHECK(row->name == "test_row");
  CHECK(row->version == 2);
  CHECK(find_record_type(65'535) == nullptr);
}

TEST_CASE("the same type may register again, as in a plugin") {
  const std::size_t before = record_types().size();
  CHECK(detail::register_record_type(Row::record));
  CHECK(record_types().size() == before);
}
