#pragma once

#include <troupe/base/random.hpp>
#include <troupe/runtime/storage/checkpoint.hpp>
#include <troupe/runtime/store/memory_journal.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "faults.hpp"

namespace troupe::simulation {

/// What survives the driver: the journal and the checkpoints.
class Disk {
public:
  virtual ~Disk() = default;

  /// Opens the journal for a new life of the driver. Fails where a fault strikes.
  virtual Status open() = 0;
  /// Of the last `open`; readable after `crash`, too.
  virtual Journal& journal() = 0;
  /// The driver is gone, perhaps with the power. Called without any armed fault.
  virtual void crash(bool power, Random& random) = 0;

  virtual Result<CheckpointRef> save(TrialId trial, std::uint32_t number, std::uint64_t iteration,
                                     bool damaged) = 0;
  virtual bool has(TrialId trial, const CheckpointRef& ref) const = 0;
  virtual bool is_intact(TrialId trial, const CheckpointRef& ref) const = 0;
  virtual Status remove(TrialId trial, const CheckpointRef& ref) = 0;
  /// The numbers of those that are there.
  virtual std::vector<std::uint32_t> numbers(TrialId trial) const = 0;

  /// Is it why something failed?
  virtual bool is_full() const = 0;

  /// What can strike in it.
  virtual FaultMenu faults() const = 0;
};

/// All in memory, with loss of power: fast, for many seeds.
class MemoryDisk : public Disk {
public:
  Status open() override { return ok(); }
  Journal& journal() override { return journal_; }
  void crash(bool power, Random& random) override;
  Result<CheckpointRef> save(TrialId trial, std::uint32_t number, std::uint64_t iteration,
                             bool damaged) override;
  bool has(TrialId trial, const CheckpointRef& ref) const override;
  bool is_intact(TrialId trial, const CheckpointRef& ref) const override;
  Status remove(TrialId trial, const CheckpointRef& ref) override;
  std::vector<std::uint32_t> numbers(TrialId trial) const override;
  bool is_full() const override { return false; }
  FaultMenu faults() const override;

protected:
  MemoryJournal journal_;

private:
  struct Saved {
    CheckpointRef ref;
    bool damaged = false;
  };
  std::map<std::pair<TrialId, std::uint32_t>, Saved> saved_;
};

/// The store and the checkpoints as a run has them, below a folder: for the fault points that need
/// files. All of it works in the thread that calls, so that a seed says what happens; what RocksDB
/// does on threads of its own changes nothing that is seen here.
class RealDisk final : public Disk {
public:
  explicit RealDisk(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Status open() override;
  Journal& journal() override { return *journal_; }
  void crash(bool power, Random& random) override;
  Result<CheckpointRef> save(TrialId trial, std::uint32_t number, std::uint64_t iteration,
                             bool damaged) override;
  bool has(TrialId trial, const CheckpointRef& ref) const override;
  bool is_intact(TrialId trial, const CheckpointRef& ref) const override;
  Status remove(TrialId trial, const CheckpointRef& ref) override;
  std::vector<std::uint32_t> numbers(TrialId trial) const override;
  bool is_full() const override;
  FaultMenu faults() const override;

private:
  std::filesystem::path trial_dir(TrialId trial) const;

  const std::filesystem::path folder_;
  std::unique_ptr<Journal> journal_ = std::make_unique<MemoryJournal>();  ///< until it is opened
};

}  // namespace troupe::simulation
