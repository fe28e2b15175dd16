// The records of an experiment, as a restore reads them. The first byte says which one the rest is.
#include <troupe/tune/detail/loop_state.hpp>
#include <troupe/tune/records.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/support/fuzz_records.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe::tune;
  using troupe::testing::try_record;
  if (size == 0)
    return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case '0':
      try_record<ExperimentSpec>(rest);
      break;
    case '1':
      try_record<ExperimentRow>(rest);
      break;
    case '2':
      try_record<TrialRow>(rest);
      break;
    case '3':
      try_record<EventRecord>(rest);
      break;
    case '4':
      try_record<CheckpointRow>(rest);
      break;
    case '5':
      try_record<detail::LoopSnapshot>(rest);
      break;
    case '6':
      try_record<AlgorithmSnapshot>(rest);
      break;
    default:
      break;
  }
  return 0;
}
