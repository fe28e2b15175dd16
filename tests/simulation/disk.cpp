#include "disk.hpp"

#include <troupe/base/fault_point.hpp>
#include <troupe/base/file.hpp>
#include <troupe/runtime/storage/checkpoint_store.hpp>
#include <troupe/runtime/storage/space.hpp>
#include <troupe/runtime/store/store.hpp>

#include <fstream>
#include <string_view>

namespace troupe::simulation {
namespace {

namespace fs = std::filesystem;

void add(std::vector<Fault>& faults, FaultKind kind, std::initializer_list<const char*> prefixes) {
  for (const std::string& point : FaultPoints::list())
    for (const std::string_view prefix : prefixes)
      if (point.starts_with(prefix))
        faults.push_back({point, kind});
}

}  // namespace

// -- in memory ----------------------------------------------------------------------------------

void MemoryDisk::crash(bool power, Random& random) {
  if (power)
    journal_.power_loss(random.below(journal_.undurable_batches() + 1));
  else
    journal_.crash();
}

Result<CheckpointRef> MemoryDisk::save(TrialId trial, std::uint32_t number, std::uint64_t iteration,
                                       bool damaged) {
  CheckpointRef ref;
  ref.number = number;
  ref.iteration = iteration;
  ref.time_total_s = static_cast<double>(iteration);
  ref.directory = "checkpoint_" + std::to_string(number);
  saved_[{trial, number}] = {ref, damaged};
  return ref;
}

bool MemoryDisk::has(TrialId trial, const CheckpointRef& ref) const {
  return saved_.contains({trial, ref.number});
}

bool MemoryDisk::is_intact(TrialId trial, const CheckpointRef& ref) const {
  const auto found = saved_.find({trial, ref.number});
  return found != saved_.end() && !found->second.damaged &&
         found->second.ref.iteration == ref.iteration;
}

Status MemoryDisk::remove(TrialId trial, const CheckpointRef& ref) {
  saved_.erase({trial, ref.number});
  return ok();
}

std::vector<std::uint32_t> MemoryDisk::numbers(TrialId trial) const {
  std::vector<std::uint32_t> found;
  for (const auto& [key, saved] : saved_)
    if (key.first == trial)
      found.push_back(key.second);
  return found;
}

FaultMenu MemoryDisk::faults() const {
  FaultMenu menu;
  add(menu.running, FaultKind::fail, {"store.append.", "store.sync."});
  return menu;
}

// -- on a disk ----------------------------------------------------------------------------------

Status RealDisk::open() {
  journal_ = std::make_unique<MemoryJournal>();
  const OpenMode mode = store_exists(folder_) ? OpenMode::existing : OpenMode::create;
  // Each sync writes the witness: no thread decides when.
  TROUPE_TRY(
      opened,
      open_store({.experiment_dir = folder_, .mode = mode, .witness_interval = Duration::zero()}));
  journal_ = std::move(opened.journal);
  return ok();
}

void RealDisk::crash(bool, Random&) {
  journal_ = std::make_unique<MemoryJournal>();  // releases the store, as a dying process does
  if (store_exists(folder_))
    open().value_or_throw();
}

fs::path RealDisk::trial_dir(TrialId trial) const {
  return folder_ / ("trial_" + to_string(trial));
}

Result<CheckpointRef> RealDisk::save(TrialId trial, std::uint32_t number, std::uint64_t iteration,
                                     bool damaged) {
  const fs::path dir = trial_dir(trial);
  TROUPE_RETURN_IF_ERROR(create_directories(dir));
  TROUPE_TRY(ref, write_checkpoint(dir, number, iteration, static_cast<double>(iteration),
                                   [&](const fs::path& folder) {
                                     std::ofstream(folder / "model") << iteration;
                                   }));
  if (damaged)
    std::ofstream(dir / ref.directory / "model") << "damaged";
  return ref;
}

bool RealDisk::has(TrialId trial, const CheckpointRef& ref) const {
  return fs::exists(trial_dir(trial) / ref.directory);
}

bool RealDisk::is_intact(TrialId trial, const CheckpointRef& ref) const {
  return verify_checkpoint(trial_dir(trial), ref).has_value();
}

Status RealDisk::remove(TrialId trial, const CheckpointRef& ref) {
  return delete_checkpoint(trial_dir(trial), ref);
}

std::vector<std::uint32_t> RealDisk::numbers(TrialId trial) const {
  std::vector<std::uint32_t> found;
  const auto listed = list_checkpoints(trial_dir(trial));
  if (listed)
    for (const CheckpointRef& ref : *listed)
      found.push_back(ref.number);
  return found;
}

bool RealDisk::is_full() const {
  return out_of_space(folder_);
}

/// A kill of the driver at the points of the store needs a process of its own around the store: the
/// reliability test of the store has one. An exception from a point has somebody who catches it in
/// what the opener calls and in what user code calls; elsewhere it would be a crash.
FaultMenu RealDisk::faults() const {
  FaultMenu menu;
  for (const FaultKind kind : {FaultKind::fail, FaultKind::throw_error}) {
    add(menu.creation, kind, {"store.create."});
    add(menu.opening, kind, {"file.write_atomically."});
  }
  add(menu.running, FaultKind::fail,
      {"checkpoint.", "file.write_atomically.", "storage.space.", "store.append.", "store.sync."});
  add(menu.running, FaultKind::throw_error, {"checkpoint.write."});
  add(menu.running, FaultKind::kill, {"checkpoint."});
  return menu;
}

}  // namespace troupe::simulation
