#pragma once

#include <troupe/actors/protocol.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenario.hpp"

namespace troupe::simulation {

class World;

/// A worker with its user code: reports, saves, dies and lingers as the scenario wants.
class FakeWorker {
public:
  FakeWorker(World& world, WorkerId id);

  void start();
  void run(const RunTrial& command);
  void answer(const Answer& command);
  void stop_trial(const StopTrial& command);
  void stop();
  /// The driver lets it go; the message is on its way.
  void mark_stopped() { told_to_stop_ = true; }

  WorkerId id() const { return id_; }
  /// The attempt it works on and was not told to leave.
  std::optional<TrialKey> active() const;
  bool alive() const { return alive_; }

private:
  void up();
  void begin();
  void step();
  void finish_step();
  void report();
  void save(std::uint32_t number);
  void end(bool returned);
  void fail(const std::string& message, bool storage_full = false);
  void die(FailureKind kind, const std::string& message);
  /// Does it later, unless the worker dies or turns to something else before.
  void later(void (FakeWorker::*what)());

  World& world_;
  WorkerId id_;
  bool alive_ = true;
  bool up_ = false;
  bool told_to_stop_ = false;   ///< StopWorker was sent
  bool told_to_leave_ = false;  ///< StopTrial or a verdict
  std::optional<RunTrial> trial_;
  std::uint64_t iteration_ = 0;
  std::uint64_t message_ = 0;
  std::uint32_t next_checkpoint_ = 0;
  bool waiting_for_answer_ = false;
  bool said_done_ = false;
  std::uint64_t generation_ = 0;  ///< of what it does next
  std::optional<std::uint32_t> to_save_;
  Verdict verdict_ = Verdict::go_on;
};

}  // namespace troupe::simulation
