#pragma once

#include <troupe/base/ids.hpp>
#include <troupe/base/result.hpp>
#include <troupe/serialization/record.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// What the store writes beside the records it is given.
///
/// - meta: `schema`, `store_id`, `high_water`
/// - events: seq:8 -> chain:4, the event. The chain (write_rules.hpp) ties it to all before it.
/// - tables: key -> seq:8 of the event it was written with, the record
namespace troupe::detail {

inline constexpr std::uint16_t schema_major = 1;
inline constexpr std::uint16_t schema_minor = 0;
/// The oldest schema_major whose code reads what this one writes.
inline constexpr std::uint16_t schema_min_reader = 1;

inline constexpr std::string_view schema_key = "schema";
inline constexpr std::string_view store_id_key = "store_id";
inline constexpr std::string_view high_water_key = "high_water";

struct StoreSchema {
  static constexpr RecordInfo record{41, 1, "store_schema"};
  std::uint16_t major = schema_major;
  std::uint16_t minor = schema_minor;
  std::uint16_t min_reader = schema_min_reader;
  std::string written_by;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& major& minor& min_reader& written_by;
  }
};

struct StoreIdentity {
  static constexpr RecordInfo record{42, 1, "store_identity"};
  std::string store_id;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& store_id;
  }
};

/// The end of the journal; rewritten with every batch.
struct HighWater {
  static constexpr RecordInfo record{43, 1, "high_water"};
  Sequence sequence;
  std::uint32_t chain = 0;

  friend bool operator==(const HighWater&, const HighWater&) = default;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& sequence& chain;
  }
};

/// The file beside the store: up to `mark` the store was durable.
struct Witness {
  static constexpr RecordInfo record{44, 1, "store_witness"};
  std::string store_id;
  HighWater mark;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& store_id& mark;
  }
};

inline constexpr std::size_t event_prefix_bytes = 4;
inline constexpr std::size_t row_prefix_bytes = 8;

struct StoredEvent {
  std::uint32_t chain = 0;
  std::string_view event;
};
struct StoredRow {
  Sequence written_with;
  std::string_view record;
};

[[nodiscard]] std::string event_key(Sequence sequence);
[[nodiscard]] std::string event_prefix(std::uint32_t chain);
[[nodiscard]] std::string row_prefix(Sequence written_with);

/// Errors: corrupt, without the place.
Result<Sequence> parse_event_key(std::string_view key);
Result<StoredEvent> parse_event(std::string_view value);
Result<StoredRow> parse_row(std::string_view value);

/// 128 random bits as text.
Result<std::string> make_store_id();

}  // namespace troupe::detail
