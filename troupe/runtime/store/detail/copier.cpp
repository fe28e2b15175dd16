#include <troupe/runtime/store/detail/copier.hpp>

namespace troupe::detail {
namespace {

constexpr std::size_t batch_bytes = std::size_t{4} << 20;

}  // namespace

Status Copier::put(std::size_t family, std::string_view key, std::string_view value) {
  const auto status = batch_.Put(target_.handle(family), rocksdb::Slice(key.data(), key.size()),
                                 rocksdb::Slice(value.data(), value.size()));
  if (!status.ok())
    return rocks_error(status, "copying a row");
  return batch_.GetDataSize() < batch_bytes ? ok() : write();
}

Status Copier::write() {
  const auto status = target_.db().Write(rocksdb::WriteOptions(), &batch_);
  batch_.Clear();
  if (!status.ok())
    return rocks_error(status, "writing the repaired store");
  return ok();
}

Status Copier::finish() {
  TROUPE_RETURN_IF_ERROR(write());
  std::vector<rocksdb::ColumnFamilyHandle*> all;
  for (std::size_t i = 0; i < family_count; ++i)
    all.push_back(target_.handle(i));
  const auto status = target_.db().Flush(rocksdb::FlushOptions(), all);
  if (!status.ok())
    return rocks_error(status, "writing the repaired store");
  return ok();
}

}  // namespace troupe::detail
