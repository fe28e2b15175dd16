#pragma once

#include <troupe/base/ids.hpp>
#include <troupe/runtime/store/journal.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

namespace troupe::testing {

/// Accepted results: (trial, iteration) to what was measured, without times.
using AcceptedResults = std::map<std::pair<TrialId, std::uint64_t>, std::string>;

/// Reads the results that were accepted after `seen`, from the events themselves, and moves `seen`
/// on. Throws when one comes twice.
void read_accepted(const JournalReader& reader, Sequence& seen, AcceptedResults& results);

/// The final table as text: configurations, results, stop reasons, in order. Checks on the way that
/// rows, index and events tell the same.
std::string final_table(const std::filesystem::path& experiment);

}  // namespace troupe::testing
