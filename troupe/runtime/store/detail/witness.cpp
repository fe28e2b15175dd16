#include <troupe/base/file.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/runtime/store/detail/witness.hpp>

namespace troupe::detail {

Result<std::optional<Witness>> read_witness(const std::filesystem::path& file) {
  auto bytes = read_file(file, 64 * limits::kib);
  if (!bytes) {
    if (bytes.error().code() == ErrorCode::not_found)
      return std::optional<Witness>();
    if (bytes.error().code() != ErrorCode::resource_exhausted)
      return std::move(bytes).error();
  }
  auto witness = bytes ? decode<Witness>(*bytes) : Result<Witness>(std::move(bytes).error());
  if (witness)
    return std::optional<Witness>(witness.take());
  if (witness.error().code() == ErrorCode::version_mismatch)
    return std::move(witness).error().with_context(file.string());
  return Error(ErrorCode::corrupt,
               file.string() + ": the witness of the store is damaged (" +
                   witness.error().message() +
                   "). Nothing was changed. `troupe doctor` verifies the store without it; if the "
                   "store is whole, remove this file and it will be made anew");
}

Status write_witness(const std::filesystem::path& file, const Witness& witness) {
  return write_file_atomically(file, encode(witness));
}

}  // namespace troupe::detail
