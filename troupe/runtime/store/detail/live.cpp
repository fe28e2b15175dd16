#include <troupe/runtime/store/detail/live.hpp>
#include <troupe/runtime/store/detail/recovery.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace troupe::detail {
namespace {

namespace fs = std::filesystem;

constexpr int attempts = 8;
/// The writer is at it; a moment later its files fit together again.
constexpr auto pause_between_attempts = std::chrono::milliseconds(20);

bool may_pass(const Error& error) {
  return error.code() == ErrorCode::io || error.code() == ErrorCode::corrupt ||
         error.code() == ErrorCode::data_loss;
}

Status check_witness(const LiveView& view, const std::optional<Witness>& witness,
                     const std::string& where) {
  if (!witness)
    return ok();
  return compare_with_witness(View(view.database), view.facts, *witness, where);
}

Result<LiveView> open_once(const fs::path& folder) {
  TROUPE_RETURN_IF_ERROR(check_folder(folder, {}));
  TROUPE_TRY(database, open_as_secondary(folder));
  TROUPE_TRY(facts, verify_events(View(database), false).with_context(folder.string()));
  return LiveView{std::move(database), std::move(facts), {}, {}};
}

/// As an opening for writing would see the store. It takes no lock: should a writer come, what does
/// not fit together is found by the check of the events.
Result<LiveView> open_as_recovered(const fs::path& folder) {
  TROUPE_TRY(found, look_at_store(folder, {}, false));
  return LiveView{std::move(found.database), std::move(found.facts), std::move(found.refused), {}};
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

Status catch_up_once(LiveView& view, const std::optional<Witness>& witness) {
  const auto status = view.database.db().TryCatchUpWithPrimary();
  if (!status.ok())
    return rocks_error(status, "catching up with the writer");
  TROUPE_TRY(end, check_new_events(View(view.database), view.facts.end));
  view.facts.end = end;
  return check_witness(view, witness, "after catching up with the writer");
}

/// The names and sizes of the files: whatever a writer does changes them.
std::vector<std::pair<std::string, std::uintmax_t>> files_of(const fs::path& folder) {
  std::vector<std::pair<std::string, std::uintmax_t>> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    files.emplace_back(entry.path().filename().string(), entry.file_size(ignored));
  std::sort(files.begin(), files.end());
  return files;
}

/// Calls `step` until it succeeds, fails for good, fails while nobody writes, or has failed often
/// enough.
template <class Step>
auto patiently(const fs::path& folder, const Step& step) {
  auto before = files_of(folder);
  auto result = step();
  for (int attempt = 1; attempt < attempts && !result && may_pass(result.error()); ++attempt) {
    auto after = files_of(folder);
    if (after == before)
      return result;
    std::this_thread::sleep_for(pause_between_attempts);
    before = std::move(after);
    result = step();
  }
  return result;
}

}  // namespace

Result<LiveView> open_live(const fs::path& folder, const std::optional<Witness>& witness) {
  std::optional<LiveView> behind;
  auto view = patiently(folder, [&]() -> Result<LiveView> {
    behind.reset();
    TROUPE_TRY(opened, open_once(folder));
    // A view can end too early in the moment between two logs.
    auto fits = check_witness(opened, witness, folder.string());
    if (fits)
      return opened;
    opened.loss = fits.error();
    behind = std::move(opened);
    return std::move(fits).error();
  });
  if (view)
    return view;
  if (behind)
    return *std::move(behind);
  if (!may_pass(view.error()))
    return view;
  auto recovered = open_as_recovered(folder);
  if (!recovered) {
    const bool both =
        view.error().code() == ErrorCode::corrupt && recovered.error().code() == ErrorCode::corrupt;
    return both ? std::move(recovered) : std::move(view);
  }
  if (auto fits = check_witness(*recovered, witness, folder.string()); !fits)
    recovered->loss = std::move(fits).error();
  return recovered;
}

Status catch_up(LiveView& view, const std::optional<Witness>& witness) {
  if (!view.damaged_log.empty() || view.loss)
    return Error(ErrorCode::io, "the view of a damaged store is opened again instead");
  auto status = catch_up_once(view, witness);
  for (int attempt = 1; attempt < attempts && !status && may_pass(status.error()); ++attempt) {
    std::this_thread::sleep_for(pause_between_attempts);
    status = catch_up_once(view, witness);
  }
  return status;
}

}  // namespace troupe::detail
