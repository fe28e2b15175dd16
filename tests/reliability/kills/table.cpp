#include "tests/reliability/kills/table.hpp"

#include <troupe/base/error.hpp>
#include <troupe/runtime/store/secondary_reader.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/experiment_reader.hpp>

namespace troupe::testing {

namespace {

[[noreturn]] void wrong(const std::string& what) {
  throw Exception(ErrorCode::internal, what);
}

std::string name_of(TrialId trial, std::uint64_t iteration) {
  return "result " + std::to_string(iteration) + " of trial " + to_string(trial);
}

/// The part of a result that every run with the same seed has in common.
std::string essence(const Metrics& metrics) {
  Metrics kept = metrics;
  for (const char* key : {"time_this_iter_s", "time_total_s", "timestamp", "date", "pid",
                          "hostname", "time_since_restore", "iterations_since_restore"})
    kept.erase(key);
  return to_json(kept);
}

}  // namespace

void read_accepted(const JournalReader& reader, Sequence& seen, AcceptedResults& results) {
  tune::for_each_event(reader, seen, [&](Sequence sequence, const tune::EventRecord& event) {
    if (sequence.value != seen.value + 1)
      wrong("event " + to_string(seen.next()) + " is missing");
    seen = sequence;
    if (const auto result = tune::result_of(sequence, event)) {
      const std::pair key(*event.decision.trial, result->iteration);
      if (!results.emplace(key, essence(result->metrics)).second)
        wrong(name_of(key.first, key.second) + " was accepted twice");
    }
    return true;
  }).value_or_throw();
}

std::string final_table(const std::filesystem::path& experiment) {
  const auto reader = open_secondary(experiment).value_or_throw();
  AcceptedResults accepted;
  Sequence seen;
  read_accepted(*reader, seen, accepted);

  std::string table;
  std::size_t counted = 0;
  for (const tune::TrialRow& row : tune::read_trials(*reader).value_or_throw()) {
    table += row.name + ' ' + row.dir + ' ' + to_json(row.config) + ' ' +
             std::string(to_string(row.state)) + " \"" + row.stop_reason + "\"\n";
    if (!row.error.empty() && row.state == tune::TrialState::error)
      table += "  " + row.error + '\n';
    std::uint64_t last = 0;
    tune::for_each_result(*reader, row.id, 0, [&](const tune::TrialResult& result) {
      const auto found = accepted.find({row.id, ++last});
      if (result.iteration != last || found == accepted.end() ||
          found->second != essence(result.metrics))
        wrong("the index points " + name_of(row.id, last) + " to something else");
      table += "  " + std::to_string(last) + ' ' + found->second + '\n';
      return true;
    }).value_or_throw();
    if (row.is_over() && row.iteration != last)
      wrong("the row of trial " + to_string(row.id) + " counts " + std::to_string(row.iteration) +
            " results, the index " + std::to_string(last));
    counted += last;
  }
  if (counted != accepted.size())
    wrong("events carry " + std::to_string(accepted.size()) + " results, the index has " +
          std::to_string(counted));
  return table;
}

}  // namespace troupe::testing
