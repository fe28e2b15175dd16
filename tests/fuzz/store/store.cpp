// What lies in a store beside the records of others, and the witness. The first byte says what the
// rest is taken for: any bytes are either one of ours and written back the same, or refused.
#include <troupe/runtime/store/detail/format.hpp>
#include <troupe/runtime/store/keys.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/support/fuzz_records.hpp"

namespace {

using namespace troupe;
using namespace troupe::detail;

void must(bool condition) {
  if (!condition)
    std::abort();
}

void try_keys(std::string_view bytes) {
  if (const auto sequence = parse_event_key(bytes))
    must(event_key(*sequence) == bytes);
  if (const auto trial = keys::parse_trial_key(bytes))
    must(keys::trial_key(*trial) == bytes);
  if (const auto result = keys::parse_result_key(bytes))
    must(keys::result_key(result->trial, result->iteration) == bytes);
  if (const auto checkpoint = keys::parse_checkpoint_key(bytes))
    must(keys::checkpoint_key(checkpoint->trial, checkpoint->number) == bytes);
}

void try_values(std::string_view bytes) {
  if (const auto event = parse_event(bytes))
    must(event_prefix(event->chain) + std::string(event->event) == bytes);
  if (const auto row = parse_row(bytes))
    must(row_prefix(row->written_with) + std::string(row->record) == bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'k':
      try_keys(rest);
      break;
    case 'v':
      try_values(rest);
      break;
    case 's':
      testing::try_record<StoreSchema>(rest);
      break;
    case 'i':
      testing::try_record<StoreIdentity>(rest);
      break;
    case 'h':
      testing::try_record<HighWater>(rest);
      break;
    case 'w':
      testing::try_record<Witness>(rest);
      break;
    case 'p':
      testing::try_record<EventPointer>(rest);
      break;
    case 'd':
      testing::try_record<RowsDropped>(rest);
      break;
    case 'f':  // the file of the witness as it is, with its envelope
      (void)decode<Witness>(rest);
      break;
    default:
      break;
  }
  return 0;
}
