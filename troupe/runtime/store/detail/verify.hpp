#pragma once

#include <troupe/runtime/store/detail/view.hpp>

#include <string>

namespace troupe::detail {

/// What a store that was found complete says about itself.
struct StoreFacts {
  StoreSchema schema;
  std::string store_id;
  HighWater end;
};

/// Refuses what a newer Troupe wrote, naming both.
Status check_schema(const StoreSchema& schema);

/// Checks that the events are 1, 2, ... up to the high-water mark without a hole, fast enough for
/// every opening: those that are in table files by the files' own counts, those that are only in
/// the log one by one with their chain. Since all families reach the table files together (atomic
/// flush), a part of the log that is missing, with whatever rows, is a hole or an end too early.
/// `thorough` checks the chain of all events instead.
/// Errors: corrupt (naming the events), version_mismatch, io.
Result<StoreFacts> verify_events(const View& view, bool thorough);

/// Compares with the witness. Errors: data_loss naming what is missing, failed_precondition when
/// the witness is of another store.
Status compare_with_witness(const View& view, const StoreFacts& facts, const Witness& witness,
                            const std::string& where);

}  // namespace troupe::detail
