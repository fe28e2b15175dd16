#pragma once

#include <troupe/actors/controller_core.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/base/random.hpp>
#include <troupe/tune/trial_loop.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checks.hpp"
#include "disk.hpp"
#include "fake_worker.hpp"
#include "faults.hpp"
#include "scenario.hpp"

namespace troupe::simulation {

/// What a run came to, for comparisons.
struct RunReport {
  std::vector<std::string> problems;  ///< broken invariants; empty: all is well
  std::uint64_t events = 0;
  std::uint32_t driver_deaths = 0;
  std::vector<std::string> fired;  ///< faults, by name
  std::vector<std::string> trace;  ///< what befell the run, where and when: a line each
  std::uint32_t chain = 0;         ///< checksum over the journal
  std::string table;               ///< the final table, one trial a line
};

/// One thread, one clock, one seed: workers, driver, journal and disk.
class World final : private ControllerCore::Sink {
public:
  explicit World(const Scenario& scenario,
                 std::unique_ptr<Disk> disk = std::make_unique<MemoryDisk>());
  ~World() override;

  /// Runs the experiment to its end, over all deaths of its driver.
  RunReport run();
  const JournalReader& journal() const { return disk_->journal(); }

  // What workers see of it.
  const Scenario& scenario() const { return scenario_; }
  const Trouble& trouble() const { return calm_ ? no_trouble_ : scenario_.trouble; }
  bool chance(double p) { return random_.chance(p); }
  Duration delay();
  void after(Duration delay, WorkerId worker, std::function<void()> what);
  void send(EventBody body, WorkerId from);
  /// Nothing: the worker was killed meanwhile.
  std::optional<Result<CheckpointRef>> store_checkpoint(TrialId trial, std::uint32_t number,
                                                        std::uint64_t iteration);
  bool is_disk_full() const { return disk_->is_full(); }
  bool is_intact(TrialId trial, const CheckpointRef& ref) const;
  void was_answered(TrialId trial, std::uint64_t iteration, Verdict verdict);

private:
  using When = std::pair<TimePoint, std::uint64_t>;

  // The store, as the controller core sees it.
  bool has_room() const override { return queued_.size() < room_; }
  Result<Sequence> submit(std::vector<WriteSet> writes) override;
  void execute(Command command) override;

  void start_driver();
  void begin_life();
  void kill_driver();
  void end_of_driver();
  void deliver(EventBody body);
  void at(TimePoint when, std::function<void()> what);
  void append();
  void sync();
  void carry_out(const Command& command);
  void to_worker(WorkerId worker, std::function<void(FakeWorker&)> what);
  void schedule_tick();
  Status open_disk();
  void remove_checkpoint(const DeleteCheckpoint& command);
  void maybe_strike();
  void choose_fault(Moment moment, std::uint64_t skip);
  void note_faults();
  void note(const std::string& what);
  bool is_injected(const Error& error) const;
  void check_live();
  void check_journal(bool power_lost);
  void check_promises(bool power_lost);
  void check_storage();
  void problem(const std::string& what);

  const Scenario scenario_;
  const Trouble no_trouble_{};
  bool calm_ = false;
  Random random_;
  VirtualClock clock_;
  std::map<When, std::function<void()>> agenda_;
  std::uint64_t agenda_counter_ = 0;

  std::unique_ptr<Disk> disk_;
  std::unique_ptr<tune::TrialLoop> loop_;
  std::unique_ptr<ControllerCore> core_;
  std::map<WorkerId, std::unique_ptr<FakeWorker>> workers_;
  std::map<WorkerId, TimePoint> last_message_;
  std::map<WorkerId, TimePoint> last_command_;
  std::uint64_t life_ = 0;  ///< of the driver
  double cpus_ = 1;         ///< of this life

  std::vector<std::vector<WriteSet>> queued_;
  std::size_t room_ = 8;
  Sequence submitted_;
  Sequence told_accepted_;  ///< up to here the core knows that nothing gets lost,
  Sequence told_durable_;   ///< and up to here not even with the power
  bool append_due_ = false;
  bool sync_due_ = false;
  std::optional<TimePoint> tick_at_;
  bool stop_requested_ = false;

  Faults faults_;
  std::set<std::string> struck_;  ///< points that fired in this life of the driver
  std::set<std::pair<TrialId, std::uint32_t>> not_removed_;  ///< checkpoints; a warning said so
  AcceptedOnce accepted_once_;

  /// Results whose answer reached a worker: they must never be lost.
  std::map<std::pair<TrialId, std::uint64_t>, std::uint32_t> answered_;
  RunReport report_;
  bool over_ = false;
};

}  // namespace troupe::simulation
