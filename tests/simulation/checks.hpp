#pragma once

#include <troupe/runtime/store/journal.hpp>
#include <troupe/tune/trial_loop.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenario.hpp"

namespace troupe::simulation {

/// What is wrong with the loop right now; empty: nothing.
std::vector<std::string> check_loop(const tune::TrialLoop& loop, const Scenario& scenario,
                                    double cpus);

/// What is wrong with the journal: results twice, with gaps, rows that do not fit.
std::vector<std::string> check_records(const JournalReader& journal);

/// Accepted results by trial and iteration.
std::map<std::pair<TrialId, std::uint64_t>, Metrics> accepted_results(const JournalReader& journal);

/// The journal as text, one event a line.
std::string event_log(const JournalReader& journal);

/// The final table: a line a trial, with configuration, results and how it ended.
std::string final_table(const JournalReader& journal);

}  // namespace troupe::simulation
