#include <troupe/base/version.hpp>
#include <troupe/runtime/store/detail/verify.hpp>

#include <algorithm>

namespace troupe::detail {
namespace {

/// A table file of events, by its first and last event.
struct FileRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// The last event of the gapless run from 1 that the table files hold by their own counts. 0 when
/// the counts do not say so: then the events themselves are looked at.
Sequence run_in_files(const View& view) {
  const Database& database = view.database();
  rocksdb::TablePropertiesCollection properties;
  auto* events = database.handle(Family::events);
  if (!database.db().GetPropertiesOfAllTables(events, &properties).ok())
    return {};
  std::vector<rocksdb::LiveFileMetaData> files;
  database.db().GetLiveFilesMetaData(&files);
  std::vector<FileRange> ranges;
  for (const auto& file : files) {
    if (file.column_family_name != events->GetName())
      continue;
    const auto first = parse_event_key(file.smallestkey);
    const auto last = parse_event_key(file.largestkey);
    const auto found = std::find_if(properties.begin(), properties.end(), [&](const auto& entry) {
      return entry.first.ends_with(file.name);
    });
    if (!first || !last || found == properties.end())
      return {};
    const auto& counts = *found->second;
    if (counts.num_deletions != 0 || counts.num_entries != last->value - first->value + 1)
      return {};
    ranges.push_back({first->value, last->value});
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const FileRange& a, const FileRange& b) { return a.first < b.first; });
  std::uint64_t last = 0;
  for (const FileRange& range : ranges) {
    if (range.first != last + 1)
      return {};
    last = range.last;
  }
  return Sequence(last);
}

}  // namespace

Status check_schema(const StoreSchema& schema) {
  if (schema.min_reader <= schema_major)
    return ok();
  return Error(ErrorCode::version_mismatch,
               "the store was written by Troupe " + schema.written_by + " (store format " +
                   std::to_string(schema.major) + "." + std::to_string(schema.minor) +
                   "); this is Troupe " + std::string(version_string) + ", which reads up to " +
                   std::to_string(schema_major) + ": use Troupe " + schema.written_by +
                   " or newer");
}

Result<StoreFacts> verify_events(const View& view, bool thorough) {
  StoreFacts facts;
  TROUPE_TRY(schema, view.schema());
  TROUPE_RETURN_IF_ERROR(check_schema(schema));
  TROUPE_TRY(store_id, view.store_id());
  TROUPE_TRY(end, view.high_water());
  facts = {std::move(schema), std::move(store_id), end};

  const Sequence counted = thorough ? Sequence() : run_in_files(view);
  HighWater reached{counted, 0};
  TROUPE_TRY(chain, view.chain_at(counted));
  reached.chain = chain;
  // From the last counted one on, so that the chain is checked over the seam.
  const Sequence from(counted.value > 0 ? counted.value - 1 : 0);
  TROUPE_RETURN_IF_ERROR(view.events(from, [&](Sequence sequence, std::string_view) {
    reached.sequence = sequence;
    return true;
  }));
  if (reached.sequence != end.sequence)
    return Error(ErrorCode::corrupt, "the events end at " + to_string(reached.sequence) +
                                         " and the high-water mark is at " +
                                         to_string(end.sequence));
  TROUPE_TRY(last_chain, view.chain_at(reached.sequence));
  if (last_chain != end.chain)
    return Error(ErrorCode::corrupt, "the high-water mark does not fit the chain of event " +
                                         to_string(reached.sequence));
  return facts;
}

Status compare_with_witness(const View& view, const StoreFacts& facts, const Witness& witness,
                            const std::string& where) {
  if (witness.store_id != facts.store_id)
    return Error(ErrorCode::failed_precondition,
                 where + ": the store has the identity " + facts.store_id +
                     " and its witness is of " + witness.store_id +
                     ": files of two experiments were mixed. Nothing was changed. "
                     "Put the folders back, or run `troupe doctor`");
  const Sequence behind = facts.end.sequence;
  if (behind < witness.mark.sequence)
    return Error(
        ErrorCode::data_loss,
        where + ": events " + to_string(behind.next()) + " to " + to_string(witness.mark.sequence) +
            " were durable and are missing. Nothing was changed. Restore the folder from a "
            "backup, or give these events up with `troupe doctor --accept-loss`");
  TROUPE_TRY(chain, view.chain_at(witness.mark.sequence));
  if (chain == witness.mark.chain)
    return ok();
  return Error(ErrorCode::data_loss,
               where + ": event " + to_string(witness.mark.sequence) +
                   " or one before it is not the one that was durable: another history took its "
                   "place, such as that of an older copy that was run again. Nothing was changed. "
                   "Restore the newer folder, or keep this one with `troupe doctor --accept-loss`");
}

}  // namespace troupe::detail
