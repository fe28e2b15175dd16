#include <troupe/base/crc32c.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/runtime/store/detail/write_rules.hpp>
#include <troupe/runtime/store/keys.hpp>
#include <troupe/serialization/envelope.hpp>

namespace troupe::detail {
namespace {

Status check_sealed(std::string_view bytes) {
  auto envelope = open_any_envelope(bytes);
  if (envelope)
    return ok();
  return Error(ErrorCode::invalid_argument,
               "not a sealed record (" + envelope.error().message() + "): pass what encode() gave");
}

Status check_row(const RowWrite& row) {
  if (!is_table(row.table))
    return Error(ErrorCode::invalid_argument,
                 "there is no table " + std::to_string(static_cast<int>(row.table)));
  if (row.key.empty() || row.key.size() > limits::max_key_bytes)
    return Error(ErrorCode::invalid_argument,
                 "a key of " + std::to_string(row.key.size()) + " bytes: 1 to " +
                     std::to_string(limits::max_key_bytes) + " are allowed");
  if (row.value)
    return check_sealed(*row.value);
  return ok();
}

Status check_write_set(const WriteSet& writes) {
  if (auto status = check_sealed(writes.event); !status)
    return std::move(status).with_context("event");
  for (const RowWrite& row : writes.rows) {
    if (auto status = check_row(row); !status)
      return std::move(status).with_context("row of table " + std::string(to_string(row.table)));
  }
  return ok();
}

}  // namespace

std::uint32_t chain_next(std::uint32_t before, Sequence sequence, std::string_view event) {
  std::string number;
  keys::append_u64(number, sequence.value);
  return crc32c(event, crc32c(number, before));
}

Status check_batch(std::span<const WriteSet> batch) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (auto status = check_write_set(batch[i]); !status)
      return std::move(status).with_context("write set " + std::to_string(i + 1) + " of " +
                                            std::to_string(batch.size()));
  }
  return ok();
}

Error refuse_after(const Error& failure) {
  return Error(failure.code(), failure.message() + " (since then nothing more is written)");
}

Error refuse_closed() {
  return Error(ErrorCode::failed_precondition, "the journal is closed: open the experiment again");
}

Error no_such_event(Sequence sequence, Sequence last) {
  return Error(ErrorCode::not_found, "event " + to_string(sequence) +
                                         " does not exist: the journal ends at " + to_string(last));
}

bool is_table(Table table) {
  const auto number = static_cast<std::size_t>(table);
  return number >= 1 && number <= table_count;
}

}  // namespace troupe::detail
