#include <troupe/tune/detail/records_archive.hpp>
#include <troupe/tune/records.hpp>

TROUPE_DEFINE_RECORD(troupe::tune::ExperimentSpec);
TROUPE_DEFINE_RECORD(troupe::tune::ExperimentRow);
TROUPE_DEFINE_RECORD(troupe::tune::TrialRow);
TROUPE_DEFINE_RECORD(troupe::tune::EventRecord);
TROUPE_DEFINE_RECORD(troupe::tune::CheckpointRow);
TROUPE_DEFINE_RECORD(troupe::tune::AlgorithmSnapshot);

namespace troupe::tune {

std::string_view to_string(ExperimentState state) noexcept {
  switch (state) {
    case ExperimentState::running:
      return "running";
    case ExperimentState::finished:
      return "finished";
    case ExperimentState::interrupted:
      return "interrupted";
    case ExperimentState::failed:
      return "failed";
  }
  return "unknown";
}

std::string_view to_string(TrialState state) noexcept {
  switch (state) {
    case TrialState::pending:
      return "PENDING";
    case TrialState::running:
      return "RUNNING";
    case TrialState::paused:
      return "PAUSED";
    case TrialState::terminated:
      return "TERMINATED";
    case TrialState::error:
      return "ERROR";
  }
  return "UNKNOWN";
}

}  // namespace troupe::tune
