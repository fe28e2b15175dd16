#include "disk.hpp"

#include <troupe/base/fault_point.hpp>
#include <troupe/base/file.hpp>
#include <troupe/runtime/storage/checkpoint_store.hpp>
#include <troupe/runtime/store/store.hpp>

#include <fstream>
#include <string_view>

namespace troupe::simulation {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> points_with(std::initializer_list<std::string_view> prefixes) {
  std::vector<std::string> points = FaultPoints::list();
  std::erase_if(points, [&](const std::string& name) {
    for (const std::string_view prefix : prefixes)
      if (name.starts_with(prefix))
        return false;
    return true;
  });
  return points;
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

void MemoryDisk::remove(TrialId trial, const CheckpointRef& ref) {
  saved_.erase({trial, ref.number});
}

std::vector<std::uint32_t> MemoryDisk::numbers(TrialId trial) const {
  std::vector<std::uint32_t> found;
  for (const auto& [key, saved] : saved_)
    if (key.first == trial)
      found.push_back(key.second);
  return found;
}

std::vector<std::string> MemoryDisk::fault_points() const {
  return points_with({"store.append.", "store.sync."});
}

// -- on a disk ----------------------------------------------------------------------------------

Status RealDisk::open() {
  journal_ = std::make_unique<MemoryJournal>();
  const OpenMode mode = store_exists(folder_) ? OpenMode::existing : OpenMode::create;
  // The witness follows each sync at once, so that its faults come up in a short run.
  TROUPE_TRY(opened, open_store({.experiment_dir = folder_,
                                 .mode = mode,
                                 .witness_interval = std::chrono::milliseconds(1)}));
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

void RealDisk::remove(TrialId trial, const CheckpointRef& ref) {
  // What a fault leaves behind here is given up by the journal already.
  (void)delete_checkpoint(trial_dir(trial), ref).has_value();
}

std::vector<std::uint32_t> RealDisk::numbers(TrialId trial) const {
  std::vector<std::uint32_t> found;
  const auto listed = list_checkpoints(trial_dir(trial));
  if (listed)
    for (const CheckpointRef& ref : *listed)
      found.push_back(ref.number);
  return found;
}

std::vector<std::string> RealDisk::fault_points() const {
  return points_with({"store.", "file.", "checkpoint."});
}

}  // namespace troupe::simulation
