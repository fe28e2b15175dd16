#include <troupe/runtime/store/detail/live.hpp>

#include <chrono>
#include <thread>

namespace troupe::detail {
namespace {

namespace fs = std::filesystem;

constexpr int attempts = 8;
/// The writer is at it; a moment later its files fit together again.
constexpr auto pause_between_attempts = std::chrono::milliseconds(20);

bool may_pass(const Error& error) {
  return error.code() == ErrorCode::io || error.code() == ErrorCode::corrupt;
}

Result<LiveView> open_once(const fs::path& folder, const fs::path& scratch) {
  TROUPE_RETURN_IF_ERROR(check_folder(folder, {}));
  TROUPE_TRY(database, open_as_secondary(folder, scratch));
  TROUPE_TRY(facts, verify_events(View(database), false).with_context(folder.string()));
  return LiveView{std::move(database), std::move(facts)};
}

/// The events after those that were checked before, up to the new end.
Result<HighWater> check_new_events(const View& view, HighWater known) {
  TROUPE_TRY(end, view.high_water());
  Sequence last = known.sequence;
  TROUPE_TRY(chain, view.chain_at(known.sequence));
  if (chain != known.chain)
    return Error(ErrorCode::corrupt, "event " + to_string(known.sequence) + " changed");
  // From the known one on, so that the chain is checked over the seam.
  const Sequence from(known.sequence.value > 0 ? known.sequence.value - 1 : 0);
  TROUPE_RETURN_IF_ERROR(view.events(from, [&](Sequence sequence, std::string_view) {
    last = sequence;
    return true;
  }));
  if (last == end.sequence)
    return end;
  return Error(ErrorCode::corrupt, "the events end at " + to_string(last) +
                                       " and the high-water mark is at " + to_string(end.sequence));
}

Status catch_up_once(LiveView& view) {
  const auto status = view.database.db().TryCatchUpWithPrimary();
  if (!status.ok())
    return rocks_error(status, "catching up with the writer");
  TROUPE_TRY(end, check_new_events(View(view.database), view.facts.end));
  view.facts.end = end;
  return ok();
}

/// Calls `step` until it succeeds, fails for good, or has failed often enough.
template <class Step>
auto patiently(const Step& step) {
  auto result = step();
  for (int attempt = 1; attempt < attempts && !result && may_pass(result.error()); ++attempt) {
    std::this_thread::sleep_for(pause_between_attempts);
    result = step();
  }
  return result;
}

}  // namespace

Result<LiveView> open_live(const fs::path& folder, const fs::path& scratch) {
  return patiently([&] { return open_once(folder, scratch); });
}

Status catch_up(LiveView& view) {
  return patiently([&] { return catch_up_once(view); });
}

}  // namespace troupe::detail
