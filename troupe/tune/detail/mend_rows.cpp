#include <troupe/runtime/store/keys.hpp>
#include <troupe/tune/detail/loop_machine.hpp>
#include <troupe/tune/detail/mend_rows.hpp>
#include <troupe/tune/experiment_reader.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe::tune::detail {
namespace {

constexpr std::size_t events_at_a_time = 512;
constexpr std::size_t rows_per_event = 1000;

using RowKey = std::pair<Table, std::string>;
using MissingRows = std::map<RowKey, std::string>;

struct StoredEvent {
  Sequence sequence;
  EventRecord event;
  std::size_t bytes = 0;
};

/// The next events. A visitor may not read rows, so they are taken out first.
Result<std::vector<StoredEvent>> next_events(const Journal& journal, Sequence after) {
  std::vector<StoredEvent> events;
  Status failed = ok();
  const auto take = [&](Sequence sequence, std::string_view bytes) {
    auto event = decode<EventRecord>(bytes);
    if (!event) {
      failed = std::move(event).error().with_context("event " + to_string(sequence));
      return false;
    }
    events.push_back({sequence, event.take(), bytes.size()});
    return events.size() < events_at_a_time;
  };
  TROUPE_RETURN_IF_ERROR(journal.events(after, take));
  TROUPE_RETURN_IF_ERROR(std::move(failed));
  return events;
}

Status note_missing(const Journal& journal, std::vector<RowWrite> rows, MissingRows& missing) {
  for (RowWrite& row : rows) {
    RowKey key(row.table, std::move(row.key));
    const auto known = missing.find(key);
    if (!row.value) {
      missing.erase(key);
    } else if (known != missing.end()) {
      known->second = std::move(*row.value);
    } else {
      TROUPE_TRY(there, journal.get(key.first, key.second));
      if (!there)
        missing.emplace(std::move(key), std::move(*row.value));
    }
  }
  return ok();
}

/// What is to be written: pieces of the rows, each with its event; the mark goes with the last.
std::vector<WriteSet> writes_of(MissingRows missing, Duration run_time, std::int64_t wall_ms) {
  std::vector<std::vector<RowWrite>> pieces(1);
  for (auto& [key, value] : missing) {
    if (pieces.back().size() == rows_per_event)
      pieces.emplace_back();
    pieces.back().push_back({key.first, key.second, std::move(value)});
  }
  std::vector<WriteSet> writes;
  for (std::vector<RowWrite>& rows : pieces) {
    const EventRecord event{run_time, wall_ms, RowsRestored{rows.size()}, {}};
    writes.push_back({encode(event), std::move(rows)});
  }
  writes.back().rows.push_back({Table::state, std::string(keys::state_dropped), std::nullopt});
  return writes;
}

}  // namespace

Result<std::uint64_t> mend_rows(Journal& journal, const Searcher* searcher,
                                const Scheduler* scheduler, std::int64_t wall_ms) {
  TROUPE_TRY(mark, journal.get(Table::state, keys::state_dropped));
  if (!mark)
    return std::uint64_t{0};
  TROUPE_TRY(spec, read_spec(journal));
  // Each event says how many CPUs there were.
  TROUPE_TRY(machine, LoopMachine::make(std::move(spec), searcher, scheduler, {.cpus = 1e6}));
  MissingRows missing;
  Sequence after;
  for (;;) {
    TROUPE_TRY(events, next_events(journal, after));
    for (const StoredEvent& stored : events) {
      std::vector<RowWrite> rows;
      TROUPE_RETURN_IF_ERROR(machine->replay(stored.sequence, stored.event, stored.bytes, &rows));
      TROUPE_RETURN_IF_ERROR(note_missing(journal, std::move(rows), missing));
      after = stored.sequence;
    }
    if (events.size() < events_at_a_time)
      break;
  }
  const std::uint64_t count = missing.size();
  for (WriteSet& write : writes_of(std::move(missing), machine->state().run_time, wall_ms))
    TROUPE_RETURN_IF_ERROR(journal.append({&write, 1}));
  TROUPE_RETURN_IF_ERROR(journal.sync());
  return count;
}

}  // namespace troupe::tune::detail
