#pragma once

#include <troupe/runtime/store/journal.hpp>
#include <troupe/tune/experiment_reader.hpp>
#include <troupe/tune/trial_loop.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenario.hpp"

namespace troupe::simulation {

/// What is wrong with the loop right now; empty: nothing.
std::vector<std::string> check_loop(const tune::TrialLoop& loop, const Scenario& scenario,
                                    double cpus);

/// Watches what is submitted to the journal: each accepted result comes once, in order, and with
/// its place in the index.
class AcceptedOnce {
public:
  AcceptedOnce() = default;
  /// Goes on after what a journal has.
  explicit AcceptedOnce(const JournalReader& journal);

  /// What is wrong with the next write set; empty: nothing.
  std::vector<std::string> look_at(const WriteSet& writes);
  /// The event that carries a result; nothing when it was not accepted.
  std::optional<Sequence> event_of(TrialId trial, std::uint64_t iteration) const;

private:
  std::vector<std::string> look_at(const tune::EventRecord& event);

  Sequence last_;
  std::map<TrialId, std::vector<Sequence>> events_;  ///< of the accepted results, from iteration 1
};

/// What is wrong with the journal: results twice, with gaps, rows that do not fit.
std::vector<std::string> check_records(const JournalReader& journal);

/// Accepted results by trial and iteration.
std::map<std::pair<TrialId, std::uint64_t>, Metrics> accepted_results(const JournalReader& journal);

/// The journal as text, one event a line.
std::string event_log(const JournalReader& journal);

/// The final table: a line a trial, with configuration, results and how it ended.
std::string final_table(const JournalReader& journal);

}  // namespace troupe::simulation
