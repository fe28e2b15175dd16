#pragma once

#include <troupe/runtime/store/detail/rocks.hpp>

#include <string_view>

#include <rocksdb/write_batch.h>

namespace troupe::detail {

/// Writes pairs, as stored, into a database in batches.
class Copier {
public:
  explicit Copier(Database& target) : target_(target) {}

  Status put(std::size_t family, std::string_view key, std::string_view value);

  /// Into table files, so that nothing hangs on the log.
  Status finish();

private:
  Status write();

  Database& target_;
  rocksdb::WriteBatch batch_;
};

}  // namespace troupe::detail
