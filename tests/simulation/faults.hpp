#pragma once

#include <troupe/base/fault_point.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::simulation {

/// A fault that can strike: where and how.
struct Fault {
  std::string point;
  FaultKind kind = FaultKind::fail;

  std::string name() const;  ///< "store.sync.before fail"
};

/// When a fault has its occasion.
enum class Moment : std::uint8_t {
  creation,  ///< the first opening: the store is made
  opening,   ///< a later one
  running,   ///< from then on
};

/// What can strike, by moment.
struct FaultMenu {
  std::vector<Fault> creation;
  std::vector<Fault> opening;
  std::vector<Fault> running;

  const std::vector<Fault>& of(Moment moment) const;
};

/// The faults of one run. Each is chosen in turn and not by a draw, so that a few seeds come to all
/// of them; it stays armed, over deaths of the driver, until it has fired.
class Faults {
public:
  /// The seed decides with which one the turn begins.
  Faults(FaultMenu menu, std::uint64_t seed);
  ~Faults() { FaultPoints::disarm_all(); }
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  /// Chooses the next one for a moment, which lets `skip` hits pass. Nothing when all are chosen.
  std::optional<Fault> choose(Moment moment, std::uint64_t skip);

  /// From now on those chosen for the moment are armed, and no others.
  void enter(Moment moment);
  /// Nothing is armed until the next `enter`.
  void rest();
  /// Gives up those that are chosen for the moment.
  void drop(Moment moment);

  /// Where a kill is chosen among the points that begin so: does the work in a process of its own,
  /// which dies there. False when there was none, or the work never came to the point.
  bool die_in(std::string_view prefix, const std::function<void()>& work);

  /// Those that fired since the last call.
  std::vector<Fault> take_fired();

private:
  struct Chosen {
    Fault fault;
    Moment moment;
    std::uint64_t skip;
    std::uint64_t fired_before;
  };

  bool is_chosen(const std::string& point) const;

  const FaultMenu menu_;
  std::array<std::uint64_t, 3> turns_;  ///< by moment
  std::vector<Chosen> chosen_;
  std::vector<Fault> killed_;  ///< those whose process died
};

}  // namespace troupe::simulation
