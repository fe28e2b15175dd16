#pragma once

#include <troupe/base/result.hpp>
#include <troupe/serialization/archive.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Versioned records: structs that are stored or sent, inside an envelope.
///
/// In the header:
///
///     struct TrialRow {
///       static constexpr RecordInfo record{20, 2, "trial_row"};   // type number, version, name
///       std::string name;
///       std::int64_t started_ms = 0;
///       template <class Archive>
///       void serialize(Archive& archive, unsigned version) {
///         archive(name);
///         if (version >= 2) archive(started_ms);
///       }
///     };
///
/// In exactly one source, outside namespaces:
///
///     #include <troupe/serialization/detail/record_codec.hpp>
///     TROUPE_DEFINE_RECORD(troupe::TrialRow);
///
/// Everywhere: `encode(row)` and `decode<TrialRow>(bytes)`. A type number used twice is an error of
/// the linker ("multiple definition of record_type_is_taken<20>") or, across shared libraries, of
/// the start of the program. Numbers are never reused. Ranges: 1-99 serialization and runtime,
/// 100-199 actors, 200-299 tune, 300-399 train, 400-499 tests, from 1000 users.
namespace troupe {

struct RecordInfo {
  std::uint16_t type;
  std::uint16_t version;  ///< what is written; everything from `oldest_version` on is read
  std::string_view name;
  std::uint16_t oldest_version = 1;
};

/// How a type says what record it is: a member `record`, or a specialisation with such a member.
template <class T>
struct RecordTraits {
  static constexpr RecordInfo record = T::record;
};

namespace detail {
template <class T>
struct RecordCodec {
  static std::string encode(const T& record);
  static Result<T> decode(std::string_view bytes);
};
}  // namespace detail

/// Writes a record of the newest version, in its envelope. Throws Exception resource_exhausted when
/// it breaks a limit (bytes, depth).
template <class T>
[[nodiscard]] std::string encode(const T& record) {
  return detail::RecordCodec<T>::encode(record);
}

/// Reads a record from bytes that may come from anywhere. The error names the record, what is wrong
/// and the position. Codes: as `open_envelope`, and corrupt for the content.
template <class T>
[[nodiscard]] Result<T> decode(std::string_view bytes) {
  return detail::RecordCodec<T>::decode(bytes);
}

/// The record types linked into this binary, by number. For `troupe version` and `troupe doctor`.
[[nodiscard]] std::vector<RecordInfo> record_types();

/// The record type with this number, or null pointer.
[[nodiscard]] const RecordInfo* find_record_type(std::uint16_t type) noexcept;

}  // namespace troupe
