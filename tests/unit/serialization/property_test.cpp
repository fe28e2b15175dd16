#include <troupe/serialization/detail/record_codec.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/serialization/value_codec.hpp>

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "memory_probe.hpp"
#include "random_value.hpp"

using namespace troupe;
using troupe::test::damage;
using troupe::test::MemoryProbe;
using troupe::test::random_map;
using troupe::test::random_value;

namespace {

// Beside the decoded objects: growing vectors, the error and its copies.
constexpr std::size_t slack_bytes = 16 * 1024;
// A null takes one byte in an archive and 40 in memory, and a vector may be twice its content.
constexpr std::size_t memory_per_byte = 160;

Random make(std::uint64_t stream) {
  return Random(20'240'601, stream, RandomPurpose::test);
}

struct Snapshot {
  std::uint64_t sequence = 0;
  std::vector<std::string> names;
  std::map<std::string, double> best;
  std::optional<Map> config;
  std::vector<Snapshot> parts;

  friend bool operator==(const Snapshot&, const Snapshot&) = default;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive(sequence, names, best, config, parts);
  }
};

Snapshot random_snapshot(Random& random, int depth = 2) {
  Snapshot snapshot;
  snapshot.sequence = random.next_u64();
  for (std::uint64_t i = random.below(4); i > 0; --i)
    snapshot.names.push_back(std::string(i, 'n'));
  for (std::uint64_t i = random.below(4); i > 0; --i)
    snapshot.best[std::to_string(i)] = 0.5;
  if (random.chance(0.7))
    snapshot.config = random_map(random, 3);
  if (depth > 0)
    for (std::uint64_t i = random.below(3); i > 0; --i)
      snapshot.parts.push_back(random_snapshot(random, depth - 1));
  return snapshot;
}

}  // namespace

TEST_CASE("random values survive bytes and JSON, and equal values have equal bytes") {
  for (std::uint64_t i = 0; i < 3000; ++i) {
    Random random = make(i);
    const Value value = random_value(random);
    CAPTURE(i);
    const std::string bytes = encode_value(value);
    const auto from_bytes = decode_value(bytes);
    REQUIRE(from_bytes.has_value());
    REQUIRE(*from_bytes == value);
    REQUIRE(encode_value(*from_bytes) == bytes);
    for (const JsonStyle style : {JsonStyle::compact, JsonStyle::pretty}) {
      const std::string text = to_json(value, style);
      const auto from_text = parse_json(text);
      REQUIRE_MESSAGE(from_text.has_value(), text);
      REQUIRE_MESSAGE(*from_text == value, text);
      REQUIRE(to_json(*from_text, style) == text);
    }
  }
}

TEST_CASE("the order of random values is an order") {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    Random random = make(i);
    const Value a = random_value(random, 2);
    const Value b = random_value(random, 2);
    const Value c = random_value(random, 2);
    REQUIRE((a == b) == (encode_value(a) == encode_value(b)));
    REQUIRE((a < b) == (b > a));
    if (a <= b && b <= c)
      REQUIRE(a <= c);
  }
}

TEST_CASE("3,000 damaged values: a clean error or the value the bytes mean, and bounded memory") {
  int accepted = 0;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    Random random = make(i);
    const std::string bytes = damage(random, encode_value(random_map(random)));
    CAPTURE(i);
    const MemoryProbe probe;
    const auto result = decode_value(bytes);
    REQUIRE(probe.peak_bytes() <= slack_bytes + memory_per_byte * bytes.size());
    if (result) {
      ++accepted;
      REQUIRE(encode_value(*result) == bytes);
    } else {
      REQUIRE(result.error().code() == ErrorCode::corrupt);
    }
  }
  CHECK(accepted > 0);  // a flipped bit of a number is another number: why there are envelopes
}

TEST_CASE("3,000 damaged archives: a clean error or a value, and bounded memory") {
  for (std::uint64_t i = 0; i < 3000; ++i) {
    Random random = make(i);
    const Snapshot snapshot = random_snapshot(random);
    std::string good;
    detail::write_archive(good, snapshot, 1);
    const auto back = detail::read_archive<Snapshot>(good, 1);
    REQUIRE(back.has_value());
    REQUIRE(*back == snapshot);
    const std::string bytes = damage(random, good);
    CAPTURE(i);
    const MemoryProbe probe;
    const auto result = detail::read_archive<Snapshot>(bytes, 1);
    REQUIRE(probe.peak_bytes() <= slack_bytes + memory_per_byte * bytes.size());
    if (!result) {
      const ErrorCode code = result.error().code();
      REQUIRE((code == ErrorCode::corrupt || code == ErrorCode::resource_exhausted));
    }
  }
}

TEST_CASE("3,000 damaged envelopes are all refused") {
  for (std::uint64_t i = 0; i < 3000; ++i) {
    Random random = make(i);
    const std::string good = seal(5, 1, encode_value(random_value(random)));
    const std::string bytes = damage(random, good);
    CAPTURE(i);
    if (bytes != good)
      REQUIRE_FALSE(open_envelope(bytes, 5, 1));
  }
}

TEST_CASE("3,000 damaged JSON texts: a clean error or a value that reads back") {
  for (std::uint64_t i = 0; i < 3000; ++i) {
    Random random = make(i);
    const std::string text = damage(random, to_json(random_map(random)));
    CAPTURE(i);
    const auto result = parse_json(text);
    if (result) {
      REQUIRE(*parse_json(to_json(*result)) == *result);
    } else {
      REQUIRE(result.error().message().starts_with("JSON line "));
    }
  }
}
