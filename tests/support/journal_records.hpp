#pragma once

#include <troupe/runtime/store/journal.hpp>
#include <troupe/runtime/store/keys.hpp>
#include <troupe/serialization/envelope.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// Records for tests of the journal: what is in them does not matter to it.
namespace troupe::testing {

inline constexpr std::uint16_t test_record_type = 499;

inline std::string sealed(const std::string& payload) {
  return seal(test_record_type, 1, payload);
}

/// The payload of event `number` of a generated history: a function of the number alone.
inline std::string event_payload(std::uint64_t number, std::size_t bytes = 64) {
  std::string payload = "event " + std::to_string(number) + " ";
  std::uint64_t state = number * 0x9e3779b97f4a7c15u + 1;
  while (payload.size() < bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    payload.push_back(static_cast<char>('0' + (state >> 33) % 10));
  }
  return payload;
}

/// Event `number` with the rows that a report of trial number % 7 would change: its row, an index
/// entry, and a snapshot. The first one has the specification, too.
inline WriteSet write_set(std::uint64_t number, std::size_t bytes = 64) {
  const TrialId trial(static_cast<std::uint32_t>(number % 7));
  WriteSet writes;
  writes.event = sealed(event_payload(number, bytes));
  writes.rows.push_back(
      {Table::trials, keys::trial_key(trial), sealed("trial at " + std::to_string(number))});
  writes.rows.push_back(
      {Table::results, keys::result_key(trial, number), encode(EventPointer{Sequence(number)})});
  writes.rows.push_back(
      {Table::state, std::string(keys::state_loop), sealed("loop at " + std::to_string(number))});
  if (number == 1)
    writes.rows.push_back(
        {Table::experiment, std::string(keys::experiment_spec), sealed("specification")});
  return writes;
}

inline std::vector<WriteSet> write_sets(std::uint64_t first, std::uint64_t last,
                                        std::size_t bytes = 64) {
  std::vector<WriteSet> all;
  for (std::uint64_t number = first; number <= last; ++number)
    all.push_back(write_set(number, bytes));
  return all;
}

}  // namespace troupe::testing
