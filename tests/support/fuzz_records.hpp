#pragma once

#include <troupe/serialization/envelope.hpp>
#include <troupe/serialization/record.hpp>

#include <cstdlib>
#include <string>
#include <string_view>

namespace troupe::testing {

/// For fuzz targets: the payload of a record is either read, and then written and read back the
/// same, or refused. It comes without its envelope, whose checksum would keep the fuzzer out.
template <class Record>
void try_record(std::string_view payload) {
  const RecordInfo& info = RecordTraits<Record>::record;
  for (std::uint16_t version = info.oldest_version; version <= info.version; ++version) {
    const auto record = decode<Record>(seal(info.type, version, payload));
    if (!record)
      continue;
    // Compared as bytes: a record with a NaN is not equal to itself.
    const std::string first = encode(*record);
    const auto same = decode<Record>(first);
    if (!same || encode(*same) != first)
      std::abort();
  }
}

}  // namespace troupe::testing
