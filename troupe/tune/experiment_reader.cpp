#include <troupe/runtime/store/keys.hpp>
#include <troupe/tune/detail/loop_state.hpp>
#include <troupe/tune/detail/status_count.hpp>
#include <troupe/tune/experiment_reader.hpp>

#include <string>

namespace troupe::tune {
namespace {

template <class Record>
Result<Record> read_row(const JournalReader& reader, Table table, std::string_view key,
                        const std::string& what) {
  TROUPE_TRY(bytes, reader.get(table, key));
  if (!bytes)
    return Error(ErrorCode::not_found, what + " is not in the journal");
  return decode<Record>(*bytes);
}

/// Visits decoded rows; the first error of decoding or of the visitor ends the scan.
template <class Record, class Visit>
Status scan_rows(const JournalReader& reader, Table table, std::string_view prefix,
                 const Visit& visit) {
  Status failed = ok();
  const auto on_row = [&](std::string_view, std::string_view bytes) {
    Result<Record> record = decode<Record>(bytes);
    if (!record) {
      failed = std::move(record).error();
      return false;
    }
    return visit(*record);
  };
  TROUPE_RETURN_IF_ERROR(reader.scan(table, prefix, on_row));
  return failed;
}

Result<TrialResult> read_result(const JournalReader& reader, Sequence sequence) {
  TROUPE_TRY(bytes, reader.event(sequence));
  TROUPE_TRY(event, decode<EventRecord>(bytes));
  auto result = result_of(sequence, event);
  if (!result)
    return Error(ErrorCode::corrupt,
                 "event " + to_string(sequence) + " should carry a result, but does not");
  return std::move(*result);
}

Result<std::optional<Sequence>> find_result(const JournalReader& reader, TrialId trial,
                                            std::uint64_t iteration) {
  TROUPE_TRY(bytes, reader.get(Table::results, keys::result_key(trial, iteration)));
  if (!bytes)
    return std::optional<Sequence>();
  TROUPE_TRY(pointer, decode<EventPointer>(*bytes));
  return std::optional<Sequence>(pointer.sequence);
}

}  // namespace

Result<ExperimentSpec> read_spec(const JournalReader& reader) {
  return read_row<ExperimentSpec>(reader, Table::experiment, keys::experiment_spec,
                                  "the specification of the experiment");
}

Result<ExperimentRow> read_status(const JournalReader& reader) {
  TROUPE_TRY(row, read_row<ExperimentRow>(reader, Table::experiment, keys::experiment_status,
                                          "the status of the experiment"));
  // The row is written now and then; it says nothing of what was counted since.
  ExperimentRow counted;
  Sequence as_of;
  TROUPE_TRY(bytes, reader.get(Table::state, keys::state_loop));
  if (bytes) {
    TROUPE_TRY(snapshot, decode<detail::LoopSnapshot>(*bytes));
    counted = std::move(snapshot.state.status);
    as_of = snapshot.as_of;
  }
  TROUPE_RETURN_IF_ERROR(
      for_each_event(reader, as_of, [&counted](Sequence, const EventRecord& event) {
        detail::count_event(event, counted);
        return true;
      }));
  counted.state = row.state;
  counted.message = std::move(row.message);
  counted.starts = row.starts;
  counted.started_ms = row.started_ms;
  counted.cpus = row.cpus;
  counted.planned = row.planned;
  return counted;
}

Result<TrialRow> read_trial(const JournalReader& reader, TrialId trial) {
  return read_row<TrialRow>(reader, Table::trials, keys::trial_key(trial),
                            "trial " + to_string(trial));
}

Status for_each_trial(const JournalReader& reader,
                      const std::function<bool(const TrialRow&)>& visit) {
  // Ids have no gap, so each next trial is one look-up; a scan would hold the view of the store
  // while the visitor works, and the visitor could not read anything else.
  for (TrialId id;; id = id.next()) {
    TROUPE_TRY(bytes, reader.get(Table::trials, keys::trial_key(id)));
    if (!bytes)
      return ok();
    TROUPE_TRY(row, decode<TrialRow>(*bytes));
    if (!visit(row))
      return ok();
  }
}

Result<std::vector<TrialRow>> read_trials(const JournalReader& reader) {
  std::vector<TrialRow> rows;
  TROUPE_RETURN_IF_ERROR(for_each_trial(reader, [&](const TrialRow& row) {
    rows.push_back(row);
    return true;
  }));
  return rows;
}

Status for_each_result(const JournalReader& reader, TrialId trial, std::uint64_t after,
                       const std::function<bool(const TrialResult&)>& visit) {
  // As above: iterations have no gap.
  for (std::uint64_t iteration = after + 1;; ++iteration) {
    TROUPE_TRY(sequence, find_result(reader, trial, iteration));
    if (!sequence)
      return ok();
    TROUPE_TRY(result, read_result(reader, *sequence));
    if (!visit(result))
      return ok();
  }
}

Result<std::vector<TrialResult>> read_results(const JournalReader& reader, TrialId trial) {
  std::vector<TrialResult> results;
  TROUPE_RETURN_IF_ERROR(for_each_result(reader, trial, 0, [&](const TrialResult& result) {
    results.push_back(result);
    return true;
  }));
  return results;
}

Result<std::optional<TrialResult>> read_last_result(const JournalReader& reader,
                                                    const TrialRow& trial) {
  // The row may be behind: look further ahead in growing steps, then halve.
  std::uint64_t known = trial.iteration;
  std::uint64_t step = 1;
  for (;;) {
    TROUPE_TRY(found, find_result(reader, trial.id, known + step));
    if (!found)
      break;
    known += step;
    step *= 2;
  }
  std::uint64_t missing = known + step;
  while (missing - known > 1) {
    const std::uint64_t middle = known + (missing - known) / 2;
    TROUPE_TRY(found, find_result(reader, trial.id, middle));
    (found ? known : missing) = middle;
  }
  if (known == 0)
    return std::optional<TrialResult>();
  TROUPE_TRY(sequence, find_result(reader, trial.id, known));
  if (!sequence)
    return Error(ErrorCode::corrupt, "result " + std::to_string(known) + " of trial " +
                                         to_string(trial.id) + " is missing");
  TROUPE_TRY(result, read_result(reader, *sequence));
  return std::optional<TrialResult>(std::move(result));
}

Result<std::vector<CheckpointRow>> read_checkpoints(const JournalReader& reader, TrialId trial) {
  std::vector<CheckpointRow> rows;
  TROUPE_RETURN_IF_ERROR(scan_rows<CheckpointRow>(
      reader, Table::checkpoints, keys::trial_key(trial), [&](const CheckpointRow& row) {
        rows.push_back(row);
        return true;
      }));
  return rows;
}

Status for_each_event(
    const JournalReader& reader, Sequence after,
    const std::function<bool(Sequence sequence, const EventRecord& event)>& visit) {
  Status failed = ok();
  const auto on_event = [&](Sequence sequence, std::string_view bytes) {
    Result<EventRecord> event = decode<EventRecord>(bytes);
    if (!event) {
      failed = std::move(event).error().with_context("event " + to_string(sequence));
      return false;
    }
    return visit(sequence, *event);
  };
  TROUPE_RETURN_IF_ERROR(reader.events(after, on_event));
  return failed;
}

std::optional<TrialResult> result_of(Sequence sequence, const EventRecord& event) {
  const auto* report = std::get_if<Reported>(&event.body);
  if (report == nullptr || !event.decision.accepted)
    return std::nullopt;
  return TrialResult{sequence, report->iteration, event.wall_ms,
                     event.decision.outcome == Outcome::stopping, report->metrics};
}

bool is_failure(const EventRecord& event) {
  const Outcome outcome = event.decision.outcome;
  return (outcome == Outcome::retried || outcome == Outcome::restarted ||
          outcome == Outcome::error) &&
         !std::holds_alternative<ResetRefused>(event.body);
}

}  // namespace troupe::tune
